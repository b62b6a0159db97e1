/* server/common/limit_rows.h: a limit in force, as GetLimits tells it. Owns: nothing. Threads: constant after open. */
#ifndef TQ_SERVER_LIMIT_ROWS_H
#define TQ_SERVER_LIMIT_ROWS_H

#include <stdint.h>

struct tq_limit_row {
    const char *name;
    uint64_t value, initial, min, max;
    const char *help;
};

#endif
