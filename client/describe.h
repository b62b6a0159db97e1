/* client/describe.h: everything in a partition. Owns: nothing. Threads: any. */
#ifndef TQ_CLIENT_DESCRIBE_H
#define TQ_CLIENT_DESCRIBE_H

#include "client/client.h"
#include "client/meta.h"

/* All samples with keys and tags; n_fields 0: all registered fields. Fails with NOT_FOUND. */
TQ_MUST_CHECK tq_status tq_describe_partition(struct tq_client *client, const char *partition,
                                              const char *const *fields, size_t n_fields, int64_t deadline_ns,
                                              struct tq_meta **out_meta, struct tq_error *err);

#endif
