/* client/insert.h: making samples. Owns: nothing. Threads: any. */
#ifndef TQ_CLIENT_INSERT_H
#define TQ_CLIENT_INSERT_H

#include "client/client.h"
#include "client/meta.h"

/* tq_client_insert; `announced` (NULL allowed) are the columns that will be put, so that the controller can refuse a
 * type conflict before a byte moves. The meta knows no fields yet. */
TQ_MUST_CHECK tq_status tq_insert_samples(struct tq_client *client, const struct tq_insert *insert,
                                          const struct tq_batch *announced, int64_t deadline_ns,
                                          struct tq_meta **out_meta, struct tq_error *err);

#endif
