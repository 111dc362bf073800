/* SPDX-License-Identifier: BSD-3-Clause */
/* See litter.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "world/runtime/error.h"
#include "world/runtime/keeper.h"
#include "world/runtime/litter.h"

void pl_litter_name(char directory[PL_LITTER_MAX])
{
    const char *store = getenv("PMIX_MCA_gds"), *base = getenv("TMPDIR");
    uint64_t number = 0;
    directory[0] = '\0';
    if (store && strcmp(store, "hash") == 0)
        return;
    if (!base || !*base || strlen(base) > PL_LITTER_MAX - 32)
        base = "/tmp";
    if (getrandom(&number, sizeof(number), 0) < 0)
        number = (uint64_t)getpid(); /* mkdir() refuses what exists */
    snprintf(directory, PL_LITTER_MAX, "%s/plenum-%016" PRIx64, base, number);
}

int pl_litter_make(const char *directory)
{
    if (!directory[0] || mkdir(directory, 0700) == 0)
        return PLENUM_OK;
    return pl_rt_fail_errno("cannot make the directory \"%s\" for the PMIx server", directory);
}

void pl_litter_remove(char directory[PL_LITTER_MAX])
{
    if (directory[0])
        pl_keeper_unlitter(directory);
    directory[0] = '\0';
}
