/* protoc-gen-tq: a plugin of protoc that writes C for messages and services.
 *
 *     protoc --plugin=protoc-gen-tq=PATH --tq_out=[PARAMETER,...:]DIR foo.proto
 *
 * For foo.proto it writes foo.pb-c.{h,c}, by protoc-gen-c, and foo.tq.{h,c}: stubs, vtables and tables for its
 * services. What it cannot turn into C that compiles and is safe it refuses with file, line and reason, and writes
 * nothing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/protoc-gen-tq/generate.h"
#include "tools/protoc-gen-tq/text.h"

#define VERSION "0.1.0"

static bool read_input(struct text *out)
{
    char buffer[65536];
    size_t n;
    while ((n = fread(buffer, 1, sizeof(buffer), stdin)) > 0)
        text_add_bytes(out, buffer, n);
    return ferror(stdin) == 0;
}

static int run(struct pool *pool)
{
    struct text input = { .pool = pool };
    const struct generate_opts opts = { 0 };
    if (!read_input(&input)) {
        fprintf(stderr, "protoc-gen-tq: cannot read the request: %s\n", strerror(errno));
        return 1;
    }
    struct tq_bytes request = { (const uint8_t *)text_peek(&input), input.len };
    struct tq_bytes response = generate(pool, request, &opts);
    if (fwrite(response.ptr, 1, response.len, stdout) == response.len && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "protoc-gen-tq: cannot write the response: %s\n", strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    struct pool pool = { 0 };
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("protoc-gen-tq " VERSION);
        return 0;
    }
    if (argc != 1) {
        fputs("protoc-gen-tq: a plugin of protoc: it takes no arguments and reads a request from standard input\n",
              stderr);
        return 2;
    }
    int code = run(&pool);
    pool_fini(&pool);
    return code;
}
