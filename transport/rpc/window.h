/* transport/rpc/window.h: the server's memory of keys: what runs under a key, and the answers that were given, so that
 * a repetition joins or gets the same answer and nothing is executed twice. Bounded in age, entries and bytes. Once an
 * entry had to go before its time, an unknown key can no longer be told from a forgotten one: tq_window_forgot.
 * Owns: its entries. Threads: one. */
#ifndef TQ_RPC_WINDOW_H
#define TQ_RPC_WINDOW_H

#include "tq/status.h"
#include "transport/base/list.h"
#include "transport/base/map.h"
#include "transport/rpc/message.h"
#include "transport/rpc/packet.h"

struct tq_server_call;

enum { TQ_WINDOW_ENTRIES = 100000 };
#define TQ_WINDOW_BYTES  (UINT64_C(64) << 20)
#define TQ_WINDOW_AGE_NS (INT64_C(600) * 1000 * 1000 * 1000)

/* RUNNING (call is set) --> KEPT (answer, error, payload) --> forgotten */
struct tq_window_entry {
    struct tq_list node;          /* KEPT: by age */
    struct tq_window_entry *next; /* with the same hash */
    uint64_t hash;
    uint8_t key[TQ_KEY_BYTES];
    uint32_t method, digest;
    struct tq_server_call *call; /* NULL: KEPT */
    int64_t finished_ns;
    struct tq_error *error; /* KEPT with an error; else NULL */
    struct tq_packet answer;
    struct tq_payload *payload;
    uint64_t bytes;
};

struct tq_window {
    const struct tq_seam *seam;
    struct tq_map by_hash;
    uint64_t secret[2];  /* of the hash: strangers choose the keys */
    struct tq_list kept; /* oldest first */
    size_t count;
    uint64_t bytes;
    size_t max_entries;
    uint64_t max_bytes;
    int64_t forgot_ns; /* when an entry last went before its time; INT64_MIN: never */
};

void tq_window_init(struct tq_window *window, const struct tq_seam *seam);
/* No entry may be running. */
void tq_window_fini(struct tq_window *window);

/* NULL when the key is unknown. */
struct tq_window_entry *tq_window_find(const struct tq_window *window, const uint8_t key[TQ_KEY_BYTES]);
/* A running entry for a new key. NULL without memory, or when everything in the window is running. */
struct tq_window_entry *tq_window_add(struct tq_window *window, const uint8_t key[TQ_KEY_BYTES], uint32_t method,
                                      uint32_t digest, struct tq_server_call *call, int64_t now_ns);
/* The execution ended with this. Without memory the entry is forgotten. */
void tq_window_keep(struct tq_window *window, struct tq_window_entry *entry, const struct tq_error *error,
                    const struct tq_packet *answer, const struct tq_payload *payload, int64_t now_ns);
/* The execution never began: the key is free again. */
void tq_window_remove(struct tq_window *window, struct tq_window_entry *entry);
/* Whether a key that was seen within the window's age may be unknown now. */
bool tq_window_forgot(const struct tq_window *window, int64_t now_ns);

#endif
