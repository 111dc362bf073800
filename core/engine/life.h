/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of an engine: opening, transports that are added later, closing; and progress in all engines of the process.
 */
#ifndef PLENUM_CORE_ENGINE_LIFE_H
#define PLENUM_CORE_ENGINE_LIFE_H

#include "core/engine/engine.h"
#include "core/job/segment.h"

/* Opens the transports that PLENUM_TRANSPORT and the job ask for. Above MPI_THREAD_FUNNELED the lock is real, and also
 * if a progress thread will serve the engine. */
int pl_engine_open(struct pl_engine *engine, struct pl_instance *instance, int thread_level, bool served);

/* Waits until the receivers have taken all that was sent, or are gone; then releases everything except the lock. The
 * owner releases the lock once no thread can enter any more. */
void pl_engine_close(struct pl_engine *engine);

/* The two steps of that, for an owner that must not wait while it closes the engine. The first waits, and the engine
 * stays in use; the second does not wait, and must follow while the engine is flushed. Lock not held. */
void pl_engine_flush(struct pl_engine *engine);
void pl_engine_close_flushed(struct pl_engine *engine);
bool pl_engine_is_flushed(struct pl_engine *engine); /* all that was sent has been taken; lock held */

/* Before this process communicates with processes of other jobs: an engine that was alone in its job, and so has only
 * the transport "self", opens those of a larger job and rewrites its card. Lock not held. */
int pl_engine_widen(struct pl_engine *engine);

/* Before this process communicates with other nodes: adds the transport between nodes to an engine whose job is on one
 * node. Fails where PLENUM_TRANSPORT excludes that transport, or it does not work here. Lock not held. */
#define PL_NETWORK "ucx"
int pl_engine_add_network(struct pl_engine *engine);

/* Publishes the engine's card, and again when the card changes. Before others can find it, or with the lock held. */
int pl_engine_publish(struct pl_engine *engine, enum pl_card_slot slot);
void pl_engine_withdraw(struct pl_engine *engine); /* the card; lock not held */

/* If a process of the job lacks shared memory: adds the network for it. A card then says PL_NETLESS if there is none
 * here. Nothing happens otherwise. Lock held. */
#define PL_NETLESS "netless"
void pl_engine_meet_lacking(struct pl_engine *engine);

/* Does it have that transport, and can other hosts reach it? Its card then has the entry PL_FAR. Lock held. */
#define PL_FAR "far"
bool pl_engine_is_networked(const struct pl_engine *engine);

/* Copies the engine's current card, which changes when a transport is added. Returns its length. Lock not held. */
size_t pl_engine_card(struct pl_engine *engine, unsigned char card[PL_CARD_MAX]);

/* Makes one round of progress in each other engine of the process where no thread has since the last call. A thread
 * that waits in one instance thus does not stop the messages of others, nor disturb a thread that works there. Returns
 * the number of events. Lock not held. */
int pl_engine_nudge_others(struct pl_engine *engine);
int pl_engine_nudge_all(void); /* in all engines */

#endif
