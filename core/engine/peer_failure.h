/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that die where no launcher ends the others: in a pool, and in a job that goes on (pl_identity.watched), each
 * engine looks now and then who lives; of another job the transport tells. It breaks the communicators that had a
 * member that died. What waits in a broken communicator ends with MPI_ERR_PROC_ABORTED, whoever it waits for: those who
 * live would soon wait for one that has given up.
 *
 * In a pool the last byte of an engine's id, with which its card begins, says how many had died as that rank when it
 * came: so a process that has died is told from the one that has taken its place. Engine lock held in all functions
 * but open and close.
 */
#ifndef PLENUM_CORE_ENGINE_PEER_FAILURE_H
#define PLENUM_CORE_ENGINE_PEER_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

struct pl_comm;
struct pl_engine;
struct pl_header;

/* Begins to look, if this process is watched. MPI_ERR_NO_MEM. */
int pl_failure_open(struct pl_engine *engine);
void pl_failure_close(struct pl_engine *engine);

/* Breaks a new communicator, which is in the engine's table, that has a member that has died since it said that it
 * takes part, whether or not it was replaced; who died before does not count. */
void pl_failure_admit(struct pl_engine *engine, struct pl_comm *comm);

/* Breaks the communicators that have this process, which has died: of another job too, whose end nobody else
 * reports. */
void pl_failure_break(struct pl_engine *engine, uint64_t proc);

/* What `header` announces was thrown away for want of memory: breaks its communicator, or, where that is not made yet
 * (`comm` is NULL), the one that will be. What waits in it ends with MPI_ERR_NO_MEM. */
void pl_failure_starve(struct pl_engine *engine, struct pl_comm *comm, const struct pl_header *header);
/* ... and this is the one that was made. */
void pl_failure_adopt(struct pl_engine *engine, struct pl_comm *comm);

/* With what ends what waits in a broken communicator. */
int pl_failure_class(const struct pl_comm *comm);

/* Has the process died that came with this engine as that member of groups? False as well where nobody looks. */
bool pl_failure_outlived(uint64_t engine, uint64_t proc);

/* A member cannot be reached: looks now, and says why if one has died, not necessarily that one. Else `rc`. */
int pl_failure_explain(const struct pl_comm *comm, int rc) __attribute__((cold));

/* "rank 2 of ocean has died", or what else broke it: pl_failure_class(), recorded. */
int pl_failure_record(const struct pl_comm *comm) __attribute__((cold));
/* The same with other words: "rank 2 of ocean", and what. MPI_ERR_PROC_ABORTED. */
int pl_failure_record_about(const struct pl_comm *comm, int rank, const char *what) __attribute__((cold));

#endif
