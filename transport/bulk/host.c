#include "transport/bulk/host.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/base/crc32c.h"

static size_t read_text(const char *path, char *text, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, cap - 1);
    close(fd);
    size_t len = got > 0 ? (size_t)got : 0;
    text[len] = '\0';
    return len;
}

uint64_t tq_host_digest(void)
{
    char boot_id[64];
    struct stat pids;
    size_t len = read_text("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
    if (len == 0 || stat("/proc/self/ns/pid", &pids) != 0)
        return 0;
    uint64_t inode = (uint64_t)pids.st_ino;
    uint32_t low = tq_crc32c_extend(tq_crc32c(boot_id, len), &inode, sizeof(inode));
    uint32_t high = tq_crc32c_extend(tq_crc32c(&inode, sizeof(inode)), boot_id, len);
    return (uint64_t)high << 32 | low | 1;
}

uint64_t tq_host_start_time(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (read_text(path, text, sizeof(text)) == 0)
        return 0;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

int tq_host_watch(pid_t pid, uint64_t start_time)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return -1;
    if (start_time != 0 && tq_host_start_time(pid) == start_time) /* asked while the descriptor pins the pid */
        return fd;
    close(fd);
    return -1;
}
