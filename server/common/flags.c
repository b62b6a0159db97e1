#include "server/common/flags.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const char *text, char **end, uint64_t *out_number)
{
    if (!isdigit((unsigned char)*text)) /* strtoull takes "-1" */
        return false;
    errno = 0;
    *out_number = strtoull(text, end, 10);
    return errno == 0;
}

static const struct {
    const char *suffix;
    uint64_t bytes;
} units[] = {
    { "", 1 },
    { "B", 1 },
    { "KiB", UINT64_C(1) << 10 },
    { "MiB", UINT64_C(1) << 20 },
    { "GiB", UINT64_C(1) << 30 },
    { "TiB", UINT64_C(1) << 40 },
    { "KB", 1000 },
    { "MB", 1000000 },
    { "GB", 1000000000 },
    { "TB", UINT64_C(1000000000000) },
};

bool tq_bytes_parse(const char *text, uint64_t *out_bytes)
{
    char *end;
    uint64_t number;
    if (!parse_number(text, &end, &number))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].suffix) == 0)
            return !__builtin_mul_overflow(number, units[i].bytes, out_bytes);
    return false;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);
    for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, text, len) == 0 && (at[len] == '|' || at[len] == '\0') && len > 0)
            return true;
    }
    return false;
}

/* `origin` is "--memory" or "TQ_MEMORY". */
static tq_status set_number(const struct tq_flag *flag, const char *origin, const char *text, struct tq_error *err)
{
    char *end = NULL;
    uint64_t number = 0;
    bool is_number =
        flag->kind == TQ_FLAG_BYTES ? tq_bytes_parse(text, &number) : parse_number(text, &end, &number) && *end == '\0';
    if (!is_number)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "%s: '%s': expected %s", origin, text,
                       flag->kind == TQ_FLAG_BYTES ? "a number of bytes such as 4096, 64KiB or 1GiB"
                                                   : "a number without sign");
    if (number < flag->min || number > flag->max)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "%s: '%s': expected %llu to %llu", origin, text,
                       (unsigned long long)flag->min, (unsigned long long)flag->max);
    *(uint64_t *)flag->into = number;
    return TQ_OK;
}

static tq_status set_switch(const struct tq_flag *flag, const char *origin, const char *text, struct tq_error *err)
{
    bool on = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    bool off = strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
    if (!on && !off)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "%s: '%s': expected true or false", origin, text);
    *(bool *)flag->into = on;
    return TQ_OK;
}

static tq_status set_flag(const struct tq_flag *flag, const char *origin, const char *text, struct tq_error *err)
{
    switch (flag->kind) {
    case TQ_FLAG_SWITCH:
        return set_switch(flag, origin, text, err);
    case TQ_FLAG_NUMBER:
    case TQ_FLAG_BYTES:
        return set_number(flag, origin, text, err);
    case TQ_FLAG_CHOICE:
        if (!is_choice(flag->choices, text))
            return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "%s: '%s': expected %s", origin, text, flag->choices);
        break;
    case TQ_FLAG_TEXT:
        break;
    }
    *(const char **)flag->into = text;
    return TQ_OK;
}

static void variable_name(const struct tq_flag *flag, char *out, size_t cap)
{
    int len = snprintf(out, cap, "TQ_%s", flag->name);
    for (int i = 0; i < len && (size_t)i < cap; i++)
        out[i] = out[i] == '-' ? '_' : (char)toupper((unsigned char)out[i]);
}

static tq_status set_initial(const struct tq_flag *flag, char *(*environment)(const char *name), struct tq_error *err)
{
    char variable[64];
    variable_name(flag, variable, sizeof(variable));
    const char *text = environment(variable);
    if (text != NULL && *text != '\0')
        return set_flag(flag, variable, text, err);
    if (flag->initial != NULL)
        return set_flag(flag, flag->name, flag->initial, err);
    return TQ_OK;
}

static const struct tq_flag *find_flag(const struct tq_flags *flags, const char *name, size_t len)
{
    for (size_t i = 0; i < flags->n_flags; i++)
        if (strlen(flags->flags[i].name) == len && strncmp(flags->flags[i].name, name, len) == 0)
            return &flags->flags[i];
    return NULL;
}

