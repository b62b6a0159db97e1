#include "server/controller/fetch.h"

#include <inttypes.h>
#include <stdlib.h>

#include "server/controller/table.h"
#include "transport/base/assert.h"

#define TO(state) (1u << TQ_WAITER_##state)
static const unsigned next_states[TQ_WAITER_STATES] = {
    [TQ_WAITER_IDLE] = TO(PARKED) | TO(DONE),
    [TQ_WAITER_PARKED] = TO(DONE) | TO(IDLE),
    [TQ_WAITER_DONE] = TO(IDLE),
};
#undef TO

static void move_waiter(struct tq_waiter *waiter, enum tq_waiter_state to)
{
    TQ_ASSERT(next_states[waiter->state] & (1u << to));
    waiter->state = to;
}

/* ---- binding a waiter to its feed ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* Numbers of the wanted fields, ascending. False when one of them is not registered. */
static bool resolve_fields(const struct tq_partition *partition, const struct tq_want *want, uint32_t *numbers)
{
    for (uint32_t i = 0; i < want->n_fields; i++) {
        const struct tq_field *field = tq_partition_find_field(partition, want->fields[i]);
        if (field == NULL)
            return false;
        numbers[i] = field->number;
    }
    qsort(numbers, want->n_fields, sizeof(*numbers), by_number);
    return true;
}

/* Sets waiter->feed when all fields are registered. Fails with RESOURCE_EXHAUSTED. */
static tq_status find_feed(struct tq_waiter *waiter, struct tq_error *err)
{
    struct tq_partition *partition = waiter->partition;
    const struct tq_want *want = &waiter->want;
    uint32_t few[16], *numbers = few;
    if (!partition->exists || partition->n_fields < want->n_fields)
        return TQ_OK;
    if (want->n_fields > sizeof(few) / sizeof(few[0]))
        numbers = tq_seam_alloc_array(partition->seam, want->n_fields, sizeof(*numbers));
    if (numbers == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "fields: no memory for %u of them", want->n_fields);
    tq_status status = TQ_OK;
    struct tq_task *task;
    if (resolve_fields(partition, want, numbers)) {
        status = tq_partition_get_task(partition, want->task, &task, err);
        if (status == TQ_OK)
            status = tq_feed_get(partition, numbers, want->n_fields, task,
                                 want->sampler->grouped ? want->group_size : 0, &waiter->feed, err);
    }
    if (numbers != few)
        tq_seam_free(partition->seam, numbers);
    return status;
}

static void join_feed(struct tq_waiter *waiter)
{
    struct tq_feed *feed = waiter->feed;
    if (feed == NULL)
        return;
    tq_list_add_tail(&feed->waiters, &waiter->in_feed);
    if (waiter->want.batch_size < feed->least_need)
        feed->least_need = waiter->want.batch_size;
}

/* ---- parking and ending ---- */

static tq_status park(struct tq_table *table, struct tq_waiter *waiter, int64_t due_ns, struct tq_error *err)
{
    if (table->n_parked >= table->limits.waiters)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_WAITERS",
                       "max_wait_ms: %" PRIu64 " fetches wait already, no more are kept", table->n_parked);
    if (!tq_heap_set(&table->due, &waiter->due, due_ns))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory to wait");
    move_waiter(waiter, TQ_WAITER_PARKED);
    table->n_parked++;
    tq_list_add_tail(&waiter->partition->waiters, &waiter->in_partition);
    join_feed(waiter);
    return TQ_OK;
}

static void unpark(struct tq_table *table, struct tq_waiter *waiter)
{
    tq_heap_remove(&table->due, &waiter->due);
    tq_list_remove(&waiter->in_partition);
    if (waiter->feed != NULL) {
        if (waiter->feed->next_try == &waiter->in_feed)
            waiter->feed->next_try = waiter->in_feed.next;
        tq_list_remove(&waiter->in_feed);
    }
    table->n_parked--;
}

/* The last one who leaves a shell closes it. */
static void leave_partition(struct tq_table *table, struct tq_waiter *waiter)
{
    struct tq_partition *partition = waiter->partition;
    waiter->partition = NULL;
    waiter->feed = NULL;
    if (partition != NULL)
        tq_table_drop_shell(table, partition);
}

