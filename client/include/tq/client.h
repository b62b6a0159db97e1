/* tq/client.h: what rollout, reward, reference and trainer processes link: put columns of samples, fetch batches that
 * are ready, get their data, address samples by key.
 *
 *     tq_init(&err);
 *     tq_client_open(&(struct tq_client_opts){ .controller = "tcp://127.0.0.1:7600" }, &client, &err);
 *     tq_client_put(client, "train_0", &batch, NULL, &meta, &err);           // a producer
 *     tq_client_fetch(client, &(struct tq_fetch){ .partition = "train_0", .task = "actor", ... }, &meta, &err);
 *     tq_client_get(client, meta, fields, n_fields, NULL, &data, &err);      // a consumer
 *
 * Owns: client > nothing of what it returned; metas and datas are dropped by whoever got them, before the client is
 * closed. Threads: a client may be used by many threads; one meta or data by one thread at a time. Every call ends by
 * its deadline. In memory tensors are DLPack's DLTensor on the CPU. */
#ifndef TQ_CLIENT_H
#define TQ_CLIENT_H

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tq/bulk.h"
#include "tq/bytes.h"
#include "tq/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- columns ---- */

enum tq_layout { TQ_DENSE = 1, TQ_JAGGED = 2, TQ_OPAQUE = 3 };

/* Type codes of later versions of DLPack that we carry too. */
enum { TQ_DL_BOOL = 6, TQ_DL_FLOAT8_E4M3FN = 10, TQ_DL_FLOAT8_E5M2 = 12 };

/* One field of n samples.
 *   dense   values: [n, shape of one sample ...], at most 8 of them; compact, or strided in the first dimension only
 *   jagged  values: one dimension, the samples' elements packed one after the other; sizes: n * rank
 *   opaque  values: one dimension of uint8, packed; sizes: n byte lengths (rank 1); content_type */
struct tq_column {
    const char *name; /* 1..128 bytes, no '/' or control characters */
    enum tq_layout layout;
    DLTensor values;
    uint32_t rank;            /* jagged: 1..8; opaque: 1; dense: 0 */
    const int64_t *sizes;     /* jagged, opaque */
    const char *content_type; /* opaque; NULL: "application/octet-stream" */
};

/* At most 1048576 samples and 1024 columns. */
struct tq_batch {
    size_t n_samples;
    const struct tq_column *columns;
    size_t n_columns;
};

/* Number of bytes of one element. 0 for a type that we do not carry (lanes other than 1, sub-byte types). */
TQ_PUBLIC size_t tq_dtype_bytes(DLDataType dtype);
/* The bytes of sample i of a column. The view is as valid as the column. i < n_samples. O(1) dense, O(i) else. */
TQ_PUBLIC struct tq_bytes tq_column_cell(const struct tq_column *column, size_t i);
/* Checks a batch as put does. Fails with INVALID_ARGUMENT naming column and value. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_batch_check(const struct tq_batch *batch, struct tq_error *err);

/* ---- client ---- */

/* Zero means the default. */
struct tq_client_opts {
    const char *controller; /* default: $TQ_CONTROLLER, else "tcp://127.0.0.1:7600" */
    const char *name;       /* in the servers' logs */
    enum tq_bulk_mode bulk;
    bool tcp_only;              /* no shared memory for bulk */
    size_t receive_cache_bytes; /* registered memory kept for gets; default 256 MiB */
    uint32_t timeout_ms;        /* of calls that name none; default 30000 */
    uint32_t sockets;           /* pooled sockets per peer, 1..4; default 1 */
};

struct tq_client;

/* Connects to the controller: one round trip, five seconds at most. Fails with UNAVAILABLE, INVALID_ARGUMENT, ... */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_open(const struct tq_client_opts *opts, struct tq_client **out_client,
                                                 struct tq_error *err);
TQ_PUBLIC void tq_client_close(struct tq_client *client);

/* Zero means the default; NULL options are all defaults. */
struct tq_op_opts {
    int64_t deadline_ns; /* absolute, of the whole operation; 0: the client's timeout from now */
};

/* ---- metas: which samples, where, with which fields ---- */

