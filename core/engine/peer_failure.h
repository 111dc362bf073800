/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that die while the others go on: in a pool, and in a job that survives failures (pl_identity.watched), each
 * engine checks regularly which processes live; the transport reports deaths in other jobs. What that means for a
 * communicator with a member that died is in comm_failures.h.
 *
 * In a pool the last byte of an engine's id, with which its card begins, counts how many processes of that rank had
 * died before the engine opened. It tells a process that has died from its replacement. The engine's lock is held in
 * all functions except open and close.
 */
#ifndef PLENUM_CORE_ENGINE_PEER_FAILURE_H
#define PLENUM_CORE_ENGINE_PEER_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/engine/comm_break.h"

struct pl_comm;
struct pl_engine;
struct pl_header;
struct pl_peer;

/* Begins to check, if this process is watched. MPI_ERR_NO_MEM. */
int pl_failure_open(struct pl_engine *engine);
void pl_failure_close(struct pl_engine *engine);

/* Deals with all deaths so far, of which a communicator that is made next must know nothing: its member may be the
 * replacement of one that has died. */
void pl_failure_catch_up(struct pl_engine *engine);

/* A new communicator, which is in the engine's table, has lost the members that have died since they agreed to take
 * part, whether they were replaced or not. Earlier deaths as these ranks do not count. */
void pl_failure_check_new_comm(struct pl_engine *engine, struct pl_comm *comm);

/* Breaks the communicators of which `proc`, which has died, is a member. Also for processes of other jobs, whose
 * end only the transport reports. */
void pl_failure_break(struct pl_engine *engine, uint64_t proc);

/* Does the launcher know that this process of the job has died? Waits for 20 ms until it does. */
bool pl_failure_is_death(uint64_t proc);

/* The link to a peer is lost, for this reason; NULL: its process has died. Breaks the communicators that the peer is a
 * member of, for all members. A process of this job whose end is known, or soon becomes known, has died, whatever the
 * reason. */
void pl_failure_link(struct pl_engine *engine, const struct pl_peer *peer, int error, const char *why);

/* A message to the engine itself was lost for lack of memory: tells the engine's owner. */
void pl_failure_own_message(struct pl_engine *engine, const char *why);

/* The message of `header` was dropped for lack of memory: breaks its communicator, or remembers to break it when it is
 * made (`comm` is NULL). What waits in it ends with MPI_ERR_NO_MEM. */
void pl_failure_message_dropped(struct pl_engine *engine, struct pl_comm *comm, const struct pl_header *header);
/* A new communicator: breaks it if such a message was for it. */
void pl_failure_apply_dropped(struct pl_engine *engine, struct pl_comm *comm);

/* Has the process died that opened this engine as that member of groups? Also false where processes are not watched. */
bool pl_failure_engine_is_dead(uint64_t engine, uint64_t proc);

/* Asks the system now which processes live. */
void pl_failure_check_now(struct pl_engine *engine);

/* Another process may know of a failure in the communicator already: waits until this one does, for 20 ms. */
PL_COLD void pl_failure_await(const struct pl_comm *comm);

/* A member cannot be reached: checks now, and records its death, or why the communicator is broken. Else `rc`. Inside
 * a transport's progress PL_AGAIN: only outside can what the dead have sent be taken before their death counts. */
PL_COLD int pl_failure_explain(const struct pl_comm *comm, int rank, int rc);

/* The process of a rank; in an intercommunicator, of the remote group if that has the rank. */
uint64_t pl_failure_proc(const struct pl_comm *comm, int rank);

/* "rank 2 of ocean", then `what`: MPI_ERR_PROC_ABORTED, recorded. */
PL_COLD int pl_failure_record_about(const struct pl_comm *comm, int rank, const char *what);

#endif
