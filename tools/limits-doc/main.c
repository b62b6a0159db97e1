/* limits-doc: prints docs/limits.md from the tables of limits that the daemons obey. A test compares the committed
 * page. */
#include <inttypes.h>
#include <stdio.h>

#include "server/controller/limits.h"
#include "server/storage/limits.h"

static void print_row(const char *name, uint64_t initial, uint64_t min, uint64_t max, const char *help)
{
    printf("| `%s` | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %s |\n", name, initial, min, max, help);
}

#define PRINT_ROW(name, initial, min, max, help) print_row(#name, initial, min, max, help);

static void print_heading(const char *title, const char *about)
{
    printf("\n## %s\n\n%s\n\n| limit | default | least | most | bounds |\n|---|---|---|---|---|\n", title, about);
}

int main(void)
{
    printf(
        "# Limits\n\n"
        "What a peer could make grow in the services, with its bound. Written by `tools/limits-doc` from the tables in "
        "the "
        "code; a\n"
        "test fails when this page and the code differ. A request above a limit is refused with RESOURCE_EXHAUSTED or\n"
        "INVALID_ARGUMENT and changes nothing. A running daemon tells its limits by `ReflectionService.GetLimits`. The "
        "bounds\n"
        "of one message, session, socket and queue are in `tq/rpc.h`, those of arenas and transfers in `tq/bulk.h`.\n");
    print_heading("Controller", "`server/controller/limits.h`");
    TQ_CONTROLLER_LIMITS(PRINT_ROW)
    print_heading("Storage unit", "`server/storage/limits.h`");
    TQ_STORAGE_LIMITS(PRINT_ROW)
    return 0;
}
