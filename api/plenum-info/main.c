/* SPDX-License-Identifier: BSD-3-Clause */
/* plenum-info: prints the version, the configuration variables, and what a job offers. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/plenum-info/info.h"
#include "core/base/config.h"
#include "core/base/nearest.h"
#include "core/base/version.h"
#include "core/base/visible.h"
#include "mpi.h"

enum { EXIT_USAGE = 2 };

static void info_print_version(void)
{
    printf("Plenum %s, MPI %d.%d, ABI %d.%d\n", PL_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION,
           MPI_ABI_SUBVERSION);
}

/* Runs all commands. With an invalid configuration the others cannot work, so only info_config() runs. */
static int info_all(json_t *to)
{
    int code = EXIT_SUCCESS;
    int (*const commands[])(json_t *) = { info_parts, info_psets, info_config };
    if (to) {
        json_object_set_new(to, "version", json_string(PL_VERSION));
        json_object_set_new(to, "mpi", json_pack("[ii]", MPI_VERSION, MPI_SUBVERSION));
        json_object_set_new(to, "abi", json_pack("[ii]", MPI_ABI_VERSION, MPI_ABI_SUBVERSION));
        json_object_set_new(to, "build", json_string(PL_BUILD));
    } else {
        info_print_version();
        puts("built: " PL_BUILD);
    }
    for (size_t i = pl_config_load() ? 2 : 0; i < sizeof commands / sizeof *commands; i++) {
        if (!to)
            putchar('\n');
        code |= commands[i](to);
    }
    return code;
}

static const struct command {
    const char *name;
    int (*run)(json_t *to);
    const char *help;
} commands[] = {
    { "config", info_config, "configuration variables, with their values and origins" },
    { "errhandlers", info_errhandlers, "error handlers by name; whether the error policy is valid" },
    { "parts", info_parts, "transports and plugins: whether each works here, and why not" },
    { "psets", info_psets, "process sets of the job: mpiexec -n 4 plenum-info psets" },
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static int info_usage(void)
{
    printf("usage: plenum-info [--json] [COMMAND]\n       plenum-info --version | --help\n\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-11s %s\n", commands[i].name, commands[i].help);
    printf("Without a command: version, build, parts, psets and config. With --json, before or after it, one JSON "
           "object.\n");
    return EXIT_SUCCESS;
}

static int info_unknown(const char *word)
{
    const char *near = NULL;
    int least = pl_nearest_limit(word);
    for (int i = 0; i < COMMANDS; i++) {
        int d = pl_nearest_distance(word, commands[i].name);
        if (d < least) {
            least = d;
            near = commands[i].name;
        }
    }
    char visible[256];
    pl_visible(visible, sizeof visible, word);
    fprintf(stderr, "plenum-info: unexpected word \"%s\"%s%s%s; see plenum-info --help\n", visible,
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return EXIT_USAGE;
}

static int info_run_command(int (*run)(json_t *to), bool json)
{
    json_t *top = json ? json_object() : NULL;
    int code = run(top);
    if (top && json_object_size(top) > 0) {
        json_dumpf(top, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(top);
    return code;
}

static int info_run(int argc, char **argv)
{
    const struct command *command = NULL;
    bool json = false;
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        info_print_version();
        return EXIT_SUCCESS;
    }
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return info_usage();
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
            return info_unknown(argv[a]);
    }
    return info_run_command(command ? command->run : info_all, json);
}

int main(int argc, char **argv)
{
    static char whole[1 << 16];
    setvbuf(stdout, whole, _IOFBF, sizeof whole); /* under mpiexec, tables of several processes do not mix */
    int code = info_run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("plenum-info: cannot write the output");
        return EXIT_FAILURE;
    }
    return code;
}