struct tq_meta;
TQ_PUBLIC void tq_meta_drop(struct tq_meta *meta); /* NULL is allowed */
TQ_PUBLIC size_t tq_meta_count(const struct tq_meta *meta);
TQ_PUBLIC const char *tq_meta_partition(const struct tq_meta *meta);
TQ_PUBLIC uint64_t tq_meta_index(const struct tq_meta *meta, size_t i);
TQ_PUBLIC uint32_t tq_meta_generation(const struct tq_meta *meta, size_t i);
TQ_PUBLIC uint32_t tq_meta_unit(const struct tq_meta *meta, size_t i);
TQ_PUBLIC uint64_t tq_meta_group(const struct tq_meta *meta, size_t i);  /* 0: none */
TQ_PUBLIC const char *tq_meta_key(const struct tq_meta *meta, size_t i); /* NULL: none */
TQ_PUBLIC bool tq_meta_ready(const struct tq_meta *meta, size_t i);
TQ_PUBLIC size_t tq_meta_n_fields(const struct tq_meta *meta);
TQ_PUBLIC const char *tq_meta_field(const struct tq_meta *meta, size_t f);
/* NULL when the sample has no such tag. */
TQ_PUBLIC TQ_MUST_CHECK bool tq_meta_tag(const struct tq_meta *meta, size_t i, const char *key,
                                         struct tq_bytes *out_value);
/* A new meta of the chosen positions, in that order; repetition is allowed. Fails with OUT_OF_RANGE. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_meta_select(const struct tq_meta *meta, const size_t *positions, size_t n,
                                                 struct tq_meta **out_meta, struct tq_error *err);
/* Rows of several metas of one partition. Fails with INVALID_ARGUMENT (partitions or fields differ). */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_meta_concat(const struct tq_meta *const *metas, size_t n,
                                                 struct tq_meta **out_meta, struct tq_error *err);

/* ---- producing ---- */

/* Zero means the default. */
struct tq_insert {
    const char *partition;
    size_t n_samples;
    const uint64_t *groups;  /* n_samples, or NULL */
    uint32_t group_size;     /* instead: consecutive samples share a fresh group */
    const char *const *keys; /* n_samples, or NULL */
    uint64_t sample_bytes;
    uint32_t near_unit;
};
/* Makes samples without data, to fill their fields in several rounds. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_insert(struct tq_client *client, const struct tq_insert *insert,
                                                   const struct tq_op_opts *opts, struct tq_meta **out_meta,
                                                   struct tq_error *err);
/* Makes samples and stores their columns: insert, put to the units in parallel, compare digests, notify. Ready only
 * when all of it succeeded. `insert` may be NULL besides the partition; its n_samples is the batch's. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_put(struct tq_client *client, const char *partition,
                                                const struct tq_batch *batch, const struct tq_insert *insert,
                                                const struct tq_op_opts *opts, struct tq_meta **out_meta,
                                                struct tq_error *err);
/* Adds columns to samples that exist. On success the meta knows the new fields. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_put_to(struct tq_client *client, struct tq_meta *meta,
                                                   const struct tq_batch *batch, const struct tq_op_opts *opts,
                                                   struct tq_error *err);
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_seal(struct tq_client *client, const char *partition,
                                                 const struct tq_op_opts *opts, struct tq_error *err);

/* ---- consuming ---- */

/* Zero means the default. */
struct tq_fetch {
    const char *partition;
    const char *task;
    const char *const *fields;
    size_t n_fields;
    uint32_t batch_size;
    const char *sampler;  /* "sequential" (default), "group_n" */
    uint32_t group_size;  /* group_n */
    uint32_t max_wait_ms; /* 0: answer at once; cut to end before the operation's deadline */
    bool polling;         /* short at max_wait: an empty meta instead of DEADLINE_EXCEEDED */
    bool want_tags, want_keys;
};
/* Marks the samples consumed for the task. After seal: the remainder, then OUT_OF_RANGE. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_fetch(struct tq_client *client, const struct tq_fetch *fetch,
                                                  const struct tq_op_opts *opts, struct tq_meta **out_meta,
                                                  struct tq_error *err);
/* All samples of a partition, ready or not, consumed or not. NOT_FOUND when there is no such partition. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_force_fetch(struct tq_client *client, const char *partition,
                                                        const char *const *fields, size_t n_fields,
                                                        const struct tq_op_opts *opts, struct tq_meta **out_meta,
                                                        struct tq_error *err);

/* The data of a get: one column a field, in the order of the request, samples in the order of the meta. Writable memory
 * of the caller's own; nothing aliases stored data. */
