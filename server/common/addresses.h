/* server/common/addresses.h: addresses on the command line, judged before anything is opened. Owns: nothing. Threads:
 * any. */
#ifndef TQ_SERVER_ADDRESSES_H
#define TQ_SERVER_ADDRESSES_H

#include <stdbool.h>

#include "tq/status.h"

/* Whether a channel could be opened to it. `what` is what the message calls it: "--controller". Fails with
 * INVALID_ARGUMENT. */
TQ_MUST_CHECK tq_status tq_address_check(const char *what, const char *address, struct tq_error *err);

/* Whether a server may be opened at it; that it can is seen only then. Fails with INVALID_ARGUMENT, PERMISSION_DENIED
 * (not loopback and not insecure). */
TQ_MUST_CHECK tq_status tq_address_check_listen(const char *what, const char *address, bool insecure,
                                                struct tq_error *err);

#endif
