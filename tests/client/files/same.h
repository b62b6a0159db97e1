/* tests/client/files/same.h: whether two batches hold the same columns. Owns: nothing. Threads: any. */
#ifndef TQ_TESTS_CLIENT_FILES_SAME_H
#define TQ_TESTS_CLIENT_FILES_SAME_H

#include <stdbool.h>

#include "tq/client.h"

/* Names, layouts, types, sizes and bytes, in the same order. */
bool tq_same_batch(const struct tq_batch *a, const struct tq_batch *b);

#endif
