/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broken communicators. A communicator breaks when an operation in it can no longer end as it should. A member has
 * died, the link to a member is lost, a message found no memory, or a collective operation failed on one rank. Every
 * wait in it then ends with the error class and the words of the cause, whichever rank it is for: the other ranks would
 * soon wait for one that has given up. Other communicators go on.
 *
 * The rank that notices tells all other members, since most causes are known to one rank alone (comm_break_notice.h).
 * The program can break a communicator too (comm_revoke.h).
 *
 * A communicator is broken together with those that the library made for it: its parts (pl_comm_role.whole) and the one
 * of an intercommunicator's local group. They send no notices of their own.
 *
 * The engine's lock is held in all functions unless said otherwise.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_BREAK_H
#define PLENUM_CORE_ENGINE_COMM_BREAK_H

#include <stdbool.h>

#include "core/base/compiler.h"

struct pl_break_notice;
struct pl_comm;
struct pl_engine;
struct pl_peer;

/* The communicator that the members know, if the library made this one for it; else this one. */
struct pl_comm *pl_comm_root(struct pl_comm *comm);

/* Does `comm` break together with this root? */
bool pl_comm_breaks_with(const struct pl_comm *comm, const struct pl_comm *root);

/* Breaks a communicator here. `rank` is the member at fault, which the caller may also name in `words`, a line without
 * a newline; NULL: that rank has died. */
void pl_comm_break(struct pl_comm *comm, int rank, int class, const char *words);

/* The same without those that break together with it. The cause stays the first one where only collective operations
 * failed before. */
void pl_comm_break_alone(struct pl_comm *comm, int rank, int class, const char *words);

/* The same for its collective operations only, and wholly for those that the library made for it. The caller ends the
 * receives. */
void pl_comm_break_confined(struct pl_comm *comm, int rank);

/* A collective operation of the communicator has failed on this rank with this class. Unless its arguments were the
 * reason, breaks the communicator for all members, with the recorded detail, which stays. Returns the class. Lock not
 * held. */
PL_COLD int pl_comm_break_for_all(struct pl_comm *comm, int class);

/* Breaks the communicator for all members for this reason, unless it is broken. Lock held. */
void pl_comm_break_for_all_locked(struct pl_comm *comm, int class, const char *why);

/* The link to a peer is lost: breaks the communicators that it is a member of, for all their members. `why`: the cause;
 * NULL: its process has died. */
void pl_comm_break_link(struct pl_engine *engine, const struct pl_peer *peer, int class, const char *why);

/* A communicator has come into the table: breaks it if members of it have died before, or seemed to. */
void pl_comm_break_after_failures(struct pl_engine *engine, struct pl_comm *comm);

/* A new communicator is as broken as the one that it is a part of. */
void pl_comm_break_alike(struct pl_comm *comm, const struct pl_comm *like);

/* That member makes no communicator from `comm` any more that is newer than the notice says: breaks those that this
 * process has made. */
void pl_comm_break_children(struct pl_comm *comm, int rank, const struct pl_break_notice *notice);

/* The member at fault makes none either: remembers that for communicators that are made from `comm` after this. */
void pl_comm_break_stop(struct pl_comm *comm, const struct pl_break_notice *notice);

/* A communicator is new: breaks it if its parent broke while it was made, and the member at fault does not make it. */
void pl_comm_break_stopped(struct pl_comm *child, const struct pl_comm *parent);

/* The error class with which operations in a broken communicator end; and the same, with the cause recorded. Lock not
 * needed. */
int pl_comm_broken_class(const struct pl_comm *comm);
PL_COLD int pl_comm_broken_record(const struct pl_comm *comm);

#endif
