/* tools/tq/command.h: what the commands that move samples share: a client, lists on the command line, exit codes.
 * Owns: nothing. Threads: main. */
#ifndef TOOLS_TQ_COMMAND_H
#define TOOLS_TQ_COMMAND_H

#include <stddef.h>

#include "server/common/flags.h"
#include "tq/client.h"

/* `tq put ...`, `tq get ...`: argv[0] is the command's name. Return the exit code: 0, 1 failure, 2 usage, 64 + status
 * for a call that failed. */
int tq_command_put(int argc, char **argv);
int tq_command_get(int argc, char **argv);
/* `tq up ...`, `tq status ...`: the same. */
int tq_command_up(int argc, char **argv);
int tq_command_status(int argc, char **argv);

/* Parses; prints help. Returns -1 when the command is to go on, else its exit code. */
int tq_command_parse(const struct tq_flags *flags, int argc, char **argv, int *out_operands);
/* --controller: -1 when it is an address, else one line on stderr and 2. */
int tq_command_check_controller(const char *command, const char *controller);
/* One line on stderr; returns 2. */
int tq_command_usage(const char *command, const char *format, ...) TQ_PRINTF(2, 3);
/* One line on stderr; returns 1, or 64 + status when a call failed. */
int tq_command_fail(const char *command, const struct tq_error *err);
/* tq_init and tq_client_open. */
TQ_MUST_CHECK tq_status tq_command_client(const char *controller, struct tq_client **out_client, struct tq_error *err);

/* "a,b,c" as a list; *out_n 0 and NULL for NULL or "". The list and its texts are one allocation: free() it. NULL with
 * *out_n > 0 is out of memory. */
char **tq_command_split(const char *text, size_t *out_n);

#endif
