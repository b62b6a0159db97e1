/* Floors of the bulk suite: the copy, and a raw TCP stream. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/tq-bench/bulk.h"

enum { SOCKET_BUFFER = 4 << 20 };

static double gb_per_s(int64_t begun_ns)
{
    return (double)BULK_BYTES / (double)(tq_now_ns() - begun_ns);
}

double bulk_copy(uint8_t *to, const uint8_t *from, size_t piece)
{
    int64_t begun_ns = tq_now_ns();
    for (size_t at = 0; at < BULK_BYTES; at += piece)
        memcpy(to + at, from + at, piece);
    return gb_per_s(begun_ns);
}

static void set_buffers(int fd)
{
    const int bytes = SOCKET_BUFFER;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

struct stream {
    int listener;
    const uint8_t *from;
};

/* The reader names its piece, eight bytes, and gets BULK_BYTES in pieces. */
static void serve_stream(int fd, const uint8_t *from)
{
    for (uint64_t piece; recv(fd, &piece, sizeof(piece), MSG_WAITALL) == sizeof(piece) && piece > 0;)
        for (size_t at = 0; at < BULK_BYTES;) {
            size_t len = BULK_BYTES - at < piece ? BULK_BYTES - at : (size_t)piece;
            ssize_t sent = send(fd, from + at, len, MSG_NOSIGNAL);
            if (sent <= 0)
                return;
            at += (size_t)sent;
        }
}

static void *serve_streams(void *arg)
{
    struct stream *stream = arg;
    for (;;) {
        int fd = accept(stream->listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        set_buffers(fd);
        serve_stream(fd, stream->from);
        close(fd);
    }
}

bool bulk_tcp_serve(const uint8_t *from)
{
    static struct stream stream;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    pthread_t thread;
    stream = (struct stream){ socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), from };
    set_buffers(stream.listener);
    if (bind(stream.listener, (const struct sockaddr *)&at, len) != 0 || listen(stream.listener, 8) != 0 ||
        getsockname(stream.listener, (struct sockaddr *)&at, &len) != 0 ||
        pthread_create(&thread, NULL, serve_streams, &stream) != 0) {
        fprintf(stderr, "tq-bench: raw TCP: %s\n", strerror(errno));
        return false;
    }
    pthread_detach(thread);
    printf("%u\n", (unsigned)ntohs(at.sin_port));
    return true;
}

int bulk_tcp_connect(uint16_t port)
{
    const struct sockaddr_in at = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    set_buffers(fd);
    if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    fprintf(stderr, "tq-bench: raw TCP: %s\n", strerror(errno));
    close(fd);
    return -1;
}

double bulk_tcp_read(int fd, uint8_t *to, size_t piece)
{
    const uint64_t wanted = piece;
    int64_t begun_ns = tq_now_ns();
    if (send(fd, &wanted, sizeof(wanted), MSG_NOSIGNAL) != sizeof(wanted))
        return 0;
    for (size_t at = 0; at < BULK_BYTES;) {
        size_t len = BULK_BYTES - at < piece ? BULK_BYTES - at : piece;
        ssize_t got = recv(fd, to + at, len, 0);
        if (got <= 0)
            return 0;
        at += (size_t)got;
    }
    return gb_per_s(begun_ns);
}
