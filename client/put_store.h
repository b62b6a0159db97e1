/* client/put_store.h: columns onto their units, before anybody is told. Owns: nothing. Threads: any. */
#ifndef TQ_CLIENT_PUT_STORE_H
#define TQ_CLIENT_PUT_STORE_H

#include "client/client.h"
#include "client/meta.h"

/* The batch has passed tq_batch_check and has as many samples as the meta. Returns when every unit has answered with
 * the digests that we have; the columns are not read any more then, whatever the outcome. Fails with what a unit
 * answers, DATA_LOSS (DIGEST: other bytes were stored, twice), DEADLINE_EXCEEDED, ... */
TQ_MUST_CHECK tq_status tq_put_store(struct tq_client *client, const struct tq_meta *meta, const struct tq_batch *batch,
                                     int64_t deadline_ns, struct tq_error *err);

#endif
