/* Putting: the units read their shares at the same time, in parts, while we compute the same digests; what the units
 * say they stored must be what we had, or nothing becomes ready. */
#include "client/put.h"

#include <string.h>

#include "client/insert.h"
#include "client/notify.h"
#include "client/put_store.h"
#include "client/undo.h"

tq_status tq_put_columns_to(struct tq_client *client, struct tq_meta *meta, const struct tq_batch *batch,
                            const struct tq_tag *tags, size_t n_tags, int64_t deadline_ns, struct tq_error *err)
{
    if (batch->n_samples != meta->n)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the batch has %zu samples; the meta has %zu", batch->n_samples,
                       meta->n);
    tq_status status = tq_put_store(client, meta, batch, deadline_ns, err);
    if (status == TQ_OK)
        status = tq_notify_produced(client, meta, batch, tags, n_tags, deadline_ns, err);
    if (status == TQ_OK)
        status = tq_meta_add_columns(meta, batch, err);
    return status;
}

tq_status tq_client_put_to(struct tq_client *client, struct tq_meta *meta, const struct tq_batch *batch,
                           const struct tq_op_opts *opts, struct tq_error *err)
{
    tq_status status = tq_batch_check(batch, err);
    if (status != TQ_OK)
        return status;
    return tq_put_columns_to(client, meta, batch, NULL, 0, tq_op_deadline_ns(client, opts), err);
}

tq_status tq_client_put(struct tq_client *client, const char *partition, const struct tq_batch *batch,
                        const struct tq_insert *insert, const struct tq_op_opts *opts, struct tq_meta **out_meta,
                        struct tq_error *err)
{
    int64_t deadline_ns = tq_op_deadline_ns(client, opts);
    tq_status status = tq_batch_check(batch, err);
    if (status != TQ_OK)
        return status;
    struct tq_insert wanted = insert != NULL ? *insert : (struct tq_insert){ 0 };
    wanted.partition = partition;
    wanted.n_samples = batch->n_samples;
    struct tq_meta *meta = NULL;
    status = tq_insert_samples(client, &wanted, batch, deadline_ns, &meta, err);
    if (status != TQ_OK)
        return status;
    status = tq_put_columns_to(client, meta, batch, NULL, 0, deadline_ns, err);
    if (status != TQ_OK) {
        tq_undo_start(client, meta);
        tq_meta_drop(meta);
        return status;
    }
    *out_meta = meta;
    return TQ_OK;
}
