/* client/files/safetensors.h: the safetensors format (eight bytes of header length, a JSON header, tensors packed
 * without holes), as columns. The leading dimension is the sample.
 *
 * Jagged and opaque columns are two tensors: `x` with the values of all samples one after the other, and `x.sizes`
 * (I64, [n] or [n, rank]). __metadata__ says "tq.layout.x": "jagged" or "opaque", and "tq.content_type.x"; a pair
 * without metadata whose sizes add up is jagged.
 *
 * Owns: nothing; columns live in the arena and view the file's bytes. Threads: any. */
#ifndef TQ_FILES_SAFETENSORS_H
#define TQ_FILES_SAFETENSORS_H

#include <stdio.h>

#include "tq/client.h"
#include "transport/base/arena.h"

/* Every byte of the file is foreign. Fails with INVALID_ARGUMENT naming tensor and value, RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_safetensors_parse(struct tq_bytes file, struct tq_arena *arena, struct tq_batch *out_batch,
                                             struct tq_error *err);
/* The batch has passed tq_batch_check. Fails with INVALID_ARGUMENT (a type the format has not), DATA_LOSS (the file
 * cannot be written). */
TQ_MUST_CHECK tq_status tq_safetensors_write(FILE *file, const struct tq_batch *batch, struct tq_error *err);

#endif
