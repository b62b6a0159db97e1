/* client/notify.h: telling the controller what has been stored, the step that makes samples ready.
 * Owns: nothing. Threads: any. */
#ifndef TQ_CLIENT_NOTIFY_H
#define TQ_CLIENT_NOTIFY_H

#include "client/client.h"
#include "client/meta.h"

/* All columns of the batch are on their units. `tags` go to every sample. */
TQ_MUST_CHECK tq_status tq_notify_produced(struct tq_client *client, const struct tq_meta *meta,
                                           const struct tq_batch *batch, const struct tq_tag *tags, size_t n_tags,
                                           int64_t deadline_ns, struct tq_error *err);
/* The meta learns the columns; its samples are ready when nothing else was missing. */
TQ_MUST_CHECK tq_status tq_meta_add_columns(struct tq_meta *meta, const struct tq_batch *batch, struct tq_error *err);

#endif
