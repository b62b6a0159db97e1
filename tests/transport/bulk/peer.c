#include "tests/transport/bulk/peer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/base/crc32c.h"
#include "transport/base/environment.h"
#include "transport/base/log.h"

enum { WIRE_FD = 3, THINGS = 4096 };

#define MUST(works)                                                                                                    \
    do {                                                                                                               \
        if (!(works)) {                                                                                                \
            fprintf(stderr, "%s:%d: cannot go on: %s\n", __FILE__, __LINE__, #works);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct thing {
    struct tq_block block;
    struct tq_exposure *exposure;
    uint8_t *heap;
};

static void send_all(int fd, const void *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t wrote = send(fd, (const uint8_t *)bytes + done, len - done, MSG_NOSIGNAL);
        MUST(wrote > 0);
        done += (size_t)wrote;
    }
}

static bool receive_all(int fd, void *bytes, size_t len)
{
    return recv(fd, bytes, len, MSG_WAITALL) == (ssize_t)len;
}

/* ---- bytes ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    return x ^ (x >> 29);
}

void peer_fill(uint8_t *bytes, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = mix(seed + i);
        memcpy(bytes + i, &word, len - i < 8 ? len - i : 8);
    }
}

bool peer_is_filled(const uint8_t *bytes, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = mix(seed + i);
        if (memcmp(bytes + i, &word, len - i < 8 ? len - i : 8) != 0)
            return false;
    }
    return true;
}

struct tq_region peer_region(const struct peer_region *from)
{
    return (struct tq_region){
        .id = from->id,
        .kind = from->kind,
        .base = from->base,
        .length = from->length,
        .key = { from->key, from->key_len },
        .ticket = { from->ticket, sizeof(from->ticket) },
    };
}

void peer_region_pack(const struct tq_region *from, uint64_t frame, struct peer_region *out_region)
{
    *out_region = (struct peer_region){ .id = from->id, .base = from->base, .length = from->length, .frame = frame };
    out_region->kind = from->kind;
    out_region->key_len = (uint32_t)from->key.len;
    MUST(from->key.len <= PEER_KEY_MAX && from->ticket.len == sizeof(out_region->ticket));
    if (from->key.len > 0)
        memcpy(out_region->key, from->key.ptr, from->key.len);
    memcpy(out_region->ticket, from->ticket.ptr, from->ticket.len);
}

int peer_count_fds(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    MUST(dir != NULL);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* ---- the peer's side ---- */

static void make_block(struct tq_bulk *bulk, struct thing *thing, const struct peer_order *order,
                       struct peer_answer *answer)
{
    struct tq_region region;
    answer->status = tq_bulk_alloc(bulk, order->len, &thing->block, NULL);
    if (answer->status != TQ_OK)
        return;
    peer_fill(thing->block.ptr, order->len, order->seed);
    tq_block_publish(&thing->block, order->version);
    MUST(tq_bulk_region(bulk, thing->block.region, &region));
    peer_region_pack(&region, thing->block.frame, &answer->region);
}

static void make_exposure(struct tq_bulk *bulk, struct thing *thing, const struct peer_order *order,
                          struct peer_answer *answer)
{
    struct tq_region region;
    thing->heap = malloc(order->len + 1);
    MUST(thing->heap != NULL);
    peer_fill(thing->heap, order->len, order->seed);
    answer->status = tq_bulk_expose(bulk, thing->heap, order->len, &thing->exposure, NULL);
    MUST(answer->status == TQ_OK);
    tq_exposure_region(thing->exposure, &region);
    peer_region_pack(&region, 0, &answer->region);
}

static void unexpose(struct thing *thing, const struct peer_order *order, struct peer_answer *answer)
{
    int64_t begun_ns = tq_now_ns();
    tq_bulk_unexpose(thing->exposure, tq_deadline_after_ms((int64_t)order->ms));
    answer->len = (uint64_t)(tq_now_ns() - begun_ns) / 1000000;
    thing->exposure = NULL;
    free(thing->heap);
    thing->heap = NULL;
}

static void read_it(struct tq_bulk *bulk, const struct peer_order *order, struct peer_answer *answer)
{
    uint8_t *into = malloc(order->len + 1);
    const struct tq_region region = peer_region(&order->region);
    struct tq_bulk_range range = {
        .frame = order->region.frame, .len = order->len, .version = order->version, .into = into
    };
    const struct tq_bulk_read_opts opts = { .deadline_ns = tq_deadline_after_ms((int64_t)order->ms),
                                            .engine = order->engine };
    MUST(into != NULL);
    answer->status = tq_bulk_read_wait(bulk, (struct tq_bytes){ order->address, order->address_len }, &region, 1,
                                       &range, 1, &opts, &answer->result);
    answer->crc32c = range.crc32c;
    if (answer->status == TQ_OK)
        MUST(tq_crc32c(into, order->len) == range.crc32c);
    free(into);
}

static void obey(struct tq_bulk *bulk, struct thing *things, uint64_t *n_things, const struct peer_order *order,
                 struct peer_answer *answer)
{
    struct tq_bytes address = tq_bulk_address(bulk);
    struct thing *thing = &things[order->handle];
    MUST(order->handle < THINGS && *n_things < THINGS);
    switch (order->op) {
    case PEER_BLOCK:
        answer->handle = (*n_things)++;
        make_block(bulk, &things[answer->handle], order, answer);
        break;
    case PEER_FREE:
        tq_bulk_free(bulk, &thing->block);
        break;
    case PEER_PUBLISH:
        tq_block_publish(&thing->block, order->version);
        break;
    case PEER_SPOIL:
        thing->block.ptr[order->at] ^= 1;
        break;
    case PEER_EXPOSE:
        answer->handle = (*n_things)++;
        make_exposure(bulk, &things[answer->handle], order, answer);
        break;
    case PEER_UNEXPOSE:
        unexpose(thing, order, answer);
        break;
    case PEER_READ:
        read_it(bulk, order, answer);
        break;
    case PEER_STATS:
        tq_bulk_read_stats(bulk, &answer->stats);
        break;
    case PEER_ADDRESS:
        answer->address_len = (uint32_t)address.len;
        memcpy(answer->address, address.ptr, address.len);
        break;
    case PEER_FDS:
        answer->len = (uint64_t)peer_count_fds();
        break;
    }
}

static int serve(const char *mode)
{
    static struct thing things[THINGS];
    struct tq_bulk *bulk = NULL;
    struct tq_error err;
    uint64_t n_things = 0;
    struct peer_order order;
    struct peer_answer answer;
    const struct tq_bulk_opts opts = { .mode = TQ_BULK_REQUIRED, .tcp_only = strcmp(mode, "tcp") == 0 };
    enum tq_log_level level = TQ_LOG_WARN;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getenv("TQ_TEST_LOG") != NULL && tq_log_parse_level(getenv("TQ_TEST_LOG"), &level))
        tq_log_set_level(level);
    tq_environment_prepare();
    if (tq_bulk_open(&opts, &bulk, &err) != TQ_OK) {
        fprintf(stderr, "peer: %s\n", err.message);
        return 2;
    }
    while (receive_all(WIRE_FD, &order, sizeof(order))) {
        memset(&answer, 0, sizeof(answer));
        obey(bulk, things, &n_things, &order, &answer);
        send_all(WIRE_FD, &answer, sizeof(answer));
    }
    for (uint64_t i = 0; i < n_things; i++) {
        tq_bulk_free(bulk, &things[i].block);
        tq_bulk_unexpose(things[i].exposure, tq_deadline_after_ms(1000));
        free(things[i].heap);
    }
    tq_bulk_close(bulk);
    return 0;
}

