#include "server/storage/devices.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEVICE_NAME_MAX = 64 };

static bool is_loopback(const char *name)
{
    struct ifreq request = { .ifr_flags = 0 };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%.*s", IFNAMSIZ - 1, name);
    bool told = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
    close(fd);
    return told && (request.ifr_flags & IFF_LOOPBACK) != 0;
}

/* UCX names the port behind a colon: mlx5_0:1. */
static bool is_rdma_device(const char *name)
{
    char path[DEVICE_NAME_MAX + 32];
    size_t len = strcspn(name, ":");
    if (len == 0 || name[0] == '.' || memchr(name, '/', len) != NULL)
        return false;
    snprintf(path, sizeof(path), "/sys/class/infiniband/%.*s", (int)len, name);
    return access(path, F_OK) == 0;
}

static tq_status check_one(const char *name, bool insecure, struct tq_error *err)
{
    bool is_interface = strlen(name) < IFNAMSIZ && if_nametoindex(name) != 0;
    if (!is_interface && !is_rdma_device(name))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "DEVICE", "bulk devices: '%s': there is no such device", name);
    if (!insecure && !(is_interface && is_loopback(name)))
        return tq_fail(err, TQ_PERMISSION_DENIED, "INSECURE",
                       "bulk devices: '%s': only loopback without --insecure: UCX trusts whoever reaches it", name);
    return TQ_OK;
}

tq_status tq_devices_check(const char *devices, bool insecure, struct tq_error *err)
{
    for (const char *at = devices;; at++) {
        char name[DEVICE_NAME_MAX];
        size_t len = strcspn(at, ",");
        if (len >= sizeof(name))
            return tq_fail(err, TQ_INVALID_ARGUMENT, "DEVICE", "bulk devices: '%.64s': there is no such device", at);
        memcpy(name, at, len);
        name[len] = '\0';
        tq_status status = check_one(name, insecure, err);
        at += len;
        if (status != TQ_OK || *at == '\0')
            return status;
    }
}
