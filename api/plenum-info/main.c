/* SPDX-License-Identifier: BSD-3-Clause */
/* plenum-info: what this Plenum is, its configuration variables, and what a job offers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/plenum-info/info.h"
#include "core/version.h"
#include "mpi.h"

enum { EXIT_USAGE = 2 };

static void print_version(void)
{
    printf("Plenum %s, MPI %d.%d, ABI %d.%d\n", PL_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION,
           MPI_ABI_SUBVERSION);
}

static int all(bool json)
{
    if (!json) {
        print_version();
        putchar('\n');
        info_parts(false);
        putchar('\n');
    }
    return info_config(json);
}

static const struct command {
    const char *name;
    int (*run)(bool json);
    const char *help;
} commands[] = {
    { "config",      info_config,      "configuration variables, with values and where those come from" },
    { "errhandlers", info_errhandlers, "error handlers by name; whether the policy of errors can be used" },
    { "parts",       info_parts,       "transports and plugins: whether each works here, and why not" },
    { "psets",       info_psets,       "process sets of the job: mpiexec -n 4 plenum-info psets" },
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static int usage(FILE *to)
{
    fprintf(to, "usage: plenum-info [--json] [COMMAND]\n       plenum-info --version | --help\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-11s %s\n", commands[i].name, commands[i].help);
    fprintf(to, "Without a command: version, parts and config; as JSON: version and config. With --json, before or "
                "after it, one JSON object.\n");
    return to == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    const struct command *command = NULL;
    bool json = false;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        print_version();
        return EXIT_SUCCESS;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage(stdout);
    for (int a = 1; a < argc; a++) {
        const struct command *found = NULL;
        for (int i = 0; i < COMMANDS; i++)
            if (strcmp(argv[a], commands[i].name) == 0)
                found = &commands[i];
        if (strcmp(argv[a], "--json") == 0)
            json = true;
        else if (found && !command)
            command = found;
        else
            return usage(stderr);
    }
    return command ? command->run(json) : all(json);
}

int main(int argc, char **argv)
{
    int code = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("plenum-info: cannot write");
        return EXIT_FAILURE;
    }
    return code;
}
