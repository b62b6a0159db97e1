/* The bulk suite: gets of frames from another process by both engines, against a copy of as many bytes, raw UCX and raw
 * TCP. Product and floor alternate. Inline frames are measured by the e2e suite. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tools/tq-bench/bulk.h"

enum { LINE = 4096, FRAMES = 4 };

static const size_t frames[FRAMES] = { 64 << 10, 1 << 20, 16 << 20, 64 << 20 };
static const char *const frame_names[FRAMES] = { "64 KiB", "1 MiB", "16 MiB", "64 MiB" };

void bulk_print_hex(const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        printf("%02x", ((const uint8_t *)bytes)[i]);
    printf("\n");
}

size_t bulk_parse_hex(const char *line, uint8_t *out, size_t cap)
{
    size_t len = strlen(line) / 2;
    for (size_t i = 0; i < len && i < cap; i++) {
        unsigned byte = 0;
        if (sscanf(line + 2 * i, "%2x", &byte) != 1)
            return 0;
        out[i] = (uint8_t)byte;
    }
    return len <= cap ? len : 0;
}

static uint8_t *memory(void)
{
    void *bytes = mmap(NULL, BULK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (bytes == MAP_FAILED) {
        fprintf(stderr, "tq-bench: no memory\n");
        exit(1);
    }
    memset(bytes, 0x35, BULK_BYTES);
    return bytes;
}

static bool open_bulk(bool tcp_only, struct tq_bulk **out_bulk)
{
    const struct tq_bulk_opts opts = { .mode = TQ_BULK_REQUIRED, .tcp_only = tcp_only };
    struct tq_error err;
    if (tq_bulk_open(&opts, out_bulk, &err) == TQ_OK)
        return true;
    fprintf(stderr, "tq-bench: bulk: %s\n", err.message);
    return false;
}

/* ---- the other process ---- */

/* A region as the two processes of one build hand it over. */
struct offer {
    uint64_t id, base, length, frame;
    uint32_t kind, key_len;
    uint8_t ticket[16], key[512];
};

static bool print_offer(const struct tq_region *region, uint64_t frame)
{
    struct offer offer = { .id = region->id, .base = region->base, .length = region->length, .frame = frame };
    offer.kind = region->kind;
    offer.key_len = (uint32_t)region->key.len;
    if (region->key.len > sizeof(offer.key) || region->ticket.len != sizeof(offer.ticket))
        return false;
    if (region->key.len > 0)
        memcpy(offer.key, region->key.ptr, region->key.len);
    memcpy(offer.ticket, region->ticket.ptr, sizeof(offer.ticket));
    bulk_print_hex(&offer, sizeof(offer));
    return true;
}

int bench_bulk_serve(int argc, char **argv)
{
    struct tq_bulk *shared = NULL, *tcp = NULL;
    struct tq_exposure *exposure = NULL;
    struct tq_block block;
    struct tq_region region;
    struct tq_error err;
    (void)argc;
    (void)argv;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench_pin(1);
    uint8_t *heap = memory();
    if (!open_bulk(false, &shared) || !open_bulk(true, &tcp) ||
        tq_bulk_alloc(shared, BULK_BYTES, &block, &err) != TQ_OK ||
        tq_bulk_expose(tcp, heap, BULK_BYTES, &exposure, &err) != TQ_OK)
        return 1;
    memset(block.ptr, 0x35, BULK_BYTES);
    tq_block_publish(&block, 1);
    bulk_print_hex(tq_bulk_address(shared).ptr, tq_bulk_address(shared).len);
    if (!tq_bulk_region(shared, block.region, &region) || !print_offer(&region, block.frame))
        return 1;
    bulk_print_hex(tq_bulk_address(tcp).ptr, tq_bulk_address(tcp).len);
    tq_exposure_region(exposure, &region);
    if (!print_offer(&region, 0))
        return 1;
    tq_exposure_region(exposure, &region);
    if (!bulk_ucx_serve(heap) || !bulk_tcp_serve(heap))
        return 1;
    struct tq_exposure *local = NULL; /* heap memory of the process that shares memory */
    if (tq_bulk_expose(shared, heap, BULK_BYTES, &local, &err) != TQ_OK)
        return 1;
    tq_exposure_region(local, &region);
    if (!print_offer(&region, 0))
        return 1;
    fflush(stdout);
    for (;;)
        pause(); /* until we are killed, or our parent dies */
}