struct tq_data;
TQ_PUBLIC void tq_data_drop(struct tq_data *data); /* NULL is allowed */
TQ_PUBLIC const struct tq_batch *tq_data_batch(const struct tq_data *data);
/* NULL when there is no such column. */
TQ_PUBLIC const struct tq_column *tq_data_column(const struct tq_data *data, const char *name);

/* fields NULL: the meta's. Every byte is checked against its stored digest. Fails with NOT_FOUND naming sample and
 * field, ABORTED (overwritten or cleared meanwhile), DATA_LOSS, UNAVAILABLE (unit lost). All or nothing. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_get(struct tq_client *client, const struct tq_meta *meta,
                                                const char *const *fields, size_t n_fields,
                                                const struct tq_op_opts *opts, struct tq_data **out_data,
                                                struct tq_error *err);

/* ---- clearing, status ---- */

/* Bytes first, then the table. Idempotent. Units that are lost or silent are left to the controller. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_clear(struct tq_client *client, const struct tq_meta *meta,
                                                  const struct tq_op_opts *opts, struct tq_error *err);
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_clear_partition(struct tq_client *client, const char *partition,
                                                            const struct tq_op_opts *opts, struct tq_error *err);
/* *out_total counts reserved samples too. NOT_FOUND when there is no such partition. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_consumption(struct tq_client *client, const char *partition,
                                                        const char *task, const struct tq_op_opts *opts,
                                                        uint64_t *out_consumed, uint64_t *out_total,
                                                        struct tq_error *err);
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_reset_consumption(struct tq_client *client, const char *partition,
                                                              const char *task, const struct tq_op_opts *opts,
                                                              struct tq_error *err);
/* Calls `each` for every partition, on the calling thread. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_client_list_partitions(
    struct tq_client *client, void (*each)(void *user, const char *partition, uint64_t samples, uint64_t produced),
    void *user, const struct tq_op_opts *opts, struct tq_error *err);

/* ---- keys ---- */

/* A tag of a key: text or bytes. */
struct tq_tag {
    const char *key;
    struct tq_bytes value;
};

/* Stores the columns of n samples under n keys; existing keys get further or newer columns. `tags` (n_tags of them, or
 * none) are merged into every key's. A batch without columns only sets tags. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_kv_put(struct tq_client *client, const char *partition, const char *const *keys,
                                            const struct tq_batch *batch, const struct tq_tag *tags, size_t n_tags,
                                            const struct tq_op_opts *opts, struct tq_error *err);
/* fields NULL: those that all keys have. Fails with NOT_FOUND naming the first missing key or field: keys are never
 * silently dropped. out_meta (NULL allowed) has keys and tags. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_kv_get(struct tq_client *client, const char *partition, const char *const *keys,
                                            size_t n_keys, const char *const *fields, size_t n_fields,
                                            const struct tq_op_opts *opts, struct tq_data **out_data,
                                            struct tq_meta **out_meta, struct tq_error *err);
/* `each` runs on the calling thread; tags are views into the answer. partition NULL: all. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_kv_list(struct tq_client *client, const char *partition, const char *prefix,
                                             void (*each)(void *user, const char *partition, const char *key,
                                                          const struct tq_tag *tags, size_t n_tags),
                                             void *user, const struct tq_op_opts *opts, struct tq_error *err);
/* Idempotent: unknown keys are ignored. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_kv_clear(struct tq_client *client, const char *partition, const char *const *keys,
                                              size_t n_keys, const struct tq_op_opts *opts, struct tq_error *err);

/* ---- what moved ---- */

struct tq_client_stats {
    uint64_t calls, samples_put, samples_got;
    uint64_t put_bytes[TQ_ENGINE_COUNT]; /* as the units reported it */
    uint64_t get_bytes[TQ_ENGINE_COUNT];
    uint64_t digest_failures, retries;
};
TQ_PUBLIC void tq_client_read_stats(struct tq_client *client, struct tq_client_stats *out_stats);

#ifdef __cplusplus
}
#endif
#endif
