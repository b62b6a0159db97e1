/* Runs a fuzz target over its committed corpus, once for each file, without a fuzzer: `NAME_replay FOLDER`.
 * A missing or empty folder is a failure: a replay of nothing proves nothing. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_BYTES_MAX = 16 << 20 };

/* Feeds exactly the file's bytes in a block of exactly that size, so that ASan sees a read past the end. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    struct stat st;
    int failed = fstat(fileno(file), &st) != 0 || st.st_size > FILE_BYTES_MAX;
    size_t size = failed ? 0 : (size_t)st.st_size;
    uint8_t *data = malloc(size ? size : 1);
    if (!data || failed || fread(data, 1, size, file) != size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        failed = 1;
    } else {
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    fclose(file);
    return failed;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    struct dirent **entries = NULL;
    int n = scandir(argv[1], &entries, is_visible, alphasort);
    if (n <= 0) {
        fprintf(stderr, "%s: no corpus here\n", argv[1]);
        free(entries);
        return 1;
    }
    int failed = LLVMFuzzerTestOneInput((const uint8_t *)"", 0) > 0;
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
        failed |= replay_file(path);
        free(entries[i]);
    }
    free(entries);
    printf("%d inputs\n", n);
    return failed;
}
