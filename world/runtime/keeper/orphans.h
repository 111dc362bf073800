/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that ranks started and that outlived them: the keeper, a subreaper, has become their parent. */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_ORPHANS_H
#define PLENUM_WORLD_RUNTIME_KEEPER_ORPHANS_H

#include "world/runtime/keeper/keeper.h"

/* Kills the adopted children whose environment holds `cookie`, or all children when `all`. Where
 * /proc cannot be read, those of all ended jobs once no job runs. Returns the number of
 * signals sent: 0 means that no such process is left. */
int pl_keeper_sweep(struct pl_kept_job *jobs, uint64_t cookie, bool all);

#endif
