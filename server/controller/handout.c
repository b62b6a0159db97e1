#include "server/controller/handout.h"

#include <string.h>

void tq_handouts_init(struct tq_handouts *handouts, const struct tq_seam *seam,
                      const struct tq_controller_limits *limits)
{
    *handouts = (struct tq_handouts){ .seam = seam, .limits = limits };
    tq_map_init(&handouts->by_key, seam);
    tq_list_init(&handouts->order);
}

static uint64_t half_of(const uint8_t key[TQ_HANDOUT_KEY])
{
    uint64_t half;
    memcpy(&half, key, sizeof(half));
    return half;
}

static void free_handout(const struct tq_handouts *handouts, struct tq_handout *handout)
{
    tq_seam_free(handouts->seam, handout->partition);
    tq_seam_free(handouts->seam, handout->task);
    tq_seam_free(handouts->seam, handout);
}

static void forget(struct tq_handouts *handouts, struct tq_handout *handout)
{
    tq_list_remove(&handout->in_order);
    tq_map_remove(&handouts->by_key, half_of(handout->key));
    handouts->n--;
    handouts->n_samples -= handout->n;
    free_handout(handouts, handout);
}

static struct tq_handout *oldest(const struct tq_handouts *handouts)
{
    return tq_list_empty(&handouts->order) ? NULL : tq_container_of(handouts->order.next, struct tq_handout, in_order);
}

void tq_handouts_fini(struct tq_handouts *handouts)
{
    for (struct tq_handout *handout; (handout = oldest(handouts)) != NULL;)
        forget(handouts, handout);
    tq_map_fini(&handouts->by_key);
}

static struct tq_handout *make(const struct tq_handouts *handouts, const struct tq_waiter *waiter)
{
    struct tq_handout *handout =
        tq_seam_alloc(handouts->seam, sizeof(*handout) + waiter->n * sizeof(handout->samples[0]));
    if (handout == NULL)
        return NULL;
    handout->partition = tq_seam_strdup(handouts->seam, waiter->want.partition);
    handout->task = tq_seam_strdup(handouts->seam, waiter->want.task);
    if (handout->partition == NULL || handout->task == NULL) {
        free_handout(handouts, handout);
        return NULL;
    }
    handout->batch_size = waiter->want.batch_size;
    handout->remainder = waiter->remainder;
    handout->n = waiter->n;
    for (uint32_t i = 0; i < waiter->n; i++) {
        const struct tq_row *row = tq_partition_row(waiter->partition, waiter->slots[i]);
        handout->samples[i] = (struct tq_sample_ref){ row->index, row->generation };
    }
    return handout;
}

void tq_handout_remember(struct tq_handouts *handouts, const uint8_t key[TQ_HANDOUT_KEY],
                         const struct tq_waiter *waiter)
{
    if (waiter->n > handouts->limits->handout_samples)
        return;
    struct tq_handout *former = tq_map_get(&handouts->by_key, half_of(key));
    if (former != NULL)
        forget(handouts, former);
    while (handouts->n >= handouts->limits->handouts ||
           (handouts->n > 0 && handouts->n_samples + waiter->n > handouts->limits->handout_samples))
        forget(handouts, oldest(handouts));
    struct tq_handout *handout = make(handouts, waiter);
    if (handout == NULL)
        return;
    memcpy(handout->key, key, TQ_HANDOUT_KEY);
    if (!tq_map_put(&handouts->by_key, half_of(key), handout)) {
        free_handout(handouts, handout);
        return;
    }
    tq_list_add_tail(&handouts->order, &handout->in_order);
    handouts->n++;
    handouts->n_samples += handout->n;
}

const struct tq_handout *tq_handout_find(const struct tq_handouts *handouts, const uint8_t key[TQ_HANDOUT_KEY])
{
    const struct tq_handout *handout = tq_map_get(&handouts->by_key, half_of(key));
    return handout != NULL && memcmp(handout->key, key, TQ_HANDOUT_KEY) == 0 ? handout : NULL;
}
