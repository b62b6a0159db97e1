/* tq_init: the environment that UCX reads, once, without overriding what the user has set. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tq/init.h"

/* Each of these keeps a process alive: see docs/decisions/0014 and docs/security.md. */
static void what_ucx_needs_is_set_and_the_user_has_the_last_word(void **state)
{
    (void)state;
    static const char *const needed[] = { "UCX_POSIX_ERROR_HANDLING", "UCX_HANDLE_ERRORS", "UCX_TCP_PUT_ENABLE",
                                          "UCX_WARN_UNUSED_ENV_VARS" };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        unsetenv(needed[i]);
    setenv("UCX_KEEPALIVE_INTERVAL", "123ms", 1);
    assert_int_equal(tq_init(NULL), TQ_OK);
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (getenv(needed[i]) == NULL)
            fail_msg("%s is not set", needed[i]);
    assert_string_equal(getenv("UCX_TCP_PUT_ENABLE"), "n");
    assert_string_equal(getenv("UCX_KEEPALIVE_INTERVAL"), "123ms");
    assert_int_equal(tq_init(NULL), TQ_OK);
    assert_false(tq_forked());
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_ucx_needs_is_set_and_the_user_has_the_last_word) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