static void end(struct tq_table *table, struct tq_waiter *waiter)
{
    if (waiter->state == TQ_WAITER_PARKED)
        unpark(table, waiter);
    move_waiter(waiter, TQ_WAITER_DONE);
    tq_list_add_tail(&table->done, &waiter->in_done);
    if (waiter->n == 0)
        leave_partition(table, waiter);
}

static void end_short(struct tq_table *table, struct tq_waiter *waiter)
{
    uint64_t supply = waiter->feed != NULL ? waiter->want.sampler->supply(waiter->feed) : 0;
    if (!waiter->want.polling) {
        tq_fail(&waiter->error, TQ_DEADLINE_EXCEEDED, "SHORT",
                "batch_size: %u, but only %" PRIu64 " samples of partition %s were ready in time for task %s",
                waiter->want.batch_size, supply, waiter->want.partition, waiter->want.task);
        waiter->error.outcome = TQ_OUTCOME_NOT_STARTED;
    }
    end(table, waiter);
}

static void end_past(struct tq_table *table, struct tq_waiter *waiter)
{
    tq_fail(&waiter->error, TQ_OUT_OF_RANGE, "SEALED",
            "partition: %s is sealed and task %s has had all that batch_size %u can get", waiter->want.partition,
            waiter->want.task, waiter->want.batch_size);
    end(table, waiter);
}

/* ---- serving ---- */

enum verdict { SERVE, REMAINDER, PAST, SHORT };

static uint64_t pending(const struct tq_waiter *waiter)
{
    if (waiter->feed != NULL)
        return tq_feed_pending(waiter->feed);
    const struct tq_task *task = tq_partition_find_task(waiter->partition, waiter->want.task);
    uint64_t consumed = task != NULL ? roaring_bitmap_get_cardinality(task->consumed) : 0;
    return tq_partition_count(waiter->partition) - consumed;
}

static enum verdict judge(const struct tq_waiter *waiter, uint32_t *out_n)
{
    uint64_t supply = waiter->feed != NULL ? waiter->want.sampler->supply(waiter->feed) : 0;
    *out_n = waiter->want.batch_size;
    if (supply >= waiter->want.batch_size)
        return SERVE;
    if (!waiter->partition->sealed || pending(waiter) > 0)
        return SHORT;
    *out_n = (uint32_t)supply;
    return supply > 0 ? REMAINDER : PAST;
}

static void try_all(struct tq_feed *feed)
{
    feed->dirty = true;
    feed->next_try = feed->waiters.next;
    feed->scan_need = UINT32_MAX;
}

/* In a sealed partition a hand-out can bring the end to other feeds of the task: what it took may be what they waited
 * for. Its own feed has the same samples pending as before. */
static void mark_siblings(struct tq_waiter *waiter)
{
    if (!waiter->partition->sealed)
        return;
    tq_list_each (node, &waiter->feed->task->feeds) {
        struct tq_feed *feed = tq_container_of(node, struct tq_feed, in_task);
        if (feed != waiter->feed)
            try_all(feed);
    }
}

static void hand_out(struct tq_table *table, struct tq_waiter *waiter, uint32_t n)
{
    waiter->slots = tq_seam_alloc_array(table->seam, n, sizeof(*waiter->slots));
    if (waiter->slots == NULL) {
        tq_fail(&waiter->error, TQ_RESOURCE_EXHAUSTED, "MEMORY", "batch_size: no memory for %u samples", n);
        return;
    }
    TQ_ASSERT(waiter->feed != NULL); /* something is supplied */
    waiter->n = n;
    waiter->want.sampler->choose(waiter->feed, n, waiter->slots);
    if (waiter->want.replacement)
        return;
    roaring_bitmap_t *chosen = roaring_bitmap_of_ptr(n, waiter->slots);
    tq_task_consume(waiter->feed->task, chosen);
    roaring_bitmap_free(chosen);
    mark_siblings(waiter);
}

/* Ends the fetch if it can be ended now. */
static bool try_waiter(struct tq_table *table, struct tq_waiter *waiter)
{
    uint32_t n;
    enum verdict verdict = judge(waiter, &n);
    if (verdict == SHORT)
        return false;
    if (verdict == PAST) {
        end_past(table, waiter);
        return true;
    }
    waiter->remainder = verdict == REMAINDER;
    hand_out(table, waiter, n);
    end(table, waiter);
    return true;
}