/* ---- this process ---- */

struct source {
    uint8_t address[1200];
    size_t address_len;
    struct offer offer;
};

struct setting {
    const struct bench *bench;
    struct bench_child child;
    struct source arena, heap, heap_tcp;
    struct bulk_ucx *raw;
    int stream;
    struct tq_bulk *bulk, *tcp;
    struct tq_bulk_range *ranges;
    uint8_t *from, *to;
};

static bool read_bytes(struct setting *s, void *out, size_t cap, size_t *out_len)
{
    char line[LINE];
    if (!bench_child_read_line(&s->child, line, sizeof(line)))
        return false;
    *out_len = bulk_parse_hex(line, out, cap);
    return *out_len > 0;
}

static bool read_offers(struct setting *s)
{
    uint8_t raw[1024] = { 0 };
    char line[LINE];
    size_t len = 0;
    if (!read_bytes(s, s->arena.address, sizeof(s->arena.address), &s->arena.address_len) ||
        !read_bytes(s, &s->arena.offer, sizeof(s->arena.offer), &len) ||
        !read_bytes(s, s->heap_tcp.address, sizeof(s->heap_tcp.address), &s->heap_tcp.address_len) ||
        !read_bytes(s, &s->heap_tcp.offer, sizeof(s->heap_tcp.offer), &len) || !read_bytes(s, raw, sizeof(raw), &len))
        return false;
    s->raw = bulk_ucx_open(raw, len);
    if (s->raw == NULL || !bench_child_read_line(&s->child, line, sizeof(line)))
        return false;
    s->stream = bulk_tcp_connect((uint16_t)strtoul(line, NULL, 10));
    s->heap = s->arena;
    return s->stream >= 0 && read_bytes(s, &s->heap.offer, sizeof(s->heap.offer), &len);
}

/* One get of BULK_BYTES in frames; GB/s, 0: it failed. */
static double get(struct setting *s, struct tq_bulk *bulk, const struct source *source, size_t frame,
                  enum tq_bulk_engine engine, bool no_digest)
{
    const struct offer *offer = &source->offer;
    const struct tq_region region = {
        .id = offer->id,
        .kind = offer->kind,
        .base = offer->base,
        .length = offer->length,
        .key = { offer->key, offer->key_len },
        .ticket = { offer->ticket, sizeof(offer->ticket) },
    };
    const struct tq_bulk_read_opts opts = { .deadline_ns = tq_deadline_after_ms(20000),
                                            .engine = engine,
                                            .no_digest = no_digest };
    struct tq_bulk_result result;
    size_t n = BULK_BYTES / frame;
    for (size_t i = 0; i < n; i++)
        s->ranges[i] = (struct tq_bulk_range){
            .frame = offer->frame, .skip = i * frame, .len = frame, .version = 1, .into = s->to + i * frame
        };
    int64_t begun_ns = tq_now_ns();
    tq_status status = tq_bulk_read_wait(bulk, (struct tq_bytes){ source->address, source->address_len }, &region, 1,
                                         s->ranges, n, &opts, &result);
    double rate = (double)BULK_BYTES / (double)(tq_now_ns() - begun_ns);
    if (status == TQ_OK)
        return rate;
    fprintf(stderr, "tq-bench: get: %s: %s\n", tq_status_name(status), result.error.message);
    return 0;
}

static void add(struct setting *s, const char *what, const char *engine, const char *digest, const char *floor, int f,
                const struct report_rounds *rounds, double target)
{
    char name[64], json[256];
    snprintf(name, sizeof(name), "get %s, %s%s", frame_names[f], what, digest);
    snprintf(json, sizeof(json),
             "\"name\": \"get\", \"frame\": %zu, \"engine\": \"%s\", \"digest\": %s, \"floor\": \"%s\"", frames[f],
             engine, digest[0] == 0 ? "true" : "false", floor);
    report_add(s->bench->report, name, json, "GB/s", rounds)->target = target;
}

