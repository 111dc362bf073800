/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of a host, which a runtime starts there by ssh or another command. It is not for users. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/plenum.h"

int main(int argc, char *argv[])
{
    (void)argv;
    if (argc == 1 && !isatty(STDIN_FILENO))
        return plenum_agent_main();
    fprintf(stderr, "plenum-agent %s: mpiexec, or a program that uses libplenum, starts it on other hosts\n",
            PLENUM_VERSION);
    return EXIT_FAILURE;
}
