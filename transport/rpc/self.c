#include "transport/rpc/self.h"

#include <stdio.h>
#include <string.h>

#include "tq/rpc.h"

static const uint8_t unknown[TQ_CLUSTER_ID_BYTES];

static bool is_known(const uint8_t *cluster_id)
{
    return memcmp(cluster_id, unknown, TQ_CLUSTER_ID_BYTES) != 0;
}

void tq_self_init(struct tq_self *self, const char *name, uint32_t role, uint64_t epoch, const uint8_t *cluster_id)
{
    *self = (struct tq_self){ .epoch = epoch, .role = role };
    snprintf(self->name, sizeof(self->name), "%s", name);
    pthread_mutex_init(&self->lock, NULL);
    memcpy(self->cluster_id, cluster_id, sizeof(self->cluster_id));
    self->is_given = is_known(cluster_id);
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
    return is_known(out) ? TQ_CLUSTER_ID_BYTES : 0;
}

size_t tq_self_claim(struct tq_self *self, uint8_t out[TQ_CLUSTER_ID_BYTES])
{
    return self->is_given ? tq_self_cluster(self, out) : 0;
}

bool tq_self_admits(struct tq_self *self, const uint8_t *cluster_id, size_t len)
{
    uint8_t ours[TQ_CLUSTER_ID_BYTES];
    if (len != TQ_CLUSTER_ID_BYTES)
        return len == 0;
    return !is_known(cluster_id) || tq_self_cluster(self, ours) == 0 || memcmp(ours, cluster_id, len) == 0;
}

bool tq_self_meet(struct tq_self *self, uint32_t role, const uint8_t *cluster_id, size_t len)
{
    if (len != TQ_CLUSTER_ID_BYTES || !is_known(cluster_id))
        return len == 0 || len == TQ_CLUSTER_ID_BYTES; /* the peer does not know yet */
    pthread_mutex_lock(&self->lock);
    if (!is_known(self->cluster_id) || (role == TQ_ROLE_CONTROLLER && !self->is_given))
        memcpy(self->cluster_id, cluster_id, TQ_CLUSTER_ID_BYTES);
    bool same = memcmp(self->cluster_id, cluster_id, TQ_CLUSTER_ID_BYTES) == 0;
    pthread_mutex_unlock(&self->lock);
    return same;
}