static void measure_remote_read(struct setting *s, int f)
{
    struct report_rounds with = { .n = 0 }, without = { .n = 0 };
    size_t piece = frames[f] < 1 << 20 ? frames[f] : 1 << 20;
    (void)get(s, s->bulk, &s->arena, frames[f], TQ_ENGINE_REMOTE_READ, false);
    for (unsigned i = 0; i < s->bench->rounds; i++) {
        double ours = get(s, s->bulk, &s->arena, frames[f], TQ_ENGINE_REMOTE_READ, false);
        double floor = bulk_copy(s->to, s->from, piece);
        double bare = get(s, s->bulk, &s->arena, frames[f], TQ_ENGINE_REMOTE_READ, true);
        report_round(&with, ours, floor);
        report_round(&without, bare, floor);
    }
    add(s, "remote read", "remote_read", "", "memcpy", f, &with, 0.50);
    add(s, "remote read", "remote_read", ", no digest", "memcpy", f, &without, 0);
}

static void measure_tcp(struct setting *s, int f)
{
    struct report_rounds with = { .n = 0 }, without = { .n = 0 }, stream = { .n = 0 };
    (void)get(s, s->tcp, &s->heap_tcp, frames[f], TQ_ENGINE_RENDEZVOUS, false);
    for (unsigned i = 0; i < s->bench->rounds; i++) {
        double ours = get(s, s->tcp, &s->heap_tcp, frames[f], TQ_ENGINE_RENDEZVOUS, false);
        double floor = bulk_ucx_read(s->raw, s->to, frames[f]);
        double bare = get(s, s->tcp, &s->heap_tcp, frames[f], TQ_ENGINE_RENDEZVOUS, true);
        double raw = bulk_tcp_read(s->stream, s->to, frames[f]);
        report_round(&with, ours, floor);
        report_round(&without, bare, floor);
        report_round(&stream, ours, raw);
    }
    add(s, "rendezvous over TCP", "rendezvous", "", "raw UCX rendezvous over TCP, polling", f, &with, 0.60);
    add(s, "rendezvous over TCP", "rendezvous", ", no digest", "raw UCX rendezvous over TCP, polling", f, &without, 0);
    add(s, "TCP, against raw TCP", "rendezvous", "", "raw TCP stream", f, &stream, 0);
}

static void measure_heap(struct setting *s, int f)
{
    struct report_rounds rounds = { .n = 0 };
    (void)get(s, s->bulk, &s->heap, frames[f], TQ_ENGINE_RENDEZVOUS, false);
    for (unsigned i = 0; i < s->bench->rounds; i++) {
        double ours = get(s, s->bulk, &s->heap, frames[f], TQ_ENGINE_RENDEZVOUS, false);
        report_round(&rounds, ours, bulk_copy(s->to, s->from, frames[f] < 1 << 20 ? frames[f] : 1 << 20));
    }
    add(s, "rendezvous, shared memory", "rendezvous_shm", "", "memcpy", f, &rounds, 0);
}

int bench_bulk(const struct bench *bench)
{
    static struct setting s;
    const char *const arguments[] = { "serve-bulk", NULL };
    s = (struct setting){ .bench = bench, .stream = -1 };
    if (!bench_child_start(&s.child, bench->program, arguments))
        return 1;
    bench_pin(0);
    s.from = memory();
    s.to = memory();
    s.ranges = calloc(BULK_BYTES / frames[0], sizeof(*s.ranges));
    bool good = s.ranges != NULL && open_bulk(false, &s.bulk) && open_bulk(true, &s.tcp) && read_offers(&s);
    for (int f = 0; good && f < FRAMES; f++)
        measure_remote_read(&s, f);
    for (int f = 0; good && f < FRAMES; f++)
        measure_tcp(&s, f);
    for (int f = 0; good && f < FRAMES; f++)
        measure_heap(&s, f);
    if (!good)
        fprintf(stderr, "tq-bench: the bulk suite does not start\n");
    tq_bulk_close(s.bulk);
    tq_bulk_close(s.tcp);
    bulk_ucx_close(s.raw);
    if (s.stream >= 0)
        close(s.stream);
    bench_child_stop(&s.child);
    free(s.ranges);
    munmap(s.from, BULK_BYTES);
    munmap(s.to, BULK_BYTES);
    return good ? 0 : 1;
}
