/* server/common/flags.h: command lines of our programs. One table (an X-macro of the program) feeds the struct, the
 * parser, the range check, --help and the documentation. A flag --memory-limit is also the variable TQ_MEMORY_LIMIT;
 * the command line wins over the environment, the environment over the default. Owns: nothing; texts point into argv
 * and the environment. Threads: main, before any other. */
#ifndef TQ_SERVER_FLAGS_H
#define TQ_SERVER_FLAGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tq/status.h"

enum tq_flag_kind {
    TQ_FLAG_TEXT,   /* const char * */
    TQ_FLAG_SWITCH, /* bool: --name, --name=true|false */
    TQ_FLAG_NUMBER, /* uint64_t, decimal */
    TQ_FLAG_BYTES,  /* uint64_t: 4096, 64KiB, 1GiB, 512MB */
    TQ_FLAG_CHOICE, /* const char *, one of `choices` */
};

struct tq_flag {
    enum tq_flag_kind kind;
    const char *name;
    void *into;
    const char *initial; /* as a user would write it; NULL: none */
    uint64_t min, max;   /* numbers and bytes */
    const char *choices; /* "auto|off" */
    const char *value;   /* placeholder in --help: "ADDRESS" */
    const char *help;
};

struct tq_flags {
    const char *program;
    const char *summary; /* one line */
    const struct tq_flag *flags;
    size_t n_flags;
    const char *operands; /* in --help: "FILE"; NULL: the program takes none */
};

enum tq_flags_wish { TQ_FLAGS_RUN, TQ_FLAGS_HELP, TQ_FLAGS_VERSION };

/* Sets every flag: default, then environment, then command line. "--name value" and "--name=value". Operands are moved
 * to the front of argv[1..]; *out_operands counts them (NULL: none are allowed). `environment` looks a variable up
 * (getenv, or a test's). Fails with INVALID_ARGUMENT, naming flag, value and what was expected. */
TQ_MUST_CHECK tq_status tq_flags_parse(const struct tq_flags *flags, int argc, char **argv,
                                       char *(*environment)(const char *name), enum tq_flags_wish *out_wish,
                                       int *out_operands, struct tq_error *err);
void tq_flags_help(const struct tq_flags *flags, FILE *out);
/* The same as a Markdown table, for the documentation. */
void tq_flags_table(const struct tq_flags *flags, FILE *out);

/* "1GiB" and the like. False when it is none or does not fit. */
TQ_MUST_CHECK bool tq_bytes_parse(const char *text, uint64_t *out_bytes);

#endif
