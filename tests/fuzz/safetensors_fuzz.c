/* safetensors files. What is accepted lies inside the file, is a batch that put accepts, and is the same after writing
 * and reading again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/files/safetensors.h"
#include "tests/client/files/same.h"

#define CHECK(promise) ((promise) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Dense columns `a` and `a.sizes` of a file that fit each other by accident would come back as one. */
static int has_ambiguous_names(const struct tq_batch *batch)
{
    for (size_t c = 0; c < batch->n_columns; c++)
        if (strstr(batch->columns[c].name, ".sizes") != NULL)
            return 1;
    return 0;
}

static void check(const struct tq_batch *batch, struct tq_arena *arena)
{
    struct tq_batch again;
    char *text = NULL;
    size_t len = 0;
    CHECK(tq_batch_check(batch, NULL) == TQ_OK);
    FILE *file = open_memstream(&text, &len);
    tq_status written = tq_safetensors_write(file, batch, NULL);
    CHECK(fclose(file) == 0);
    if (written == TQ_OK && !has_ambiguous_names(batch)) {
        CHECK(tq_safetensors_parse((struct tq_bytes){ (uint8_t *)text, len }, arena, &again, NULL) == TQ_OK);
        CHECK(tq_same_batch(batch, &again)); /* reads every byte: ASan sees one outside */
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tq_batch batch;
    struct tq_arena *arena = tq_arena_open(NULL, 64 << 20);
    CHECK(arena != NULL);
    if (tq_safetensors_parse((struct tq_bytes){ data, size }, arena, &batch, NULL) == TQ_OK)
        check(&batch, arena);
    tq_arena_close(arena);
    return 0;
}
