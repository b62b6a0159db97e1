/* The generator as a function of bytes, in process: requests that protoc made of some cases (the seeds of
 * generator_fuzz) are refused with their reason and no file, or give their files. */
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/generate.h"
#include "tools/protoc-gen-tq/shapes.h"
#include "transport/rpc/body.h"

_Static_assert((int)SHAPES_DEPTH_MAX <= (int)TQ_BODY_DEPTH, "the decoder must take what the generator takes");

enum { SEED_BYTES_MAX = 65536 };

struct fixture {
    struct pool pool;
    uint8_t bytes[SEED_BYTES_MAX];
    size_t len;
};

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state == NULL;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pool_fini(&fixture->pool);
    free(fixture);
    return 0;
}

static struct tq_bytes load(struct fixture *fixture, const char *seed)
{
    const char *source = getenv("TQ_SOURCE_DIR");
    char path[4096];
    assert_non_null(source);
    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/generator/%s", source, seed);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fixture->len = fread(fixture->bytes, 1, sizeof(fixture->bytes), file);
    fclose(file);
    assert_in_range(fixture->len, 1, SEED_BYTES_MAX - 1);
    return (struct tq_bytes){ fixture->bytes, fixture->len };
}

static ResponseProto *run(struct fixture *fixture, struct tq_bytes request)
{
    const struct generate_opts opts = { .skip_messages = true };
    struct tq_bytes bytes = generate(&fixture->pool, request, &opts);
    ResponseProto *response = google__protobuf__compiler__code_generator_response__unpack(NULL, bytes.len, bytes.ptr);
    assert_non_null(response);
    return response;
}

static void drop(ResponseProto *response)
{
    google__protobuf__compiler__code_generator_response__free_unpacked(response, NULL);
}

static void assert_refused(struct fixture *fixture, struct tq_bytes request, const char *reason)
{
    ResponseProto *response = run(fixture, request);
    assert_non_null(response->error);
    if (strstr(response->error, reason) == NULL)
        fail_msg("expected '%s' in '%s'", reason, response->error);
    assert_int_equal(response->n_file, 0);
    assert_true(response->supported_features & 1); /* or protoc refuses `optional` by itself, without a line */
    drop(response);
}

static void refusals_have_a_place_and_leave_no_file(void **state)
{
    static const struct {
        const char *seed, *reason;
    } refusals[] = {
        { "recursive_map",
          "recursive_map.proto:7: field case.recursive_map.Leaf.below makes a message contain itself" },
        { "optional", "optional.proto:8: field case.optional.Outer.Inner.maybe is proto3 optional" },
        { "duplicate_id", "duplicate_id.proto:10: rpc Drop has id 7 (0x0007), as has rpc Get at duplicate_id.proto:7" },
        { "clash_case_member", "its name in C, body_case, is also that of oneof" },
        { "waits_without_field", "has no field `uint32 max_wait_ms`" },
        { "stream_client", "stream_client.proto:7: rpc Push is streaming" },
        { "no_package", "no_package.proto:2: the file has no package" },
    };
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        assert_refused(*state, load(*state, refusals[i].seed), refusals[i].reason);
}

static void accepted_files_get_header_source_and_fuzz_targets(void **state)
{
    ResponseProto *response = run(*state, load(*state, "minimal"));
    static const char *names[] = { "minimal.tq.h", "minimal.tq.c", "case_minimal_ping_request_fuzz.c",
                                   "case_minimal_ping_dispatch_fuzz.c", "fuzz_targets.cmake" };
    assert_null(response->error);
    assert_int_equal(response->n_file, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(response->file[i]->name, names[i]);
    drop(response);
}

static void bytes_that_are_cut_off_are_refused_or_understood(void **state)
{
    struct fixture *fixture = *state;
    struct tq_bytes whole = load(fixture, "option_forms");
    size_t refused = 0;
    for (size_t len = 0; len < whole.len; len += 7) {
        uint8_t *exact = malloc(len + 1); /* so that a sanitizer sees a read past the end */
        assert_non_null(exact);
        memcpy(exact, whole.ptr, len);
        ResponseProto *response = run(fixture, (struct tq_bytes){ exact, len });
        refused += response->error != NULL;
        drop(response);
        free(exact);
    }
    assert_in_range(refused, whole.len / 7 / 2, whole.len);
}

/* 60,000 levels in 200 KB would end the process if protobuf-c saw them. */
static void deep_nesting_is_refused_before_it_is_unpacked(void **state)
{
    enum { LEVELS = 60000, ROOM = LEVELS * 5 };
    uint8_t *bytes = malloc(ROOM);
    assert_non_null(bytes);
    size_t begin = ROOM;
    for (size_t level = 0; level < LEVELS; level++) {
        size_t len = ROOM - begin;
        uint8_t head[5];
        size_t n = 0;
        head[n++] = level == LEVELS - 1 ? 0x7a : level == LEVELS - 2 ? 0x22 : 0x1a; /* proto_file, message, nested */
        for (; len >= 0x80; len >>= 7)
            head[n++] = (uint8_t)(len | 0x80);
        head[n++] = (uint8_t)len;
        begin -= n;
        memcpy(bytes + begin, head, n);
    }
    assert_refused(*state, (struct tq_bytes){ bytes + begin, ROOM - begin }, "nested more than");
    free(bytes);
}

static void an_unknown_parameter_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct tq_bytes bytes = load(fixture, "minimal");
    static const uint8_t parameter[] = { 0x12, 7, 'f', 'u', 'z', 'z', '=', 'n', 'o' }; /* the last one counts */
    memcpy(fixture->bytes + bytes.len, parameter, sizeof(parameter));
    bytes.len += sizeof(parameter);
    assert_refused(fixture, bytes, "parameter fuzz=no: expected fuzz=1, only_fuzz=1 or protoc_gen_c=PATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refusals_have_a_place_and_leave_no_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(accepted_files_get_header_source_and_fuzz_targets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_that_are_cut_off_are_refused_or_understood, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deep_nesting_is_refused_before_it_is_unpacked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_parameter_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
