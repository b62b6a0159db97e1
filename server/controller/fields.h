/* server/controller/fields.h: what a writer claims about fields, in the three steps that make a request all or nothing:
 * check without change, register (may lack memory), then merge, which cannot fail.
 * Owns: nothing. Threads: the controller's. */
#ifndef TQ_CONTROLLER_FIELDS_H
#define TQ_CONTROLLER_FIELDS_H

#include "server/controller/table.h"

/* Fails with FAILED_PRECONDITION (SCHEMA_CONFLICT), RESOURCE_EXHAUSTED (too many fields). */
TQ_MUST_CHECK tq_status tq_fields_check(const struct tq_partition *partition, const struct tq_field_claim *claims,
                                        uint32_t n, struct tq_error *err);
/* Makes the fields that do not exist, with nothing known about them. False without memory: some may exist then, which
 * nobody can see before they are merged. */
TQ_MUST_CHECK bool tq_fields_register(struct tq_partition *partition, const struct tq_field_claim *claims, uint32_t n);
/* After both said yes. */
void tq_fields_announce(struct tq_partition *partition, const struct tq_field_claim *claims, uint32_t n);
/* Fields of which no cell is ready any more are unknown again. */
void tq_fields_settle(struct tq_partition *partition);

#endif
