/* server/storage/registration.h: how a unit becomes known to its controller and stays so: it registers with what it
 * holds, sends heartbeats, clears what the controller says is released, and begins again when the controller does not
 * know it (any more). Retries for ever, with back-off; serving never waits for it.
 *
 *     OFF -> REGISTERING -> MEMBER <-> BEATING
 *             ^      |         (known = false: REGISTERING)
 *             +- BACKING_OFF
 *     all -> STOPPED
 *
 * Owns: its channel. Threads: open, stop, close by the opener; the rest is the loop's. */
#ifndef TQ_STORAGE_REGISTRATION_H
#define TQ_STORAGE_REGISTRATION_H

#include "server/storage/service.h"

struct tq_registration_opts {
    const char *controller; /* address */
    bool over_network;      /* bulk goes over TCP even on this host */
};

/* Opens the channel; nothing is sent yet. */
TQ_MUST_CHECK tq_status tq_registration_open(struct tq_storage *storage, const struct tq_registration_opts *opts,
                                             struct tq_registration **out_registration, struct tq_error *err);
/* After the server has started. */
void tq_registration_start(struct tq_registration *registration);
/* Ends its calls. After the server is closed, before the inbox is emptied. NULL is allowed. */
void tq_registration_stop(struct tq_registration *registration);
/* After the inbox is emptied. NULL is allowed. */
void tq_registration_close(struct tq_registration *registration);

/* The controller's number for this unit; 0: not registered. Any thread. */
uint32_t tq_registration_unit(const struct tq_registration *registration);

#endif
