/* tools/tq/roster.h: asks a controller which units serve. Owns: its runtime and channel. Threads: main. */
#ifndef TQ_TOOLS_ROSTER_H
#define TQ_TOOLS_ROSTER_H

#include "tq/status.h"

struct tq_roster;

TQ_MUST_CHECK tq_status tq_roster_open(const char *controller, struct tq_roster **out_roster, struct tq_error *err);
void tq_roster_close(struct tq_roster *roster); /* NULL is allowed */
/* How many units are SERVING now. */
TQ_MUST_CHECK tq_status tq_roster_serving(struct tq_roster *roster, int64_t deadline_ns, uint32_t *out_serving,
                                          struct tq_error *err);

#endif
