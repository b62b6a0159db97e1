#include "transport/rpc/self.h"

#include <stdio.h>
#include <string.h>

static const uint8_t unknown[TQ_CLUSTER_ID_BYTES];

void tq_self_init(struct tq_self *self, const char *name, uint32_t role, uint64_t epoch, const uint8_t *cluster_id)
{
    *self = (struct tq_self){ .epoch = epoch, .role = role };
    snprintf(self->name, sizeof(self->name), "%s", name);
    pthread_mutex_init(&self->lock, NULL);
    memcpy(self->cluster_id, cluster_id, sizeof(self->cluster_id));
}

void tq_self_fini(struct tq_self *self)
{
    pthread_mutex_destroy(&self->lock);
}

size_t tq_self_cluster(struct tq_self *self, uint8_t out[TQ_CLUSTER_ID_BYTES])
{
    pthread_mutex_lock(&self->lock);
    memcpy(out, self->cluster_id, TQ_CLUSTER_ID_BYTES);
    pthread_mutex_unlock(&self->lock);
    return memcmp(out, unknown, TQ_CLUSTER_ID_BYTES) != 0 ? TQ_CLUSTER_ID_BYTES : 0;
}

bool tq_self_meet(struct tq_self *self, const uint8_t *cluster_id, size_t len)
{
    if (len != TQ_CLUSTER_ID_BYTES || memcmp(cluster_id, unknown, TQ_CLUSTER_ID_BYTES) == 0)
        return len == 0 || len == TQ_CLUSTER_ID_BYTES; /* the peer does not know yet */
    pthread_mutex_lock(&self->lock);
    if (memcmp(self->cluster_id, unknown, TQ_CLUSTER_ID_BYTES) == 0)
        memcpy(self->cluster_id, cluster_id, TQ_CLUSTER_ID_BYTES);
    bool same = memcmp(self->cluster_id, cluster_id, TQ_CLUSTER_ID_BYTES) == 0;
    pthread_mutex_unlock(&self->lock);
    return same;
}
