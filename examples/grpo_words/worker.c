#include "examples/grpo_words/worker.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tq/init.h"

/* How long one fetch stays parked before it is asked again. */
enum { FETCH_WAIT_MS = 1000 };

static struct tq_op_opts until_deadline(const struct worker *worker)
{
    return (struct tq_op_opts){ .deadline_ns = worker->deadline_ns };
}

static void worker_note(struct worker *worker, enum worker_op op, int64_t begin_ns)
{
    latency_add(&worker->latencies[op], tq_now_ns() - begin_ns);
}

tq_status worker_fetch(struct worker *worker, const struct tq_fetch *fetch, struct tq_meta **out_meta,
                       struct tq_error *err)
{
    struct tq_fetch waiting = *fetch;
    waiting.max_wait_ms = FETCH_WAIT_MS;
    waiting.polling = true;
    const int64_t begin_ns = tq_now_ns();
    while (tq_now_ns() < worker->deadline_ns) {
        struct tq_meta *meta = NULL;
        const tq_status status = tq_client_fetch(worker->client, &waiting, NULL, &meta, err);
        if (status != TQ_OK)
            return status;
        if (tq_meta_count(meta) > 0) {
            worker_note(worker, WORKER_fetch, begin_ns);
            *out_meta = meta;
            return TQ_OK;
        }
        tq_meta_drop(meta);
    }
    return tq_fail(err, TQ_DEADLINE_EXCEEDED, NULL,
                   "partition %s, task %s: nothing more was ready within %" PRIu64 " s", fetch->partition, fetch->task,
                   worker->settings->time_limit_s);
}

tq_status worker_put(struct worker *worker, enum worker_op op, const struct tq_insert *insert,
                     const struct tq_batch *batch, struct tq_meta **out_meta, struct tq_error *err)
{
    const struct tq_op_opts opts = until_deadline(worker);
    const int64_t begin_ns = tq_now_ns();
    const tq_status status = tq_client_put(worker->client, insert->partition, batch, insert, &opts, out_meta, err);
    worker_note(worker, op, begin_ns);
    return status;
}

tq_status worker_put_to(struct worker *worker, struct tq_meta *meta, const struct tq_batch *batch, struct tq_error *err)
{
    const struct tq_op_opts opts = until_deadline(worker);
    const int64_t begin_ns = tq_now_ns();
    const tq_status status = tq_client_put_to(worker->client, meta, batch, &opts, err);
    worker_note(worker, WORKER_put_to, begin_ns);
    return status;
}

tq_status worker_get(struct worker *worker, enum worker_op op, const struct tq_meta *meta, struct tq_data **out_data,
                     struct tq_error *err)
{
    const struct tq_op_opts opts = until_deadline(worker);
    const int64_t begin_ns = tq_now_ns();
    const tq_status status = tq_client_get(worker->client, meta, NULL, 0, &opts, out_data, err);
    worker_note(worker, op, begin_ns);
    return status;
}

tq_status worker_clear(struct worker *worker, const struct tq_meta *meta, struct tq_error *err)
{
    const struct tq_op_opts opts = until_deadline(worker);
    const int64_t begin_ns = tq_now_ns();
    const tq_status status = tq_client_clear(worker->client, meta, &opts, err);
    worker_note(worker, WORKER_clear, begin_ns);
    return status;
}

tq_status worker_clear_partition(struct worker *worker, const char *partition, struct tq_error *err)
{
    const struct tq_op_opts opts = until_deadline(worker);
    const int64_t begin_ns = tq_now_ns();
    const tq_status status = tq_client_clear_partition(worker->client, partition, &opts, err);
    worker_note(worker, WORKER_clear, begin_ns);
    return status;
}

/* report.c reads it; numbers are those of the enums. */
static void print_report(struct worker *worker)
{
    struct tq_client_stats stats;
    tq_client_read_stats(worker->client, &stats);
    for (unsigned engine = TQ_ENGINE_REMOTE_READ; engine < TQ_ENGINE_COUNT; engine++)
        printf("bytes %u %" PRIu64 " %" PRIu64 "\n", engine, stats.put_bytes[engine], stats.get_bytes[engine]);
    printf("counts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", stats.calls, stats.samples_put,
           stats.samples_got, stats.retries);
    for (unsigned flow = 0; flow < WORKER_FLOWS; flow++)
        printf("flow %u %" PRIu64 " %" PRIu64 "\n", flow, worker->flow_bytes[flow], worker->flow_ns[flow]);
    for (unsigned op = 0; op < WORKER_OP_COUNT; op++) {
        printf("latency %u ", op);
        latency_print(&worker->latencies[op], stdout);
        printf("\n");
    }
}

int worker_main(const char *role, const struct settings *settings, worker_run_fn *run)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    struct tq_error err = { 0 };
    char name[64];
    tq_status status = TQ_RESOURCE_EXHAUSTED;
    if (worker == NULL) {
        fprintf(stderr, "grpo_words %s: no memory\n", role);
        return 1;
    }
    snprintf(name, sizeof(name), "grpo_words %s", role);
    *worker = (struct worker){ .role = role, .settings = settings };
    worker->deadline_ns = tq_deadline_after_ms((int64_t)settings->time_limit_s * 1000);
    const struct tq_client_opts opts = { .controller = settings->controller[0] != '\0' ? settings->controller : NULL,
                                         .name = name };
    status = tq_init(&err);
    if (status == TQ_OK)
        status = tq_client_open(&opts, &worker->client, &err);
    if (status == TQ_OK)
        status = run(worker, &err);
    if (status == TQ_OK)
        print_report(worker);
    else
        fprintf(stderr, "%s: %s: %s\n", name, tq_status_name(status), err.message);
    tq_client_close(worker->client);
    free(worker);
    return status == TQ_OK && fflush(stdout) == 0 ? 0 : 1;
}
