/* client/put.h: columns onto their units, and then known to the controller.
 * Owns: nothing. Threads: any. */
#ifndef TQ_CLIENT_PUT_H
#define TQ_CLIENT_PUT_H

#include "client/client.h"
#include "client/meta.h"

/* tq_client_put_to with tags for every sample. The batch has passed tq_batch_check. */
TQ_MUST_CHECK tq_status tq_put_columns_to(struct tq_client *client, struct tq_meta *meta, const struct tq_batch *batch,
                                          const struct tq_tag *tags, size_t n_tags, int64_t deadline_ns,
                                          struct tq_error *err);

#endif
