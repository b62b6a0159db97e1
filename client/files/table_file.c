#include "client/files/table_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/column.h"
#include "client/files/npy.h"
#include "client/files/safetensors.h"
#include "client/meta.h"

enum format { FORMAT_NONE, FORMAT_SAFETENSORS, FORMAT_NPY };

static bool ends_with(const char *text, const char *end)
{
    size_t text_len = strlen(text), end_len = strlen(end);
    return text_len > end_len && strcmp(text + text_len - end_len, end) == 0;
}

static enum format format_of(const char *path)
{
    if (ends_with(path, ".safetensors"))
        return FORMAT_SAFETENSORS;
    return ends_with(path, ".npy") ? FORMAT_NPY : FORMAT_NONE;
}

tq_status tq_table_file_check_name(const char *path, struct tq_error *err)
{
    if (format_of(path) == FORMAT_NONE)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%s: expected a name that ends in .safetensors or .npy", path);
    return TQ_OK;
}

static tq_status fail_system(struct tq_error *err, const char *path)
{
    int number = errno;
    tq_status status = number == ENOENT ? TQ_NOT_FOUND : number == EACCES ? TQ_PERMISSION_DENIED : TQ_UNAVAILABLE;
    return tq_fail(err, status, "FILE", "%s: %s", path, strerror(number));
}

/* ---- read ---- */

static tq_status read_bytes(const char *path, struct tq_table_file *file, struct tq_error *err)
{
    FILE *stream = fopen(path, "rb");
    struct stat info;
    if (stream == NULL)
        return fail_system(err, path);
    tq_status status = TQ_OK;
    if (fstat(fileno(stream), &info) != 0) {
        status = fail_system(err, path);
    } else if (!S_ISREG(info.st_mode)) {
        status = tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%s is no regular file", path);
    } else {
        file->len = (size_t)info.st_size;
        file->bytes = malloc(file->len + 1);
        if (file->bytes == NULL)
            status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "%s: no memory for %zu bytes", path, file->len);
        else if (fread(file->bytes, 1, file->len, stream) != file->len)
            status = tq_fail(err, TQ_DATA_LOSS, "FILE_READ", "%s: shorter than its %zu bytes", path, file->len);
    }
    fclose(stream);
    return status;
}

/* The name of the only column of a .npy file: the file's own. */
static void name_of(const char *path, char *name, size_t room)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    snprintf(name, room, "%.*s", (int)(strlen(base) - strlen(".npy")), base);
}

static tq_status parse(const char *path, struct tq_table_file *file, struct tq_error *err)
{
    struct tq_bytes bytes = { file->bytes, file->len };
    if (format_of(path) == FORMAT_SAFETENSORS)
        return tq_safetensors_parse(bytes, file->arena, &file->batch, err);
    char name[TQ_NAME_BYTES_MAX + 1];
    name_of(path, name, sizeof(name));
    return tq_npy_parse(bytes, name, file->arena, &file->batch, err);
}

static void prefix(struct tq_error *err, const char *path)
{
    if (err == NULL)
        return;
    struct tq_error inner = *err;
    tq_fail(err, inner.status, inner.reason, "%s: %s", path, inner.message);
}

tq_status tq_table_file_read(const char *path, struct tq_table_file *out_file, struct tq_error *err)
{
    *out_file = (struct tq_table_file){ 0 };
    tq_status status = tq_table_file_check_name(path, err);
    if (status == TQ_OK)
        status = read_bytes(path, out_file, err);
    if (status == TQ_OK && (out_file->arena = tq_arena_open(NULL, SIZE_MAX)) == NULL)
        status = tq_fail_no_memory(err);
    if (status == TQ_OK) {
        status = parse(path, out_file, err);
        if (status != TQ_OK)
            prefix(err, path);
    }
    if (status != TQ_OK)
        tq_table_file_drop(out_file);
    return status;
}

void tq_table_file_drop(struct tq_table_file *file)
{
    free(file->bytes);
    tq_arena_close(file->arena);
    *file = (struct tq_table_file){ 0 };
}

/* ---- write ---- */

static tq_status write_stream(const char *path, FILE *stream, const struct tq_batch *batch, struct tq_error *err)
{
    tq_status status = format_of(path) == FORMAT_SAFETENSORS ? tq_safetensors_write(stream, batch, err)
                                                             : tq_npy_write(stream, batch, err);
    bool flushed = fflush(stream) == 0;
    bool closed = fclose(stream) == 0;
    if (status == TQ_OK && !(flushed && closed))
        status = fail_system(err, path);
    return status;
}

tq_status tq_table_file_write(const char *path, const struct tq_batch *batch, struct tq_error *err)
{
    tq_status status = tq_table_file_check_name(path, err);
    char *temporary = NULL;
    if (status == TQ_OK && asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return tq_fail_no_memory(err);
    if (status != TQ_OK)
        return status;
    int fd = mkstemp(temporary);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (stream == NULL) {
        status = fail_system(err, path);
        if (fd >= 0)
            close(fd);
    } else {
        (void)fchmod(fd, 0644);
        status = write_stream(path, stream, batch, err);
        if (status == TQ_OK && rename(temporary, path) != 0)
            status = fail_system(err, path);
    }
    if (status != TQ_OK && fd >= 0)
        (void)unlink(temporary);
    free(temporary);
    return status;
}
