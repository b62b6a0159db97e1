#include "tools/protoc-gen-tq/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/protoc-gen-tq/text.h"

extern char **environ;

static bool write_all(int fd, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* A file in memory, so that no pipe can fill up while the child still reads. Returns -1 on failure. */
static int request_file(struct pool *pool, const RequestProto *request)
{
    size_t len = google__protobuf__compiler__code_generator_request__get_packed_size(request);
    uint8_t *bytes = pool_zalloc(pool, len + 1);
    google__protobuf__compiler__code_generator_request__pack(request, bytes);
    int fd = memfd_create("protoc-gen-tq request", MFD_CLOEXEC);
    if (fd >= 0 && write_all(fd, bytes, len) && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Returns 0 or what posix_spawnp said. */
static int start(const char *program, int input, int output, pid_t *out_pid)
{
    posix_spawn_file_actions_t actions;
    char *argv[] = { (char *)program, NULL };
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(out_pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void read_all(int fd, struct text *out)
{
    char buffer[16384];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
        if (n > 0)
            text_add_bytes(out, buffer, (size_t)n);
        else if (errno != EINTR)
            break;
    }
}

static bool wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool run(const char *program, int input, struct text *out, struct refusal *refusal)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return refuse(refusal, "cannot make a pipe to %s: %s", program, strerror(errno));
    int error = start(program, input, ends[1], &pid);
    close(ends[1]);
    if (error == 0)
        read_all(ends[0], out);
    close(ends[0]);
    if (error != 0)
        return refuse(refusal,
                      "cannot run %s: %s (Debian has it in protobuf-c-compiler; the parameter protoc_gen_c=PATH "
                      "names another one)",
                      program, strerror(error));
    return wait_for(pid) || refuse(refusal, "%s failed", program);
}

ResponseProto *chain_run(struct pool *pool, const char *program, const RequestProto *request, struct refusal *refusal)
{
    struct text out = { .pool = pool };
    int input = request_file(pool, request);
    if (input < 0) {
        refuse(refusal, "cannot hand the request to %s: %s", program, strerror(errno));
        return NULL;
    }
    bool ran = run(program, input, &out, refusal);
    close(input);
    if (!ran)
        return NULL;
    ProtobufCAllocator allocator = pool_allocator(pool);
    ResponseProto *response = google__protobuf__compiler__code_generator_response__unpack(
        &allocator, out.len, (const uint8_t *)text_peek(&out));
    if (response == NULL)
        refuse(refusal, "%s gave no valid response", program);
    else if (response->error != NULL)
        refuse(refusal, "%s: %s", program, response->error);
    return refusal->text[0] == '\0' ? response : NULL;
}
