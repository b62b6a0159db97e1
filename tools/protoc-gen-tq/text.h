/* text.h: a file that grows while the generator writes it.
 * Owns: its bytes, which lie in the pool. Threads: one. */
#ifndef TEXT_H
#define TEXT_H

#include "tools/protoc-gen-tq/pool.h"

struct text {
    struct pool *pool;
    char *bytes; /* ends with '\0' when anything was added */
    size_t len, size;
};

void text_add(struct text *text, const char *format, ...) TQ_PRINTF(2, 3);
void text_add_bytes(struct text *text, const char *bytes, size_t len);
/* What was added, "" when nothing was. Lives as long as the pool. */
const char *text_peek(const struct text *text);

#endif