/* ---- waking ---- */

/* Starts the round of one feed: from its first waiter, if it could have become possible to serve one. */
static void start_round(struct tq_feed *feed)
{
    feed->next_try = &feed->waiters;
    feed->scan_need = feed->least_need;
    if (tq_list_empty(&feed->waiters))
        feed->scan_need = UINT32_MAX;
    if (!feed->dirty || tq_list_empty(&feed->waiters))
        return;
    uint64_t most = feed->group_size > 0 ? feed->n_complete * feed->group_size : feed->n_available;
    if (feed->view->partition->sealed || most >= feed->least_need)
        try_all(feed);
}

/* Of all feeds the waiter that came first and was not looked at in this round; NULL when there is none. */
static struct tq_waiter *next_waiter(struct tq_partition *partition)
{
    struct tq_waiter *first = NULL;
    tq_list_each (view_node, &partition->views) {
        struct tq_view *view = tq_container_of(view_node, struct tq_view, in_partition);
        tq_list_each (node, &view->feeds) {
            struct tq_feed *feed = tq_container_of(node, struct tq_feed, in_view);
            if (feed->next_try == &feed->waiters)
                continue;
            struct tq_waiter *waiter = tq_container_of(feed->next_try, struct tq_waiter, in_feed);
            if (first == NULL || waiter->order < first->order)
                first = waiter;
        }
    }
    return first;
}

static void each_feed(struct tq_partition *partition, void (*visit)(struct tq_feed *feed))
{
    tq_list_each (view_node, &partition->views) {
        struct tq_view *view = tq_container_of(view_node, struct tq_view, in_partition);
        tq_list_each (node, &view->feeds)
            visit(tq_container_of(node, struct tq_feed, in_view));
    }
}

