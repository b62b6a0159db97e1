/* tq-storage from outside: what it prints, how it ends, what a wrong command line gets. */
#include <ifaddrs.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tests/server/storage/child.h"
#include "tests/support/cmocka_all.h"

enum { MANY = 12, FEW_DESCRIPTORS = 200 };

static void it_says_ready_and_drains_on_either_signal(void **state)
{
    static const int signals[] = { SIGTERM, SIGINT };
    const char *const args[] = { "--log-level", "off", "--memory", "16MiB", NULL };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct child child;
        child_start_merged(&child, "tq-storage", args);
        child_wait_ready(&child);
        assert_memory_equal(child.address, "tcp://", 6);
        assert_int_equal(child_end(&child, signals[i]), 0);
    }
}

/* One line on stderr and the exit code. */
static void refuses(const char *const *args, int code, const char *says)
{
    struct child child;
    char line[600], more[600];
    child_start_merged(&child, "tq-storage", args);
    assert_true(child_read_line(&child, line, sizeof(line)));
    if (strncmp(line, says, strlen(says)) != 0)
        fail_msg("'%s'; expected '%s'", line, says);
    assert_false(child_read_line(&child, more, sizeof(more)));
    assert_int_equal(child_wait(&child), code);
}

static void a_wrong_command_line_gets_one_line_and_exit_code_2(void **state)
{
    static const struct {
        const char *args[6];
        const char *says;
    } cases[] = {
        { { "--memory", "1" }, "tq-storage: --memory: '1': expected 65536 to" },
        { { "--memory" }, "tq-storage: --memory: a value must follow" },
        { { "--bulk", "yes" }, "tq-storage: --bulk: 'yes': expected auto|off|required" },
        { { "--nope" }, "tq-storage: --nope: no such flag" },
        { { "operand" }, "tq-storage: 'operand': expected flags only" },
        { { "--cluster-id", "12", "--log-level", "off" },
          "tq-storage: --cluster-id: '12': expected 32 hexadecimal digits" },
        { { "--listen", "nowhere" }, "tq-storage: listen 'nowhere'" },
        { { "--listen", "tcp://0.0.0.0:0" }, "tq-storage: listen 'tcp://0.0.0.0:0': only loopback" },
        { { "--listen", "tcp://127.0.0.1:99999" }, "tq-storage: listen 'tcp://127.0.0.1:99999'" },
        { { "--controller", "nowhere" }, "tq-storage: controller: 'nowhere': expected tcp://HOST:PORT" },
        { { "--advertise", "nowhere" }, "tq-storage: advertise: 'nowhere': expected tcp://HOST:PORT" },
        { { "--bulk-devices", "tqnone0" }, "tq-storage: bulk devices: 'tqnone0': there is no such device" },
        { { "--bulk-devices", "lo,tqnone0" }, "tq-storage: bulk devices: 'tqnone0': there is no such device" },
        { { "--bulk-devices", "tqnone0", "--insecure" }, "tq-storage: bulk devices: 'tqnone0': there is no" },
        { { "--bulk-devices", "lo," }, "tq-storage: bulk devices: '': there is no such device" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refuses(cases[i].args, 2, cases[i].says);
}

/* UCX trusts whoever reaches it: beyond this machine only when that is asked for. */
static void other_devices_than_loopback_need_insecure(void **state)
{
    char device[64] = "", says[160];
    struct ifaddrs *all;
    (void)state;
    assert_int_equal(getifaddrs(&all), 0);
    for (const struct ifaddrs *one = all; one != NULL && device[0] == '\0'; one = one->ifa_next)
        if ((one->ifa_flags & IFF_LOOPBACK) == 0)
            snprintf(device, sizeof(device), "%s", one->ifa_name);
    freeifaddrs(all);
    if (device[0] == '\0')
        skip(); /* a machine with loopback only */
    const char *const args[] = { "--bulk-devices", device, NULL };
    snprintf(says, sizeof(says), "tq-storage: bulk devices: '%s': only loopback", device);
    refuses(args, 2, says);
}

static void a_daemon_may_open_all_descriptors_that_it_can_have(void **state)
{
    static const char *const programs[] = { "tq-storage", "tq-controller" };
    const char *const args[] = { "--log-level", "info", "--listen", "tcp://127.0.0.1:0", NULL };
    struct rlimit before, of_child;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(before.rlim_max > FEW_DESCRIPTORS);
    for (size_t i = 0; i < 2; i++) {
        struct child child;
        char line[600] = "", wanted[64];
        const struct rlimit few = { FEW_DESCRIPTORS, before.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        child_start_merged(&child, programs[i], args);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        while (strstr(line, "event=ready") == NULL)
            assert_true(child_read_line(&child, line, sizeof(line)));
        snprintf(wanted, sizeof(wanted), " descriptors=%llu", (unsigned long long)before.rlim_max);
        assert_non_null(strstr(line, wanted));
        assert_int_equal(prlimit(child.pid, RLIMIT_NOFILE, NULL, &of_child), 0);
        assert_int_equal(of_child.rlim_cur, before.rlim_max);
        assert_int_equal(child_end(&child, SIGTERM), 0);
    }
}

static void a_taken_port_is_said_at_start(void **state)
{
    const char *const args[] = { "--log-level", "off", "--bulk", "off", NULL };
    struct child first;
    char listen[64];
    (void)state;
    child_start(&first, "tq-storage", args);
    child_wait_ready(&first);
    snprintf(listen, sizeof(listen), "tcp://127.0.0.1%s", strrchr(first.address, ':'));
    const char *const same[] = { "--log-level", "off", "--bulk", "off", "--listen", listen, NULL };
    refuses(same, 1, "tq-storage: ");
    assert_int_equal(child_end(&first, SIGTERM), 0);
}

static void many_units_find_free_ports_at_once(void **state)
{
    const char *const args[] = { "--log-level", "off", "--bulk", "off", "--memory", "1MiB", NULL };
    struct child units[MANY];
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        child_start(&units[i], "tq-storage", args);
    for (size_t i = 0; i < MANY; i++) {
        child_wait_ready(&units[i]);
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(units[i].address, units[other].address);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(child_end(&units[i], SIGTERM), 0);
}

static void help_goes_to_stdout(void **state)
{
    const char *const args[] = { "--help", NULL };
    struct child child;
    char line[300];
    bool has_memory = false;
    (void)state;
    child_start(&child, "tq-storage", args);
    while (child_read_line(&child, line, sizeof(line)))
        has_memory = has_memory || strstr(line, "--memory BYTES") != NULL;
    assert_true(has_memory);
    assert_int_equal(child_wait(&child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_ready_and_drains_on_either_signal),
        cmocka_unit_test(a_wrong_command_line_gets_one_line_and_exit_code_2),
        cmocka_unit_test(other_devices_than_loopback_need_insecure),
        cmocka_unit_test(a_daemon_may_open_all_descriptors_that_it_can_have),
        cmocka_unit_test(a_taken_port_is_said_at_start),
        cmocka_unit_test(many_units_find_free_ports_at_once),
        cmocka_unit_test(help_goes_to_stdout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
