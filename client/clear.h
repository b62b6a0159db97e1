/* client/clear.h: removing samples. Owns: nothing. Threads: any. */
#ifndef TQ_CLIENT_CLEAR_H
#define TQ_CLIENT_CLEAR_H

#include "client/client.h"
#include "client/meta.h"

/* Removes the samples' bytes from their units, in parallel. Units that are lost or do not answer are left to the
 * controller, which tells them when they come back. Fails with what a unit answers. */
TQ_MUST_CHECK tq_status tq_clear_bytes(struct tq_client *client, const struct tq_meta *meta, int64_t deadline_ns,
                                       struct tq_error *err);
/* Bytes, then table. */
TQ_MUST_CHECK tq_status tq_clear_samples(struct tq_client *client, const struct tq_meta *meta, int64_t deadline_ns,
                                         struct tq_error *err);

#endif
