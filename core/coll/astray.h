/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of collectives that no rank will receive, and receives to which no message will come. They occur where ranks
 * call different collectives, or with different amounts, roots or neighbors. A wait that takes long searches the
 * messages that have arrived for them, and breaks the communicator for all its members with a description, instead of
 * waiting for ever. Correct programs pay nothing.
 *
 * What is known: a rank's blocking collectives in one communicator begin and end one after the other, and the messages
 * from one rank to another arrive in order.
 */
#ifndef PLENUM_CORE_COLL_ASTRAY_H
#define PLENUM_CORE_COLL_ASTRAY_H

#include <stdint.h>

struct pl_comm;
struct pl_engine;
struct pl_request;
struct pl_waiting;

/* A thread waits for long, for this request or for `what`. Engine lock held. */
void pl_astray_check(struct pl_engine *engine, struct pl_request *request, const struct pl_waiting *what);

/* A rank says that this rank has not taken its message, in this start of the persistent collective with that tag:
 * breaks the communicator if it never will. Engine lock held. */
void pl_astray_sent(struct pl_comm *comm, int source, int tag, uint32_t start);

#endif
