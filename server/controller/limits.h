/* server/controller/limits.h: everything that a peer could make grow in the controller, with its bound. One table feeds
 * the struct, its defaults, the range check, GetLimits and the documentation.
 * Owns: nothing. Threads: constant after open. */
#ifndef TQ_CONTROLLER_LIMITS_H
#define TQ_CONTROLLER_LIMITS_H

#include <stdint.h>

#include "tq/status.h"

/* name, default, min, max, help */
#define TQ_CONTROLLER_LIMITS(X)                                                                                        \
    X(samples, UINT64_C(1) << 24, 1, UINT64_C(1) << 30, "live samples of all partitions")                              \
    X(request_samples, UINT64_C(1) << 20, 1, UINT64_C(1) << 20, "samples of one request")                              \
    X(partitions, 4096, 1, UINT64_C(1) << 20, "partitions, those that fetches wait for included")                      \
    X(fields, 1024, 1, 65536, "fields of one partition, and of one request")                                           \
    X(tasks, 256, 1, 65536, "tasks of one partition")                                                                  \
    X(views, 256, 1, 65536, "ready sets of one partition that are kept up to date; the least used makes room")         \
    X(waiters, 65536, 1, UINT64_C(1) << 20, "parked fetches")                                                          \
    X(wait_ms, 3600000, 1, 86400000, "max_wait_ms of a fetch")                                                         \
    X(group_members, 16384, 2, UINT64_C(1) << 20, "samples of one group")                                              \
    X(name_bytes, 128, 1, 1024, "length of the name of a partition, field, task, unit")                                \
    X(key_bytes, 512, 1, 4096, "length of the key of a sample")                                                        \
    X(request_keys, 65536, 1, 262144, "keys of one request")                                                           \
    X(tag_key_bytes, 128, 1, 1024, "length of the key of a tag")                                                       \
    X(tag_value_bytes, 65536, 1, UINT64_C(1) << 20, "length of the value of a tag")                                    \
    X(sample_tags, 64, 1, 1024, "tags of one sample")                                                                  \
    X(text_bytes, UINT64_C(1) << 28, 1, UINT64_C(1) << 40, "keys and tags of all samples")                             \
    X(content_type_bytes, 255, 1, 255, "length of a content type")                                                     \
    X(rank, 8, 1, 32, "dimensions of one sample")                                                                      \
    X(units, 1024, 1, 65536, "storage units, lost ones included")                                                      \
    X(fences, UINT64_C(1) << 22, 1, UINT64_C(1) << 24, "indexes of an earlier life that units still held")             \
    X(releases, 65536, 1, UINT64_C(1) << 22, "samples cleared while their unit was silent, remembered for it")         \
    X(handouts, 4096, 1, UINT64_C(1) << 20, "fetches whose answer can be repeated")                                    \
    X(handout_samples, UINT64_C(1) << 21, 1, UINT64_C(1) << 26, "samples of those answers")                            \
    X(config_bytes, UINT64_C(1) << 19, 1, UINT64_C(1) << 20, "the job's configuration")

struct tq_controller_limits {
#define TQ_LIMIT_MEMBER_(name, initial, min, max, help) uint64_t name;
    TQ_CONTROLLER_LIMITS(TQ_LIMIT_MEMBER_)
#undef TQ_LIMIT_MEMBER_
};

/* Replaces each 0 by its default. Fails with INVALID_ARGUMENT naming the limit that is out of its range. */
TQ_MUST_CHECK tq_status tq_controller_limits_fill(struct tq_controller_limits *limits, struct tq_error *err);

#endif
