/* SPDX-License-Identifier: BSD-3-Clause */
/* The keeper has died while jobs ran: their processes are killed, and their ends are told as if by the keeper. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_KEEPER_LOSS_H
#define PLENUM_WORLD_RUNTIME_JOB_KEEPER_LOSS_H

#include "world/runtime/runtime.h"

/* `exited`: it ended by itself, so it cannot work here. The caller holds the runtime's lock. */
void pl_keeper_loss_handle(struct plenum_runtime *rt, bool exited);

#endif
