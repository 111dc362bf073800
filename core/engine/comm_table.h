/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of an engine, by id. The engine's lock is held in both functions. */
#ifndef PLENUM_CORE_ENGINE_COMM_TABLE_H
#define PLENUM_CORE_ENGINE_COMM_TABLE_H

struct pl_comm;
struct pl_engine;

/* Enters a communicator: messages find it. Delivers those that have arrived early. */
void pl_engine_add_comm(struct pl_engine *engine, struct pl_comm *comm);

/* Takes it out, if it is in, and drops its unexpected messages. */
void pl_engine_remove_comm(struct pl_engine *engine, struct pl_comm *comm);

#endif
