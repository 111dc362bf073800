/* SPDX-License-Identifier: BSD-3-Clause */
/* plenum-info: what this Plenum is, and its configuration variables, with the value of each and where that comes from. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/error.h"
#include "core/version.h"

enum { EXIT_USAGE = 2 };

static void print_version(void)
{
    printf("Plenum %s, MPI %d.%d, ABI %d.%d\n", PL_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION,
           MPI_ABI_SUBVERSION);
}

static void print_allowed(const struct pl_config *variable)
{
    switch (variable->type) {
    case PL_CONFIG_TEXT:
        if (variable->choices)
            printf(" [%s]", variable->choices);
        break;
    case PL_CONFIG_LIST:
        printf(" [list of %s]", variable->choices);
        break;
    case PL_CONFIG_BOOL:
        printf(" [yes|no]");
        break;
    case PL_CONFIG_LONG:
    case PL_CONFIG_SIZE:
        printf(" [%ld to %ld]", variable->lowest, variable->highest);
        break;
    }
}

static void print_variable(const struct pl_config *variable)
{
    printf("PLENUM_");
    for (const char *letter = variable->name; *letter; letter++)
        putchar(toupper((unsigned char)*letter));
    printf("=%s (%s)\n    %s", pl_config_text(variable->name), pl_config_origin(variable->name), variable->help);
    print_allowed(variable);
    putchar('\n');
}

/* A variable in the environment that is wrong is said so; the values shown are then the defaults. */
static int print_all(void)
{
    int err = pl_config_load();
    if (err)
        fprintf(stderr, "plenum-info: %s\n", pl_error_detail(NULL));
    print_version();
    putchar('\n');
    for (size_t i = 0; i < pl_config_count; i++)
        print_variable(&pl_config_table[i]);
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int usage(FILE *to)
{
    fprintf(to, "usage: plenum-info [--version | --help]\n");
    return to == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    int code = EXIT_SUCCESS;
    if (argc == 1)
        code = print_all();
    else if (argc == 2 && strcmp(argv[1], "--version") == 0)
        print_version();
    else if (argc == 2 && strcmp(argv[1], "--help") == 0)
        code = usage(stdout);
    else
        return usage(stderr);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("plenum-info: cannot write");
        return EXIT_FAILURE;
    }
    return code;
}
