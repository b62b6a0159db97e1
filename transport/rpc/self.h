/* transport/rpc/self.h: who this process is towards its peers, and the cluster that it belongs to, which it may learn
 * from the servers that it calls, never from its clients. Owns: its strings. Threads: the fixed part any; the cluster
 * id under its lock. */
#ifndef TQ_RPC_SELF_H
#define TQ_RPC_SELF_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TQ_CLUSTER_ID_BYTES = 16, TQ_NAME_BYTES = 64 };

struct tq_self {
    uint64_t epoch; /* of this life, never 0 */
    uint32_t role;
    char name[TQ_NAME_BYTES];
    bool is_given; /* the cluster id: never another one then */
    pthread_mutex_t lock;
    uint8_t cluster_id[TQ_CLUSTER_ID_BYTES]; /* under lock; all zero: not known yet */
};

void tq_self_init(struct tq_self *self, const char *name, uint32_t role, uint64_t epoch, const uint8_t *cluster_id);
void tq_self_fini(struct tq_self *self);
/* Copies the id and returns its length: 16, or 0 when it is not known. */
size_t tq_self_cluster(struct tq_self *self, uint8_t out[TQ_CLUSTER_ID_BYTES]);
/* The same for our hello: only an id that was given. A learnt one is no claim: its controller may live again with
 * another, and would refuse us. */
size_t tq_self_claim(struct tq_self *self, uint8_t out[TQ_CLUSTER_ID_BYTES]);
/* A client says that it is of this cluster (0 or 16 bytes). False: we are of another one. Learns nothing. */
bool tq_self_admits(struct tq_self *self, const uint8_t *cluster_id, size_t len);
/* A server of this role says the same. Learns it where we knew none; what we have learnt gives way to a controller's.
 * False: it is another cluster. */
bool tq_self_meet(struct tq_self *self, uint32_t role, const uint8_t *cluster_id, size_t len);

#endif
