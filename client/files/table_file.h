/* client/files/table_file.h: columns of samples as a file, .safetensors or .npy, told by its name.
 * Owns: the bytes of a file that was read; its columns are views of them. Threads: one at a time. */
#ifndef TQ_FILES_TABLE_FILE_H
#define TQ_FILES_TABLE_FILE_H

#include "tq/client.h"
#include "transport/base/arena.h"

struct tq_table_file {
    struct tq_arena *arena; /* columns, shapes, names */
    uint8_t *bytes;
    size_t len;
    struct tq_batch batch;
};

/* Fails with NOT_FOUND or PERMISSION_DENIED (the system), INVALID_ARGUMENT (what is wrong in the file, and where),
 * RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_table_file_read(const char *path, struct tq_table_file *out_file, struct tq_error *err);
void tq_table_file_drop(struct tq_table_file *file); /* zeroed is allowed */

/* Writes a new file beside `path` and renames it: there is the whole file or the old one. */
TQ_MUST_CHECK tq_status tq_table_file_write(const char *path, const struct tq_batch *batch, struct tq_error *err);
/* Whether the name ends in .safetensors or .npy. Fails with INVALID_ARGUMENT. */
TQ_MUST_CHECK tq_status tq_table_file_check_name(const char *path, struct tq_error *err);

#endif
