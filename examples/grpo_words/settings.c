#include "examples/grpo_words/settings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, NUMBER, REAL };

struct row {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct settings */
    const char *standard_text;
    double standard, least, most; /* exact: no number in the table is above 2^53 */
    const char *help;
};

#define TEXT_ROW(name, standard, help) { #name, TEXT, offsetof(struct settings, name), standard, 0, 0, 0, help },
#define NUMBER_ROW(name, standard, least, most, help)                                                                  \
    { #name, NUMBER, offsetof(struct settings, name), NULL, standard, least, most, help },
#define REAL_ROW(name, standard, least, most, help)                                                                    \
    { #name, REAL, offsetof(struct settings, name), NULL, standard, least, most, help },
static const struct row rows[] = { SETTINGS_TEXTS(TEXT_ROW) SETTINGS_NUMBERS(NUMBER_ROW) SETTINGS_REALS(REAL_ROW) };
enum { ROWS = sizeof(rows) / sizeof(*rows) };

_Static_assert((int)ROWS <= (int)SETTINGS_ARGUMENTS_MAX, "every setting has room as an argument");

static void *field_of(struct settings *settings, const struct row *row)
{
    return (char *)settings + row->offset;
}

static const void *peek_field(const struct settings *settings, const struct row *row)
{
    return (const char *)settings + row->offset;
}

static void settings_default(struct settings *settings)
{
    for (size_t i = 0; i < ROWS; i++) {
        void *field = field_of(settings, &rows[i]);
        if (rows[i].kind == TEXT)
            *(const char **)field = rows[i].standard_text;
        else if (rows[i].kind == NUMBER)
            *(uint64_t *)field = (uint64_t)rows[i].standard;
        else
            *(double *)field = rows[i].standard;
    }
}

enum { FLAG_BYTES = 32 };

/* Flags are written with '-' where names have '_'. */
static void flag_of(const struct row *row, char flag[FLAG_BYTES])
{
    snprintf(flag, FLAG_BYTES, "%s", row->name);
    for (char *at = flag; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
}

static const struct row *row_find(const char *text, size_t length)
{
    for (size_t i = 0; i < ROWS; i++) {
        char flag[FLAG_BYTES];
        flag_of(&rows[i], flag);
        if (strlen(flag) == length && memcmp(flag, text, length) == 0)
            return &rows[i];
    }
    return NULL;
}

static bool value_set(struct settings *settings, const struct row *row, const char *text)
{
    void *field = field_of(settings, row);
    if (row->kind == TEXT) {
        *(const char **)field = text;
        return true;
    }
    char *end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(value >= row->least && value <= row->most))
        return false;
    if (row->kind == REAL) {
        *(double *)field = value;
        return true;
    }
    *(uint64_t *)field = (uint64_t)value;
    return trunc(value) == value;
}

static void explain(const struct row *row, const char *value, char *why, size_t why_bytes)
{
    char flag[FLAG_BYTES];
    flag_of(row, flag);
    if (value == NULL)
        snprintf(why, why_bytes, "--%s: expected a value", flag);
    else
        snprintf(why, why_bytes, "--%s: '%.100s': expected a %snumber from %.10g to %.10g", flag, value,
                 row->kind == NUMBER ? "whole " : "", row->least, row->most);
}

/* Reads the argument at *at, and the next one where that is its value. */
static bool argument_parse(struct settings *settings, int argc, char *const *argv, int *at, char *why, size_t why_bytes)
{
    const char *text = argv[*at];
    const char *flag = strncmp(text, "--", 2) == 0 ? text + 2 : "";
    const char *equals = strchr(flag, '=');
    const struct row *row = row_find(flag, equals != NULL ? (size_t)(equals - flag) : strlen(flag));
    if (row == NULL) {
        snprintf(why, why_bytes, "unknown argument '%.100s'", text);
        return false;
    }
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (value == NULL && *at + 1 < argc)
        value = argv[++*at];
    if (value != NULL && value_set(settings, row, value))
        return true;
    explain(row, value, why, why_bytes);
    return false;
}

bool settings_parse(struct settings *settings, int argc, char *const *argv, char *why, size_t why_bytes)
{
    settings_default(settings);
    for (int i = 0; i < argc; i++)
        if (!argument_parse(settings, argc, argv, &i, why, why_bytes))
            return false;
    if (settings->groups % settings->chunk == 0)
        return true;
    snprintf(why, why_bytes, "--groups: %llu: expected a multiple of --chunk, %llu",
             (unsigned long long)settings->groups, (unsigned long long)settings->chunk);
    return false;
}

static int value_print(const struct settings *settings, const struct row *row, char *text, size_t room)
{
    const void *field = peek_field(settings, row);
    if (row->kind == TEXT)
        return snprintf(text, room, "%s", *(const char *const *)field);
    if (row->kind == NUMBER)
        return snprintf(text, room, "%llu", (unsigned long long)*(const uint64_t *)field);
    return snprintf(text, room, "%.17g", *(const double *)field);
}

bool settings_print(const struct settings *settings, struct settings_arguments *arguments)
{
    for (size_t i = 0; i < ROWS; i++) {
        char flag[FLAG_BYTES];
        flag_of(&rows[i], flag);
        const int used = snprintf(arguments->text[i], SETTINGS_ARGUMENT_BYTES, "--%s=", flag);
        const size_t room = SETTINGS_ARGUMENT_BYTES - (size_t)used;
        const int length = value_print(settings, &rows[i], arguments->text[i] + used, room);
        if (length < 0 || (size_t)length >= room)
            return false;
    }
    arguments->count = ROWS;
    return true;
}

void settings_help(FILE *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        char flag[FLAG_BYTES];
        char standard[40];
        flag_of(&rows[i], flag);
        snprintf(standard, sizeof(standard), "%g", rows[i].standard);
        fprintf(out, "  --%-14s %-22s %s\n", flag, rows[i].kind == TEXT ? rows[i].standard_text : standard,
                rows[i].help);
    }
}

size_t settings_chunk_samples(const struct settings *settings)
{
    return (size_t)(settings->chunk * settings->group_size);
}

size_t settings_step_chunks(const struct settings *settings)
{
    return (size_t)(settings->groups / settings->chunk);
}
