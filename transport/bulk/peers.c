#include <sys/epoll.h>
#include <unistd.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/bulk/copier.h"
#include "transport/bulk/runtime.h"

enum { FIRST_SWEEP = 64 };

static const int64_t silence_ns = INT64_C(500000000); /* a stopped owner pays it, too: a reconnect, no more */
static const int64_t avoid_shm_ns = INT64_C(30000000000);

struct view {
    struct tq_view *handle;
    const uint8_t *ptr;
    uint64_t region, length;
};

/* ---- death ---- */

void tq_party_watch(struct tq_party *party, const tq_wire_BulkAddress *address)
{
    struct tq_bulk *bulk = party->bulk;
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = party };
    party->watch_fd = tq_address_prove_local(address, &bulk->self);
    if (party->watch_fd < 0 || epoll_ctl(bulk->loop.deaths_fd, EPOLL_CTL_ADD, party->watch_fd, &event) == 0)
        return;
    close(party->watch_fd);
    party->watch_fd = -1;
}

void tq_party_unwatch(struct tq_party *party)
{
    if (party->watch_fd < 0)
        return;
    (void)epoll_ctl(party->bulk->loop.deaths_fd, EPOLL_CTL_DEL, party->watch_fd, NULL);
    close(party->watch_fd);
    party->watch_fd = -1;
}

void tq_party_died(struct tq_party *party)
{
    struct tq_bulk *bulk = party->bulk;
    tq_party_unwatch(party);
    if (party->caller != NULL) {
        tq_owner_failed(&bulk->loop.owner, party->caller);
        return;
    }
    struct tq_error why;
    (void)tq_fail(&why, TQ_UNAVAILABLE, "PEER_DIED", "process %u has ended", (unsigned)party->peer->address.pid);
    party->peer->dead = true;
    tq_reader_failed(&bulk->loop.reader, &party->peer->link, &why);
}

/* ---- peers ---- */

struct tq_peer *tq_peer_find(struct tq_bulk *bulk, const tq_wire_BulkAddress *address)
{
    struct tq_peer *peer = tq_map_get(&bulk->loop.peers, address->process);
    if (peer != NULL)
        return peer;
    peer = tq_seam_alloc(bulk->seam, sizeof(*peer));
    if (peer == NULL)
        return NULL;
    peer->party = (struct tq_party){ .bulk = bulk, .watch_fd = -1, .peer = peer };
    peer->process = address->process;
    peer->address = *address;
    peer->sweep_at = FIRST_SWEEP;
    tq_map_init(&peer->views, bulk->seam);
    if (!tq_map_put(&bulk->loop.peers, peer->process, peer)) {
        tq_map_fini(&peer->views);
        tq_seam_free(bulk->seam, peer);
        return NULL;
    }
    tq_party_watch(&peer->party, address);
    bool shares_memory = peer->party.watch_fd >= 0 && (address->features & bulk->self.features & TQ_ADDRESS_SHM) != 0;
    tq_link_init(&peer->link, shares_memory ? &tq_pace_shm : &tq_pace_tcp);
    return peer;
}

static void view_close(struct tq_peer *peer, struct view *view)
{
    (void)tq_map_remove(&peer->views, view->region);
    tq_view_close(view->handle);
    tq_seam_free(peer->party.bulk->seam, view);
}

static void peer_close(struct tq_peer *peer)
{
    struct tq_bulk *bulk = peer->party.bulk;
    size_t cursor = 0;
    for (struct view *view; (view = tq_map_next(&peer->views, &cursor)) != NULL; cursor = 0)
        view_close(peer, view);
    tq_map_fini(&peer->views);
    tq_mapper_close(peer->mapper);
    tq_party_unwatch(&peer->party);
    (void)tq_map_remove(&bulk->loop.peers, peer->process);
    tq_seam_free(bulk->seam, peer);
}

/* A peer without link may be forgotten; while its process lives and its extents are mapped, keeping it saves work. */
static bool is_forgettable(const struct tq_peer *peer, bool all)
{
    if (peer->link.state != TQ_LINK_DOWN || !tq_link_is_idle(&peer->link) || peer->copying > 0)
        return false;
    return all || peer->dead || tq_map_count(&peer->views) == 0;
}

void tq_peers_sweep(struct tq_bulk *bulk, bool all)
{
    size_t cursor = 0;
    for (struct tq_peer *peer; (peer = tq_map_next(&bulk->loop.peers, &cursor)) != NULL;)
        if (is_forgettable(peer, all)) {
            peer_close(peer);
            cursor = 0; /* the map has changed */
        }
}