/* One argument that begins with "--", and its value; *at moves to the last of them. */
static tq_status parse_one(const struct tq_flags *flags, int argc, char **argv, int *at, struct tq_error *err)
{
    const char *name = argv[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t len = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct tq_flag *flag = find_flag(flags, name, len);
    if (flag == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "--%.*s: no such flag; --help lists them", (int)len, name);
    char origin[64];
    snprintf(origin, sizeof(origin), "--%s", flag->name);
    if (equals != NULL)
        return set_flag(flag, origin, equals + 1, err);
    if (flag->kind == TQ_FLAG_SWITCH)
        return set_flag(flag, origin, "true", err);
    if (*at + 1 >= argc)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "%s: a value must follow: %s", origin, flag->value);
    return set_flag(flag, origin, argv[++*at], err);
}

tq_status tq_flags_parse(const struct tq_flags *flags, int argc, char **argv, char *(*environment)(const char *name),
                         enum tq_flags_wish *out_wish, int *out_operands, struct tq_error *err)
{
    tq_status status = TQ_OK;
    int operands = 0;
    *out_wish = TQ_FLAGS_RUN;
    for (size_t i = 0; i < flags->n_flags && status == TQ_OK; i++)
        status = set_initial(&flags->flags[i], environment, err);
    bool only_operands = false;
    for (int at = 1; at < argc && status == TQ_OK; at++) {
        if (!only_operands && strcmp(argv[at], "--") == 0)
            only_operands = true;
        else if (!only_operands && (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0))
            *out_wish = TQ_FLAGS_HELP;
        else if (!only_operands && strcmp(argv[at], "--version") == 0)
            *out_wish = TQ_FLAGS_VERSION;
        else if (!only_operands && strncmp(argv[at], "--", 2) == 0)
            status = parse_one(flags, argc, argv, &at, err);
        else if (out_operands == NULL)
            status =
                tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "'%s': expected flags only; --help lists them", argv[at]);
        else
            argv[1 + operands++] = argv[at];
    }
    if (out_operands != NULL)
        *out_operands = operands;
    return status;
}

static const char *placeholder(const struct tq_flag *flag)
{
    if (flag->kind == TQ_FLAG_SWITCH)
        return "";
    return flag->choices != NULL ? flag->choices : flag->value;
}

void tq_flags_help(const struct tq_flags *flags, FILE *out)
{
    fprintf(out, "usage: %s [flags]%s%s\n%s\n\n", flags->program, flags->operands != NULL ? " " : "",
            flags->operands != NULL ? flags->operands : "", flags->summary);
    for (size_t i = 0; i < flags->n_flags; i++) {
        const struct tq_flag *flag = &flags->flags[i];
        char left[80];
        snprintf(left, sizeof(left), "--%s %s", flag->name, placeholder(flag));
        fprintf(out, "  %-34s %s", left, flag->help);
        if (flag->initial != NULL && flag->kind != TQ_FLAG_SWITCH)
            fprintf(out, " (default %s)", flag->initial);
        fputc('\n', out);
    }
    fprintf(out, "  %-34s this text\n  %-34s the version\n\n", "--help", "--version");
    fputs(
        "Each flag can be given as a variable, too: --log-level is TQ_LOG_LEVEL. Exit codes: 0; 1 failure; 2 usage.\n",
        out);
}

void tq_flags_table(const struct tq_flags *flags, FILE *out)
{
    fprintf(out, "| flag | default | range | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < flags->n_flags; i++) {
        const struct tq_flag *flag = &flags->flags[i];
        char range[64] = "";
        if (flag->kind == TQ_FLAG_NUMBER || flag->kind == TQ_FLAG_BYTES)
            snprintf(range, sizeof(range), "%llu to %llu", (unsigned long long)flag->min,
                     (unsigned long long)flag->max);
        else if (flag->choices != NULL)
            snprintf(range, sizeof(range), "%s", flag->choices);
        for (char *bar = strchr(range, '|'); bar != NULL; bar = strchr(bar, '|'))
            *bar = ',';
        fprintf(out, "| `--%s` | %s | %s | %s |\n", flag->name, flag->initial != NULL ? flag->initial : "", range,
                flag->help);
    }
}