static void finish_round(struct tq_feed *feed)
{
    feed->dirty = false;
    feed->least_need = feed->scan_need;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Tries a waiter; when it stays, the next one of its feed is looked at. The feed's waiters that need more than it has
 * are not looked at one by one: nothing is left for them. */
static void look_at(struct tq_table *table, struct tq_waiter *waiter)
{
    struct tq_feed *feed = waiter->feed;
    bool sealed = waiter->partition->sealed;
    if (!try_waiter(table, waiter)) {
        feed->next_try = waiter->in_feed.next;
        feed->scan_need = least(feed->scan_need, waiter->want.batch_size);
    }
    if (!sealed && waiter->want.sampler->supply(feed) < feed->least_need && feed->next_try != &feed->waiters) {
        feed->next_try = &feed->waiters;
        feed->scan_need = least(feed->scan_need, feed->least_need);
    }
}

/* Waiters for fields that are not registered can only end, when nothing can come any more. */
static void end_unbound(struct tq_table *table, struct tq_partition *partition)
{
    tq_list_each_safe (node, &partition->waiters) {
        struct tq_waiter *waiter = tq_container_of(node, struct tq_waiter, in_partition);
        if (waiter->feed == NULL)
            (void)try_waiter(table, waiter);
    }
}

void tq_fetch_wake(struct tq_table *table, struct tq_partition *partition)
{
    if (tq_list_empty(&partition->waiters))
        return;
    each_feed(partition, start_round);
    for (struct tq_waiter *waiter; (waiter = next_waiter(partition)) != NULL;)
        look_at(table, waiter);
    each_feed(partition, finish_round);
    if (partition->sealed)
        end_unbound(table, partition);
}

void tq_fetch_bind(struct tq_table *table, struct tq_partition *partition)
{
    tq_list_each_safe (node, &partition->waiters) {
        struct tq_waiter *waiter = tq_container_of(node, struct tq_waiter, in_partition);
        if (waiter->feed != NULL)
            continue;
        if (find_feed(waiter, &waiter->error) != TQ_OK) {
            end(table, waiter);
        } else if (waiter->feed != NULL) {
            join_feed(waiter);
            waiter->feed->dirty = true;
        }
    }
}

void tq_fetch_inherit(struct tq_table *table, struct tq_partition *partition, struct tq_partition *heir)
{
    tq_list_each_safe (node, &partition->waiters) {
        struct tq_waiter *waiter = tq_container_of(node, struct tq_waiter, in_partition);
        if (partition->sealed) {
            end_past(table, waiter);
            continue;
        }
        tq_list_remove(&waiter->in_partition);
        tq_list_remove(&waiter->in_feed);
        waiter->feed = NULL;
        waiter->partition = heir;
        tq_list_add_tail(&heir->waiters, &waiter->in_partition);
    }
}

/* ---- the interface ---- */

static tq_status start(struct tq_table *table, struct tq_waiter *waiter, int64_t now_ns, int64_t due_ns,
                       struct tq_error *err)
{
    waiter->partition = tq_table_find(table, waiter->want.partition);
    if (waiter->partition == NULL && due_ns > now_ns) {
        tq_status status = tq_table_get(table, waiter->want.partition, &waiter->partition, err);
        if (status != TQ_OK)
            return status;
    }
    if (waiter->partition == NULL) {
        end_short(table, waiter);
        return TQ_OK;
    }
    tq_status status = find_feed(waiter, err);
    if (status != TQ_OK)
        return status;
    if (try_waiter(table, waiter))
        return TQ_OK;
    if (due_ns > now_ns)
        return park(table, waiter, due_ns, err);
    end_short(table, waiter);
    return TQ_OK;
}

void tq_fetch_start(struct tq_table *table, struct tq_waiter *waiter, int64_t now_ns, int64_t due_ns)
{
    TQ_ASSERT(waiter->state == TQ_WAITER_IDLE && waiter->want.n_fields > 0 && waiter->want.batch_size > 0);
    tq_list_init(&waiter->in_partition);
    tq_list_init(&waiter->in_feed);
    tq_list_init(&waiter->in_done);
    waiter->order = ++table->order;
    if (start(table, waiter, now_ns, due_ns, &waiter->error) != TQ_OK)
        end(table, waiter);
    if (waiter->partition != NULL && waiter->partition->sealed)
        tq_fetch_wake(table, waiter->partition);
}

struct tq_waiter *tq_fetch_take_done(struct tq_table *table)
{
    struct tq_list *node = tq_list_take_head(&table->done);
    if (node == NULL)
        return NULL;
    struct tq_waiter *waiter = tq_container_of(node, struct tq_waiter, in_done);
    move_waiter(waiter, TQ_WAITER_IDLE);
    return waiter;
}

void tq_fetch_cancel(struct tq_table *table, struct tq_waiter *waiter)
{
    if (waiter->state == TQ_WAITER_IDLE)
        return;
    if (waiter->state == TQ_WAITER_PARKED)
        unpark(table, waiter);
    else
        tq_list_remove(&waiter->in_done);
    move_waiter(waiter, TQ_WAITER_IDLE);
    leave_partition(table, waiter);
}

void tq_fetch_undo(struct tq_table *table, struct tq_waiter *waiter)
{
    TQ_ASSERT(waiter->state == TQ_WAITER_IDLE);
    if (waiter->n == 0 || waiter->want.replacement)
        return;
    struct tq_task *task = tq_partition_find_task(waiter->partition, waiter->want.task);
    roaring_bitmap_t *slots = roaring_bitmap_of_ptr(waiter->n, waiter->slots);
    tq_task_restore(task, slots);
    roaring_bitmap_free(slots);
    tq_fetch_wake(table, waiter->partition);
}

void tq_waiter_fini(struct tq_table *table, struct tq_waiter *waiter)
{
    TQ_ASSERT(waiter->state == TQ_WAITER_IDLE);
    tq_seam_free(table->seam, waiter->slots);
    waiter->slots = NULL;
    waiter->n = 0;
}

void tq_fetch_expire(struct tq_table *table, int64_t now_ns)
{
    for (struct tq_heap_node *node; (node = tq_heap_take_due(&table->due, now_ns)) != NULL;)
        end_short(table, tq_container_of(node, struct tq_waiter, due));
}

int64_t tq_fetch_next_due_ns(const struct tq_table *table)
{
    return tq_heap_next_ns(&table->due);
}
