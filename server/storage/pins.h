/* server/storage/pins.h: which frames the readers of which session still look at. A pin ends by Release or with its
 * session, never by time.
 * Owns: a hold of every pinned frame. Threads: the loop's. */
#ifndef TQ_STORAGE_PINS_H
#define TQ_STORAGE_PINS_H

#include "server/storage/store.h"

struct tq_pins {
    struct tq_store *store;
    struct tq_map by_id;      /* -> pin */
    struct tq_map by_session; /* -> the session's list */
    uint64_t last_id;
};

void tq_pins_init(struct tq_pins *pins, struct tq_store *store);
/* Ends all pins. A zeroed one is allowed. */
void tq_pins_fini(struct tq_pins *pins);

/* Holds the frames (NULL entries are skipped) until the pin ends. Fails with RESOURCE_EXHAUSTED (SESSION_PINS,
 * SESSION_PINNED_CELLS, NO_MEMORY). */
TQ_MUST_CHECK tq_status tq_pins_add(struct tq_pins *pins, uint64_t session, struct tq_frame *const *frames, size_t n,
                                    uint64_t *out_pin, struct tq_error *err);
/* False when the session has no such pin. */
bool tq_pins_release(struct tq_pins *pins, uint64_t session, uint64_t pin);
void tq_pins_end_session(struct tq_pins *pins, uint64_t session);

uint64_t tq_pins_count(const struct tq_pins *pins);

#endif
