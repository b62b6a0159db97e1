/* client/files/npy_header.h: the header of a .npy file: a Python dictionary with three keys, and no more Python than
 * that. Owns: nothing. Threads: any. */
#ifndef TQ_FILES_NPY_HEADER_H
#define TQ_FILES_NPY_HEADER_H

#include <stdbool.h>

#include "client/dtype.h"
#include "tq/bytes.h"

enum { TQ_NPY_DIMS_MAX = 9 };

struct tq_npy_header {
    enum tq_dtype dtype;
    size_t n_dims;
    int64_t shape[TQ_NPY_DIMS_MAX];
    size_t bytes; /* of the header: where the data begins */
};

/* Fails with INVALID_ARGUMENT. */
TQ_MUST_CHECK tq_status tq_npy_header_parse(struct tq_bytes file, struct tq_npy_header *out_header,
                                            struct tq_error *err);
/* "<f4"; NULL for a type that the format has not. */
const char *tq_npy_descr(enum tq_dtype dtype);

#endif
