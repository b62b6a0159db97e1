/* server/controller/unit.h: the storage units that hold the bytes. A unit registers under a name that is stable over
 * restarts and gets a number, which is never given to another name. Heartbeats keep it; after three missed intervals it
 * is lost.
 *
 *     (none) --register--> SERVING <--resume/drain--> DRAINING
 *     SERVING, DRAINING --three intervals silent--> LOST --register--> SERVING
 *
 * Silence is measured on an observed clock, which stands still while the controller itself does not run: after a stop
 * of the observer no unit is lost before it had one more whole interval to speak.
 * Owns: its units. Threads: the controller's. Reads no clock. */
#ifndef TQ_CONTROLLER_UNIT_H
#define TQ_CONTROLLER_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "server/controller/limits.h"
#include "server/controller/text_map.h"
#include "tq/bytes.h"
#include "transport/base/list.h"

/* The numbers of tq.v1.UnitState. */
enum tq_unit_state { TQ_UNIT_NONE = 0, TQ_UNIT_SERVING = 1, TQ_UNIT_DRAINING = 2, TQ_UNIT_LOST = 3, TQ_UNIT_STATES };

struct tq_sample_ref {
    uint64_t index;
    uint32_t generation;
};

/* Samples of one partition that were cleared while their unit was silent. */
struct tq_release {
    struct tq_list in_unit;
    char *partition;
    uint32_t n, told; /* how often the unit was told */
    struct tq_sample_ref samples[];
};

/* What a unit says of itself. All texts are borrowed. */
struct tq_unit_claim {
    const char *name, *address, *host;
    struct tq_bytes bulk;
    uint64_t epoch;
    uint64_t budget_bytes, budget_samples; /* 0: not limited */
    bool over_network;
};

struct tq_unit {
    uint32_t number;
    enum tq_unit_state state;
    char *name, *address, *host;
    struct tq_bytes bulk;
    uint64_t epoch;
    uint64_t budget_bytes, budget_samples;
    bool over_network;
    int64_t heard_ns;                          /* on the observed clock */
    uint64_t reported_bytes, reported_samples; /* by its last heartbeat */
    uint64_t bulk_heartbeat;
    uint32_t bulk_unchanged; /* heartbeats in a row; 2: its bulk thread hangs */
    uint64_t bytes, samples; /* assigned and not cleared, by our books */
    int64_t carry;           /* placement.c: what it is owed, in 2^-16 of a chunk */
    struct tq_list releases;
    bool resync; /* releases were too many to remember: it must register again */
};

struct tq_units {
    const struct tq_seam *seam;
    const struct tq_controller_limits *limits;
    struct tq_unit **by_number; /* number - 1 */
    uint32_t n, capacity;
    struct tq_text_map by_name;
    int64_t heartbeat_ns;
    int64_t last_tick_ns, observed_ns;
    uint64_t n_releases;
};

void tq_units_init(struct tq_units *units, const struct tq_seam *seam, const struct tq_controller_limits *limits,
                   int64_t heartbeat_ns, int64_t now_ns);
void tq_units_fini(struct tq_units *units);

/* NULL when nobody has the number or name. */
struct tq_unit *tq_unit_find(const struct tq_units *units, uint32_t number);
struct tq_unit *tq_unit_find_name(const struct tq_units *units, const char *name);
/* Moves the observed clock. To be called at least twice an interval, and before any use of it. */
void tq_units_tick(struct tq_units *units, int64_t now_ns);
/* A unit that has become silent for too long, now LOST; NULL when there is none (more). */
struct tq_unit *tq_units_next_lost(struct tq_units *units);
int64_t tq_unit_age_ns(const struct tq_units *units, const struct tq_unit *unit);

/* Adds a unit or lets it come back; *out_was is its state before. Fails with ALREADY_EXISTS, NAME_TAKEN when a living
 * unit with another epoch has the name (it may be silent soon: try again), and RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_unit_register(struct tq_units *units, const struct tq_unit_claim *claim,
                                         struct tq_unit **out_unit, enum tq_unit_state *out_was, struct tq_error *err);
/* False: it must register again. */
bool tq_unit_heartbeat(struct tq_units *units, uint32_t number, uint64_t epoch, uint64_t used_bytes,
                       uint64_t used_samples, uint64_t bulk_heartbeat);
/* Fails with FAILED_PRECONDITION when it is lost. */
TQ_MUST_CHECK tq_status tq_unit_drain(struct tq_unit *unit, bool resume, struct tq_error *err);

/* Samples that were cleared: remembered for the unit if it is silent now, else nothing happens. */
void tq_unit_release(struct tq_units *units, struct tq_unit *unit, const char *partition,
                     const struct tq_sample_ref *samples, uint32_t n);
/* Walks what the unit is to release and counts it as told; each is told three times, in case an answer is lost. Start
 * with *at NULL; NULL at the end. */
const struct tq_release *tq_unit_next_release(struct tq_unit *unit, const struct tq_release *at);
void tq_unit_forget_told(struct tq_units *units, struct tq_unit *unit);
void tq_unit_forget_releases(struct tq_units *units, struct tq_unit *unit);

#endif
