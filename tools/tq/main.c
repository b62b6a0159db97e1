/* tq: the command of tq. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tq/command.h"
#include "tq/init.h"

static const struct {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit code */
} commands[] = {
    { "up", "run a controller and storage units on this machine, in the foreground", tq_command_up },
    { "status", "units, partitions, samples, bytes, health", tq_command_status },
    { "put", "store the rows of a .safetensors or .npy file as samples", tq_command_put },
    { "get", "write samples of a partition to a file", tq_command_get },
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]), EXIT_USAGE = 2 };

static void print_usage(FILE *out)
{
    fputs("usage: tq COMMAND [flags]\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n`tq COMMAND --help` lists its flags. Exit codes: 0; 1 failure; 2 usage; 64 + status of a failed call.\n",
          out);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_usage(stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(name, "--version") == 0) {
        printf("tq %s\n", tq_version());
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (name[0] == '\0')
        print_usage(stderr);
    else
        fprintf(stderr, "tq: '%s': no such command; `tq --help` lists them\n", name);
    return EXIT_USAGE;
}
