#include "transport/rpc/window.h"

#include <string.h>

#include "transport/base/assert.h"

void tq_window_init(struct tq_window *window, const struct tq_seam *seam)
{
    *window = (struct tq_window){
        .seam = seam, .max_entries = TQ_WINDOW_ENTRIES, .max_bytes = TQ_WINDOW_BYTES, .forgot_ns = INT64_MIN
    };
    tq_map_init(&window->by_hash, seam);
    for (size_t i = 0; i < 2; i++)
        window->secret[i] = tq_seam_random64(seam);
    tq_list_init(&window->kept);
}

void tq_window_fini(struct tq_window *window)
{
    while (!tq_list_empty(&window->kept))
        tq_window_remove(window, tq_container_of(window->kept.next, struct tq_window_entry, node));
    TQ_ASSERT(window->count == 0);
    tq_map_fini(&window->by_hash);
}

__extension__ typedef unsigned __int128 product;

/* Both halves of the product of the secretly changed halves: which keys collide is not known outside. */
static uint64_t hash_of(const struct tq_window *window, const uint8_t key[TQ_KEY_BYTES])
{
    uint64_t halves[2];
    memcpy(halves, key, sizeof(halves));
    product mixed = (product)(halves[0] ^ window->secret[0]) * (halves[1] ^ window->secret[1]);
    return (uint64_t)mixed ^ (uint64_t)(mixed >> 64);
}

struct tq_window_entry *tq_window_find(const struct tq_window *window, const uint8_t key[TQ_KEY_BYTES])
{
    struct tq_window_entry *entry = tq_map_get(&window->by_hash, hash_of(window, key));
    while (entry != NULL && memcmp(entry->key, key, TQ_KEY_BYTES) != 0)
        entry = entry->next;
    return entry;
}

static void unlink_entry(struct tq_window *window, struct tq_window_entry *entry)
{
    struct tq_window_entry *first = tq_map_get(&window->by_hash, entry->hash);
    if (first != entry) {
        while (first->next != entry)
            first = first->next;
        first->next = entry->next;
    } else if (entry->next == NULL) {
        tq_map_remove(&window->by_hash, entry->hash);
    } else {
        bool replaced = tq_map_put(&window->by_hash, entry->hash, entry->next);
        TQ_ASSERT(replaced); /* the key is in: no memory is needed */
    }
}

void tq_window_remove(struct tq_window *window, struct tq_window_entry *entry)
{
    unlink_entry(window, entry);
    tq_list_remove(&entry->node);
    window->count--;
    window->bytes -= entry->bytes;
    tq_seam_free(window->seam, entry->error);
    tq_packet_fini(&entry->answer);
    tq_payload_drop(entry->payload);
    tq_seam_free(window->seam, entry);
}

/* Removes what is too old, then what is too much. */
static void make_room(struct tq_window *window, int64_t now_ns)
{
    while (!tq_list_empty(&window->kept)) {
        struct tq_window_entry *oldest = tq_container_of(window->kept.next, struct tq_window_entry, node);
        bool old = now_ns - oldest->finished_ns >= TQ_WINDOW_AGE_NS;
        if (!old && window->count < window->max_entries && window->bytes <= window->max_bytes)
            return;
        if (!old)
            window->forgot_ns = now_ns;
        tq_window_remove(window, oldest);
    }
}

struct tq_window_entry *tq_window_add(struct tq_window *window, const uint8_t key[TQ_KEY_BYTES], uint32_t method,
                                      uint32_t digest, struct tq_server_call *call, int64_t now_ns)
{
    make_room(window, now_ns);
    struct tq_window_entry *entry =
        window->count < window->max_entries ? tq_seam_alloc(window->seam, sizeof(*entry)) : NULL;
    if (entry == NULL)
        return NULL;
    *entry = (struct tq_window_entry){ .hash = hash_of(window, key),
                                       .method = method,
                                       .digest = digest,
                                       .call = call,
                                       .answer = { .seam = window->seam } };
    memcpy(entry->key, key, TQ_KEY_BYTES);
    tq_list_init(&entry->node);
    entry->next = tq_map_get(&window->by_hash, entry->hash);
    if (!tq_map_put(&window->by_hash, entry->hash, entry)) {
        tq_seam_free(window->seam, entry);
        return NULL;
    }
    window->count++;
    return entry;
}

static bool copy_answer(struct tq_window *window, struct tq_window_entry *entry, const struct tq_error *error,
                        const struct tq_packet *answer, const struct tq_payload *payload)
{
    if (error->status != TQ_OK) {
        entry->error = tq_seam_alloc(window->seam, sizeof(*entry->error));
        if (entry->error != NULL)
            *entry->error = *error;
        return entry->error != NULL;
    }
    if (payload != NULL)
        entry->payload = tq_payload_copy(window->seam, payload->frames, payload->n_frames);
    return (payload == NULL || entry->payload != NULL) &&
           tq_packet_copy(&entry->answer, (struct tq_bytes){ tq_packet_body(answer), answer->len });
}

void tq_window_keep(struct tq_window *window, struct tq_window_entry *entry, const struct tq_error *error,
                    const struct tq_packet *answer, const struct tq_payload *payload, int64_t now_ns)
{
    entry->call = NULL;
    entry->finished_ns = now_ns;
    if (!copy_answer(window, entry, error, answer, payload)) {
        window->forgot_ns = now_ns;
        tq_window_remove(window, entry);
        return;
    }
    entry->bytes = sizeof(*entry) + (entry->error != NULL ? sizeof(*entry->error) : entry->answer.capacity) +
                   tq_payload_bytes(entry->payload);
    window->bytes += entry->bytes;
    tq_list_add_tail(&window->kept, &entry->node);
    make_room(window, now_ns);
}

bool tq_window_forgot(const struct tq_window *window, int64_t now_ns)
{
    return window->forgot_ns != INT64_MIN && now_ns - window->forgot_ns < TQ_WINDOW_AGE_NS;
}
