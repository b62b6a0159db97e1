/* client/receive.h: the bytes of a get into the columns: inline cells copied, the others read by one bulk transfer an
 * answer, every cell's digest compared with the stored one.
 * Owns: nothing. Threads: one at a time; completions come from the bulk thread. */
#ifndef TQ_CLIENT_RECEIVE_H
#define TQ_CLIENT_RECEIVE_H

#include "client/answer.h"
#include "client/data.h"

/* Blocks until every byte is there or the deadline; the data is quiet afterwards. Adds to stats->get_bytes and
 * digest_failures. Fails with ABORTED (a frame was replaced while it was read), DATA_LOSS (DIGEST) naming sample and
 * field, or what the bulk transfer says. */
TQ_MUST_CHECK tq_status tq_receive(struct tq_bulk *bulk, const struct tq_meta *meta, struct tq_answer *answers,
                                   size_t n_answers, const struct tq_data *data, struct tq_arena *arena,
                                   int64_t deadline_ns, struct tq_client_stats *stats, struct tq_error *err);

#endif
