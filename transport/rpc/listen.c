#include "transport/rpc/listen.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

enum { HIGH_WATER = 8192, HEARTBEAT_MS = 10000, HEARTBEAT_TIMEOUT_MS = 30000 };

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* libzmq cuts ports to 16 bits without a word. */
static bool port_is_valid(const char *address)
{
    const char *port = strrchr(address, ':') + 1;
    char *end;
    if (strcmp(port, "*") == 0)
        return true;
    if (*port < '0' || *port > '9')
        return false;
    unsigned long number = strtoul(port, &end, 10);
    return *end == 0 && number <= 65535;
}

bool tq_address_is_valid(const char *address)
{
    if (address == NULL)
        return false;
    if (starts_with(address, "ipc://"))
        return address[strlen("ipc://")] != 0;
    const char *host = starts_with(address, "tcp://") ? address + strlen("tcp://") : "";
    return strchr(host, ':') > host && port_is_valid(host);
}

bool tq_listen_is_local(const char *address)
{
    static const char *const local[] = { "ipc://", "tcp://127.", "tcp://[::1]:", "tcp://localhost:", "tcp://lo:" };
    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
        if (starts_with(address, local[i]))
            return true;
    return false;
}

/* libzmq would take the path from a living server without a word. */
static bool somebody_listens_at(const char *path)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(name.sun_path))
        return false;
    memcpy(name.sun_path, path, len);
    if (path[0] == '@')
        name.sun_path[0] = 0; /* abstract */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (path[0] != '@'));
    bool connected = connect(fd, (struct sockaddr *)&name, size) == 0 || errno == EAGAIN;
    close(fd);
    return connected;
}

static tq_status check_address(const char *address, bool insecure, struct tq_error *err)
{
    if (!tq_address_is_valid(address))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ADDRESS", "listen '%s': expected tcp://HOST:PORT or ipc://PATH",
                       address != NULL ? address : "");
    if (!insecure && !tq_listen_is_local(address))
        return tq_fail(err, TQ_PERMISSION_DENIED, "INSECURE",
                       "listen '%s': only loopback and unix sockets without the insecure option: there is no TLS yet",
                       address);
    if (starts_with(address, "ipc://") && somebody_listens_at(address + strlen("ipc://")))
        return tq_fail(err, TQ_UNAVAILABLE, "ADDRESS_IN_USE", "listen '%s': another server lives there", address);
    return TQ_OK;
}

/* IPv6 only where it is asked for: with it an IPv4 address would come back mapped into IPv6. */
static bool set_options(void *router, const char *address, uint64_t max_frame_bytes)
{
    int64_t max_frame = (int64_t)max_frame_bytes;
    return zmq_setsockopt(router, ZMQ_MAXMSGSIZE, &max_frame, sizeof(max_frame)) == 0 &&
           tq_zmq_set_int(router, ZMQ_ROUTER_MANDATORY, 1) && tq_zmq_set_int(router, ZMQ_LINGER, 0) &&
           tq_zmq_set_int(router, ZMQ_SNDHWM, HIGH_WATER) && tq_zmq_set_int(router, ZMQ_RCVHWM, HIGH_WATER) &&
           tq_zmq_set_int(router, ZMQ_BACKLOG, TQ_ZMQ_BACKLOG) &&
           tq_zmq_set_int(router, ZMQ_HANDSHAKE_IVL, TQ_ZMQ_HANDSHAKE_MS) &&
           tq_zmq_set_int(router, ZMQ_IPV6, strchr(address, '[') != NULL) &&
           tq_zmq_set_int(router, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS) &&
           tq_zmq_set_int(router, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS);
}

tq_status tq_listen(void *zmq_context, const char *address, bool insecure, uint64_t max_frame_bytes, void **out_router,
                    char *out_address, struct tq_error *err)
{
    size_t size = TQ_ADDRESS_BYTES;
    tq_status status = check_address(address, insecure, err);
    if (status != TQ_OK)
        return status;
    void *router = zmq_socket(zmq_context, ZMQ_ROUTER);
    if (router == NULL || !set_options(router, address, max_frame_bytes)) {
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SOCKET", "listen '%s': %s", address, zmq_strerror(errno));
    } else if (zmq_bind(router, address) != 0) {
        status = tq_fail(err, errno == EADDRINUSE ? TQ_UNAVAILABLE : TQ_INVALID_ARGUMENT,
                         errno == EADDRINUSE ? "ADDRESS_IN_USE" : "ADDRESS", "listen '%s': %s", address,
                         zmq_strerror(errno));
    } else if (zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, out_address, &size) != 0) {
        status = tq_fail(err, TQ_INVALID_ARGUMENT, "ADDRESS", "listen '%s': %s", address, zmq_strerror(errno));
    }
    if (status != TQ_OK) {
        if (router != NULL)
            zmq_close(router);
        return status;
    }
    *out_router = router;
    return TQ_OK;
}
