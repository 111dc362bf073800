/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Revocation: the program gives a communicator up. It breaks for all members (comm_break.h), of which each tells all
 * others. Only what is needed to go on without lost members works in it from then on (core/comm/agreement.h).
 */
#ifndef PLENUM_CORE_ENGINE_COMM_REVOKE_H
#define PLENUM_CORE_ENGINE_COMM_REVOKE_H

struct pl_break_notice;
struct pl_comm;
struct pl_header;

/* MPIX_Comm_revoke. The engine's lock is not held. */
void pl_comm_revoke(struct pl_comm *comm);

/* A member, the header's tag, has heard of the revocation by `rank`, and tells all others. They may wait for it in a
 * communicator, a window or a file that it will not make any more. The words of the notice are overwritten. The
 * engine's lock is held. */
void pl_comm_revoke_told(struct pl_comm *root, const struct pl_header *header, int rank,
                         struct pl_break_notice *notice);

#endif
