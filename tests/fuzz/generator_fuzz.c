/* The input of protoc-gen-tq: whatever the bytes, it refuses them with a reason or writes files, the same each time and
 * within a bound. protoc-gen-c is not run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/generate.h"

enum { BYTES_OUT_PER_BYTE_IN = 4096, BYTES_OUT_ALWAYS = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool promise)
{
    if (!promise)
        abort();
}

static void check_file(const ResponseFileProto *file)
{
    check(file->name != NULL && file->name[0] != '\0' && file->name[0] != '\n');
    check(file->content != NULL && file->content[0] != '\0');
}

static void check_response(struct tq_bytes bytes, size_t size)
{
    check(bytes.len <= BYTES_OUT_ALWAYS + size * BYTES_OUT_PER_BYTE_IN);
    ResponseProto *response = google__protobuf__compiler__code_generator_response__unpack(NULL, bytes.len, bytes.ptr);
    check(response != NULL);
    check(response->error == NULL || (response->error[0] != '\0' && response->n_file == 0));
    for (size_t i = 0; i < response->n_file; i++)
        check_file(response->file[i]);
    google__protobuf__compiler__code_generator_response__free_unpacked(response, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct generate_opts opts = { .skip_messages = true };
    struct pool pool = { 0 }, again = { 0 };
    struct tq_bytes first = generate(&pool, (struct tq_bytes){ data, size }, &opts);
    struct tq_bytes second = generate(&again, (struct tq_bytes){ data, size }, &opts);
    check_response(first, size);
    check(first.len == second.len && memcmp(first.ptr, second.ptr, first.len) == 0);
    pool_fini(&pool);
    pool_fini(&again);
    return 0;
}
