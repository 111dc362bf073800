/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of a broken communicator tell each other. PL_MSG_BROKEN says which member is at fault, and why. The
 * rank that notices sends it to all others, and what follows here is in comm_break.h. A member passes a notice on where
 * the first sender may not have reached all. Messages of a communicator that does not exist yet, such notices among
 * them, are kept until it is made.
 *
 * The engine's lock is held in all functions.
 */
#ifndef PLENUM_CORE_ENGINE_COMM_BREAK_NOTICE_H
#define PLENUM_CORE_ENGINE_COMM_BREAK_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"

struct pl_comm;
struct pl_engine;
struct pl_header;
struct pl_origin;

enum { PL_BREAK_WORDS = 288 };

/* The header's `part`: what is at fault. That rank; the link to it; or that rank has freed the communicator, which it
 * tells only one member: the one that waits for it; or it has revoked the communicator. PL_FAULT_ASKED is a question:
 * has that rank made the communicator, whose parent it knows to be revoked? If not, it answers with the same notice and
 * PL_FAULT_RANK. */
enum pl_fault { PL_FAULT_RANK, PL_FAULT_LINK, PL_FAULT_FREED, PL_FAULT_REVOKED, PL_FAULT_ASKED };

/* The data of PL_MSG_BROKEN; its header names the communicator, and the member at fault as the source. */
struct pl_break_notice {
    int32_t class;
    uint32_t made;              /* when the sender last made a communicator from this one (pl_comm_coll.made) */
    uint32_t idups;             /* its pl_comm_coll.idups_ended */
    char words[PL_BREAK_WORDS]; /* empty: that member has died */
};

/* The notice of a rank that makes nothing more from this root. */
struct pl_break_notice pl_comm_break_stopping(const struct pl_comm *root, int class);

/* Tells all other members of a root (pl_comm_root()). A notice to a peer whose link is lost ends at once. */
void pl_comm_break_tell_all(struct pl_comm *root, int rank, enum pl_fault fault, const struct pl_break_notice *notice);

/* Asks a member of `root`, which has told that `root` is revoked, whether it has made `child`, as rank `rank` there. */
void pl_comm_break_ask(struct pl_comm *root, int to, const struct pl_comm *child, int rank,
                       const struct pl_break_notice *notice);

/* That question has come, and there is no such communicator here: it will not be made any more. */
PL_COLD void pl_comm_break_answer(struct pl_engine *engine, const struct pl_origin *from,
                                  const struct pl_header *header, const void *data);

/* A message of a collective will not be received, since this process, `rank` of its communicator, has freed that:
 * breaks the communicator at the sender, which waits. */
PL_COLD void pl_comm_break_sender(struct pl_engine *engine, const struct pl_origin *from,
                                  const struct pl_header *message, int rank);

/* Tells a member that waits in a communicator that is broken here why. The first notice may come later, or never, if
 * the rank that was to send it has no memory. */
PL_COLD void pl_comm_break_repeat(const struct pl_comm *comm, const struct pl_origin *to);

/* PL_MSG_BROKEN has arrived for a communicator. `data`: of header->size bytes. */
void pl_comm_break_told(struct pl_comm *comm, const struct pl_header *header, const void *data);

/* Sends a message that is not matched, with a copy of the data of header->size bytes, to a rank of `via`, whose address
 * need not be known yet. False: out of memory. */
bool pl_comm_tell(struct pl_comm *via, int to, const struct pl_header *header, const void *data);

#endif