static void listen_to(struct tq_peer *peer, int64_t now_ns)
{
    struct tq_bulk *bulk = peer->party.bulk;
    struct tq_error why;
    if (peer->avoid_shm_until_ns == 0 && peer->link.pace == &tq_pace_shm && peer->address.port != 0 &&
        tq_link_is_silent(&peer->link, now_ns, silence_ns)) {
        peer->avoid_shm_until_ns = now_ns + avoid_shm_ns;
        (void)tq_fail(&why, TQ_UNAVAILABLE, "SILENT", "no answer over shared memory");
        tq_reader_failed(&bulk->loop.reader, &peer->link, &why);
    } else if (peer->avoid_shm_until_ns != 0 && now_ns > peer->avoid_shm_until_ns && tq_link_is_idle(&peer->link)) {
        peer->avoid_shm_until_ns = 0;
        tq_reader_cancel(&bulk->loop.reader, &peer->link);
    }
}

void tq_peers_listen(struct tq_bulk *bulk, int64_t now_ns)
{
    size_t cursor = 0;
    for (struct tq_peer *peer; (peer = tq_map_next(&bulk->loop.peers, &cursor)) != NULL;)
        listen_to(peer, now_ns);
}

/* ---- views ---- */

/* Extents that their owner has given back show zeroes: their views are dropped. */
static void sweep_views(struct tq_peer *peer)
{
    size_t cursor = 0;
    if (tq_map_count(&peer->views) < peer->sweep_at || peer->copying > 0)
        return;
    for (struct view *view; (view = tq_map_next(&peer->views, &cursor)) != NULL;)
        if (((const struct tq_extent_header *)(const void *)view->ptr)->magic != TQ_EXTENT_MAGIC) {
            view_close(peer, view);
            cursor = 0;
        }
    peer->sweep_at = 2 * tq_map_count(&peer->views) + FIRST_SWEEP;
}

static bool open_mapper(struct tq_peer *peer)
{
    struct tq_bulk *bulk = peer->party.bulk;
    struct tq_error why;
    const struct tq_bytes reader = { peer->address.reader.bytes, peer->address.reader.size };
    if (peer->mapper != NULL)
        return true;
    if (peer->mapper_failed || peer->party.watch_fd < 0) /* not proved to be on this machine */
        return false;
    if (tq_mapper_open(bulk->ucx, reader, &peer->mapper, &why) == TQ_OK)
        return true;
    peer->mapper_failed = true;
    tq_info("bulk-no-remote-read", "pid=%u why=\"%s\"", (unsigned)peer->address.pid, why.message);
    return false;
}

static struct view *open_view(struct tq_peer *peer, const struct tq_region *region)
{
    struct tq_bulk *bulk = peer->party.bulk;
    tq_wire_BulkKey key;
    struct tq_error why;
    struct view *view = NULL;
    if (region->key.len == 0 || tq_key_decode(region->key, peer->process, region->id, &key, &why) != TQ_OK ||
        key.base != region->base || region->length > key.length || !open_mapper(peer))
        return NULL;
    view = tq_seam_alloc(bulk->seam, sizeof(*view));
    if (view == NULL)
        return NULL;
    *view = (struct view){ .region = region->id, .length = key.length };
    const struct tq_bytes packed = { key.packed.bytes, key.packed.size };
    if (tq_view_open(peer->mapper, packed, key.base, &view->handle, &view->ptr, &why) != TQ_OK ||
        !tq_map_put(&peer->views, view->region, view)) {
        tq_view_close(view->handle);
        tq_seam_free(bulk->seam, view);
        return NULL;
    }
    return view;
}

tq_status tq_peer_map_sources(struct tq_peer *peer, struct tq_transfer *transfer, struct tq_error *err)
{
    sweep_views(peer); /* before the transfer points to any */
    for (size_t i = 0; i < transfer->n_sources; i++) {
        struct tq_source *source = &transfer->sources[i];
        if (source->region.kind != TQ_REGION_ARENA || peer->dead)
            continue;
        struct view *view = tq_map_get(&peer->views, source->region.id);
        if (view == NULL)
            view = open_view(peer, &source->region);
        if (view == NULL)
            continue;
        tq_status status = tq_copier_check_view(view->ptr, view->length, &source->region, err);
        if (status != TQ_OK)
            return status;
        source->view = view->ptr;
    }
    return TQ_OK;
}
