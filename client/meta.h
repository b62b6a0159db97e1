/* client/meta.h: what is known about a list of samples: where they are, which fields, keys and tags they have.
 * Owns: everything in it, in one arena; nothing points to the message or the meta it was made from.
 * Threads: one at a time. */
#ifndef TQ_CLIENT_META_H
#define TQ_CLIENT_META_H

#include "client/dtype.h"
#include "tq/client.h"
#include "transport/base/arena.h"

/* A field as its writer declared it; enum tq_layout and enum tq_dtype hold numbers of tq.v1. */
struct tq_field {
    const char *name;
    enum tq_layout layout;
    enum tq_dtype dtype; /* TQ_DTYPE_NONE: opaque */
    size_t n_dims;       /* dense: of one sample */
    const uint64_t *shape;
    const char *content_type; /* opaque; never NULL */
};

/* A storage unit as the controller told it. */
struct tq_unit_info {
    uint32_t number;
    const char *name;
    const char *address;
    uint64_t epoch;
    bool lost;
    struct tq_bytes bulk; /* empty: inline frames only */
};

struct tq_meta {
    struct tq_arena *arena;
    const char *partition;
    size_t n;
    uint64_t *indexes;
    uint32_t *generations;
    uint32_t *units;
    uint64_t *groups;  /* NULL: none */
    const char **keys; /* NULL: none */
    bool *ready;
    struct tq_field *fields;
    size_t n_fields;
    struct tq_unit_info *unit_infos;
    size_t n_unit_infos;
    size_t *tag_starts; /* n + 1; NULL: none. Tags of sample i: [tag_starts[i], tag_starts[i + 1]) */
    struct tq_tag *tags;
};

enum { TQ_META_SAMPLES_MAX = 1 << 22 };

/* With room for n samples, no fields, units or tags. */
TQ_MUST_CHECK tq_status tq_meta_make(const char *partition, size_t n, struct tq_meta **out_meta, struct tq_error *err);
/* NULL when there is no such field or unit. */
const struct tq_field *tq_meta_find_field(const struct tq_meta *meta, const char *name);
const struct tq_unit_info *tq_meta_find_unit(const struct tq_meta *meta, uint32_t number);

/* Deep copies into an arena; false without memory. */
TQ_MUST_CHECK bool tq_field_copy(struct tq_arena *arena, const struct tq_field *from, struct tq_field *to);
TQ_MUST_CHECK bool tq_unit_info_copy(struct tq_arena *arena, const struct tq_unit_info *from, struct tq_unit_info *to);
/* NULL without memory. */
char *tq_arena_text(struct tq_arena *arena, const char *text);
/* Zeroed; NULL without memory. */
void *tq_arena_array(struct tq_arena *arena, size_t count, size_t size);

tq_status tq_fail_no_memory(struct tq_error *err);

#endif
