/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the processes of a job by the cookie in their environment, which their descendants inherit. */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_SWEEP_H
#define PLENUM_WORLD_RUNTIME_KEEPER_SWEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Does the environment of `pid` name the job with this cookie? False also when it cannot be read. Async-signal-safe. */
bool pl_sweep_belongs(pid_t pid, uint64_t cookie);

/* Kills every process of this machine that belongs to the job, and returns their number. For the embedder, when the
 * keeper has died. */
int pl_sweep_machine(uint64_t cookie);

#endif
