#include "tools/tq/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/addresses.h"
#include "tq/init.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_STATUS = 64 };

int tq_command_usage(const char *command, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "tq %s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (tq %s --help)\n", command);
    return EXIT_USAGE;
}

int tq_command_check_controller(const char *command, const char *controller)
{
    struct tq_error err;
    if (tq_address_check("--controller", controller, &err) == TQ_OK)
        return -1;
    return tq_command_usage(command, "%s", err.message);
}

int tq_command_fail(const char *command, const struct tq_error *err)
{
    fprintf(stderr, "tq %s: %s: %s\n", command, tq_status_name(err->status), err->message);
    return err->outcome == TQ_OUTCOME_NONE ? EXIT_FAILED : EXIT_STATUS + (int)err->status;
}

int tq_command_parse(const struct tq_flags *flags, int argc, char **argv, int *out_operands)
{
    enum tq_flags_wish wish;
    struct tq_error err = { 0 };
    for (int a = 1; a < argc; a++) {
        static char output[] = "--output";
        if (strcmp(argv[a], "--") == 0)
            break;
        if (strcmp(argv[a], "-o") == 0)
            argv[a] = output;
    }
    if (tq_flags_parse(flags, argc, argv, getenv, &wish, out_operands, &err) != TQ_OK)
        return tq_command_usage(argv[0], "%s", err.message);
    if (wish == TQ_FLAGS_HELP)
        tq_flags_help(flags, stdout);
    else if (wish == TQ_FLAGS_VERSION)
        printf("%s\n", tq_version());
    return wish == TQ_FLAGS_RUN ? -1 : 0;
}

tq_status tq_command_client(const char *controller, struct tq_client **out_client, struct tq_error *err)
{
    tq_status status = tq_init(err);
    struct tq_client_opts opts = { .controller = controller, .name = "tq" };
    return status == TQ_OK ? tq_client_open(&opts, out_client, err) : status;
}

char **tq_command_split(const char *text, size_t *out_n)
{
    *out_n = 0;
    if (text == NULL || text[0] == '\0')
        return NULL;
    size_t n = 1, len = strlen(text);
    for (size_t i = 0; i < len; i++)
        n += text[i] == ',';
    *out_n = n;
    char **list = malloc(n * sizeof(*list) + len + 1);
    if (list == NULL)
        return NULL;
    char *copy = memcpy(list + n, text, len + 1);
    for (size_t i = 0; i < n; i++) {
        char *comma = strchr(copy, ',');
        list[i] = copy;
        if (comma != NULL)
            *comma = '\0';
        copy = comma == NULL ? copy : comma + 1;
    }
    return list;
}
