/* client/files/st_header.h: the JSON header of a safetensors file as a checked table of tensors.
 * Owns: nothing; everything lives in the arena. Threads: any. */
#ifndef TQ_FILES_ST_HEADER_H
#define TQ_FILES_ST_HEADER_H

#include "client/dtype.h"
#include "tq/bytes.h"
#include "transport/base/arena.h"

enum { TQ_ST_DIMS_MAX = 9, TQ_ST_HEADER_BYTES_MAX = 16 << 20, TQ_ST_TENSORS_MAX = 4096 };

struct tq_st_tensor {
    const char *name;
    enum tq_dtype dtype;
    size_t n_dims;
    int64_t shape[TQ_ST_DIMS_MAX];
    struct tq_bytes bytes; /* in the file; as many as type and shape say */
    const char *layout;    /* of the metadata; NULL: not said */
    const char *content_type;
};

struct tq_st_header {
    struct tq_st_tensor *tensors; /* in the order of the header */
    size_t n;
};

/* Tensors cover the data exactly, without holes and overlaps. Fails with INVALID_ARGUMENT, RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_st_header_parse(struct tq_bytes file, struct tq_arena *arena,
                                           struct tq_st_header *out_header, struct tq_error *err);

#endif
