/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that die where no launcher ends the others: in a pool (pl_place.watched) each engine looks now and then who
 * lives; of another job the transport tells. It breaks the communicators that had a member that died. What waits in a
 * broken communicator ends with MPI_ERR_PROC_ABORTED, whoever it waits for: those who live would soon wait for one that
 * has given up. Partitioned receives are not ended. Engine lock held in all functions but open and close.
 */
#ifndef PLENUM_CORE_LOST_H
#define PLENUM_CORE_LOST_H

#include <stdint.h>

struct pl_comm;
struct pl_engine;

/* Begins to look, if this process is watched. MPI_ERR_NO_MEM. */
int pl_lost_open(struct pl_engine *engine);
void pl_lost_close(struct pl_engine *engine);

/* Looks now: before a communicator is made, so that those who died before it do not break it. */
void pl_lost_look(struct pl_engine *engine);

/* Breaks the communicators that have this process, which has died: of another job too, whose end nobody else
 * reports. */
void pl_lost_break(struct pl_engine *engine, uint64_t proc);

/* Breaks a new communicator with a member that died after it had said that it takes part, and was replaced since. Takes
 * the lock. */
void pl_lost_check(struct pl_comm *comm);

/* "rank 2 of ocean has died": MPI_ERR_PROC_ABORTED, recorded. */
int pl_lost_fail(const struct pl_comm *comm) __attribute__((cold));

#endif
