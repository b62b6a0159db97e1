#include "transport/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void tq_assert_failed(const char *file, int line, const char *function, const char *promise)
{
    fprintf(stderr, "%s:%d: %s: broken promise: %s\n", file, line, function, promise);
    abort();
}
