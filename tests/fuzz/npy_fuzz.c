/* .npy files. What is accepted lies inside the file, is a batch that put accepts, and is the same after writing and
 * reading again. */
#include <stdint.h>
#include <stdlib.h>

#include "client/files/npy.h"
#include "tests/client/files/same.h"

#define CHECK(promise) ((promise) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tq_batch batch, again;
    struct tq_arena *arena = tq_arena_open(NULL, 1 << 20);
    CHECK(arena != NULL);
    if (tq_npy_parse((struct tq_bytes){ data, size }, "x", arena, &batch, NULL) == TQ_OK) {
        char *text = NULL;
        size_t len = 0;
        FILE *file = open_memstream(&text, &len);
        CHECK(tq_batch_check(&batch, NULL) == TQ_OK);
        CHECK(tq_npy_write(file, &batch, NULL) == TQ_OK);
        CHECK(fclose(file) == 0);
        CHECK(tq_npy_parse((struct tq_bytes){ (uint8_t *)text, len }, "x", arena, &again, NULL) == TQ_OK);
        CHECK(tq_same_batch(&batch, &again)); /* reads every byte: ASan sees one outside */
        free(text);
    }
    tq_arena_close(arena);
    return 0;
}
