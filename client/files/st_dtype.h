/* client/files/st_dtype.h: element types as safetensors names them. Owns: nothing. Threads: any. */
#ifndef TQ_FILES_ST_DTYPE_H
#define TQ_FILES_ST_DTYPE_H

#include "client/dtype.h"

/* TQ_DTYPE_NONE for a name that is none. */
enum tq_dtype tq_st_dtype_parse(const char *name);
/* NULL for a type that the format has not. */
const char *tq_st_dtype_name(enum tq_dtype dtype);

#endif
