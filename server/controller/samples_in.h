/* server/controller/samples_in.h: the tables of requests, checked in form and laid out for the core: index runs as
 * samples, columns of tags sorted by sample, fields with their shapes as claims. Everything is put into an arena and
 * lives as long as it; texts are borrowed from the request.
 * Every refusal is INVALID_ARGUMENT (RESOURCE_EXHAUSTED without memory) and names field, value and what was expected.
 * Owns: nothing. Threads: any. */
#ifndef TQ_CONTROLLER_SAMPLES_IN_H
#define TQ_CONTROLLER_SAMPLES_IN_H

#include "server/controller/table.h"
#include "tq/v1/types.pb-c.h"
#include "transport/base/arena.h"

struct tq_intake {
    struct tq_arena *arena;
    const struct tq_controller_limits *limits;
    struct tq_error *err;
};

struct tq_samples_in {
    const char *partition;
    const struct tq_sample_ref *refs;
    uint32_t n;            /* at least 1 */
    const uint32_t *units; /* n; NULL: not told */
};

/* `what` names the field: "samples". */
TQ_MUST_CHECK tq_status tq_samples_in(const struct tq_intake *intake, const char *what, const Tq__V1__Samples *samples,
                                      struct tq_samples_in *out);
/* tags NULL: none. n: of the samples that tags.sample points to. */
TQ_MUST_CHECK tq_status tq_tags_in(const struct tq_intake *intake, const Tq__V1__Tags *tags, uint32_t n,
                                   struct tq_tag_changes *out);
/* Announced fields may leave out what is not known yet; produced ones may not, and have the shapes of n samples. */
TQ_MUST_CHECK tq_status tq_announced_in(const struct tq_intake *intake, Tq__V1__Field *const *fields, size_t n_fields,
                                        const struct tq_field_claim **out);
TQ_MUST_CHECK tq_status tq_produced_in(const struct tq_intake *intake, Tq__V1__Field *const *fields, size_t n_fields,
                                       Tq__V1__Shapes *const *shapes, size_t n_shapes, uint32_t n,
                                       const struct tq_field_claim **out);
/* A column that has n entries, or 1 that stands for all: out[n], or NULL when it has none. */
TQ_MUST_CHECK tq_status tq_column_in(const struct tq_intake *intake, const char *what, const uint64_t *column,
                                     size_t n_column, uint32_t n, const uint64_t **out);
/* Names that must differ, in the order of their column. */
TQ_MUST_CHECK tq_status tq_distinct_in(const struct tq_intake *intake, const char *what, char *const *names,
                                       size_t n_names);

#endif
