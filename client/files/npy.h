/* client/files/npy.h: NumPy's .npy format, one array, as one dense column. The leading dimension is the sample.
 * Little endian and C order only; no structured, object, string or date types.
 * Owns: nothing; the column lives in the arena and views the file's bytes. Threads: any. */
#ifndef TQ_FILES_NPY_H
#define TQ_FILES_NPY_H

#include <stdio.h>

#include "tq/client.h"
#include "transport/base/arena.h"

/* Every byte of the file is foreign. Fails with INVALID_ARGUMENT saying what was found, RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_npy_parse(struct tq_bytes file, const char *name, struct tq_arena *arena,
                                     struct tq_batch *out_batch, struct tq_error *err);
/* The batch has passed tq_batch_check. Fails with INVALID_ARGUMENT (not one dense column, a type the format has not),
 * DATA_LOSS (the file cannot be written). */
TQ_MUST_CHECK tq_status tq_npy_write(FILE *file, const struct tq_batch *batch, struct tq_error *err);

#endif
