/* SPDX-License-Identifier: BSD-3-Clause */
/* See litter.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/runtime/error.h"
#include "world/runtime/keeper.h"
#include "world/runtime/litter.h"

int pl_litter_make(char directory[PL_LITTER_MAX])
{
    const char *store = getenv("PMIX_MCA_gds"), *base = getenv("TMPDIR");
    directory[0] = '\0';
    if (store && strcmp(store, "hash") == 0)
        return PLENUM_OK;
    if (!base || !*base || strlen(base) > PL_LITTER_MAX - 24)
        base = "/tmp";
    snprintf(directory, PL_LITTER_MAX, "%s/plenum-XXXXXX", base);
    if (mkdtemp(directory))
        return PLENUM_OK;
    directory[0] = '\0';
    return pl_rt_fail_errno("cannot make a directory in \"%s\" for the PMIx server", base);
}

void pl_litter_remove(char directory[PL_LITTER_MAX])
{
    if (directory[0])
        pl_keeper_unlitter(directory);
    directory[0] = '\0';
}
