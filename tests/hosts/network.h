/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs that run on two hosts share. */
#ifndef PLENUM_TESTS_HOSTS_NETWORK_H
#define PLENUM_TESTS_HOSTS_NETWORK_H

#include <stdio.h>
#include <string.h>

/* Whether the UCX transport is loaded: a job on one host does not load it until it connects to another host. */
static int uses_network(void)
{
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, "plenum/ucx.so") != NULL;
    fclose(maps);
    return found;
}

#endif