void peer_main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--peer") == 0) {
        int code = serve(argv[2]);
        fflush(NULL);
        exit(code);
    }
}

/* ---- the test's side ---- */

void peer_start(struct peer *peer, const char *mode)
{
    int pair[2];
    char program[4096] = { 0 }, flag[] = "--peer", name[8];
    MUST(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0); /* its name: valgrind refuses the link itself */
    snprintf(name, sizeof(name), "%s", mode);
    char *argv[] = { program, flag, name, NULL };
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        if (dup2(pair[1], WIRE_FD) == WIRE_FD)
            execv(program, argv);
        _exit(127);
    }
    close(pair[1]);
    *peer = (struct peer){ .pid = pid, .wire = pair[0] };
    struct peer_answer answer;
    peer_order(peer, &(struct peer_order){ .op = PEER_ADDRESS }, &answer);
    memcpy(peer->address_bytes, answer.address, answer.address_len);
    peer->address = (struct tq_bytes){ peer->address_bytes, answer.address_len };
}

void peer_send(struct peer *peer, const struct peer_order *order)
{
    send_all(peer->wire, order, sizeof(*order));
}

void peer_hear(struct peer *peer, struct peer_answer *out_answer)
{
    MUST(receive_all(peer->wire, out_answer, sizeof(*out_answer)));
}

void peer_order(struct peer *peer, const struct peer_order *order, struct peer_answer *out_answer)
{
    peer_send(peer, order);
    peer_hear(peer, out_answer);
}

void peer_stop(struct peer *peer)
{
    int status = 0;
    close(peer->wire);
    MUST(waitpid(peer->pid, &status, 0) == peer->pid);
    if (status != 0)
        fprintf(stderr, "peer: status %#x\n", (unsigned)status);
    MUST(status == 0);
}

void peer_kill(struct peer *peer)
{
    kill(peer->pid, SIGKILL);
    MUST(waitpid(peer->pid, NULL, 0) == peer->pid);
    close(peer->wire);
}
