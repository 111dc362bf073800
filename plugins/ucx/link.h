/* SPDX-License-Identifier: BSD-3-Clause */
/* Links: how other engines are found, connected, failed and departed. */
#ifndef PLENUM_PLUGINS_UCX_LINK_H
#define PLENUM_PLUGINS_UCX_LINK_H

#include "plugins/ucx/ucx.h"

/* The link to this engine; NULL: none. */
struct pl_ucx_link *pl_ucx_link_find(struct pl_ucx *ucx, uint64_t engine);
/* The same, created if needed; the transport owns it. NULL: out of memory. */
struct pl_ucx_link *pl_ucx_link_get(struct pl_ucx *ucx, uint64_t engine);

/* A message of this engine is lost, since there is no memory for its link. The link is deaf if it is created later. */
void pl_ucx_link_lose_message(struct pl_ucx *ucx, uint64_t engine);

/* Checks a peer's address, and keeps a copy of the first one. */
int pl_ucx_link_set_address(struct pl_ucx_link *link, const void *address, size_t length);
/* Connects the link if it is not connected, and sends a hello. Where the peer has a gate, that happens later: until
 * then the link has neither a connection nor an error. */
int pl_ucx_link_open(struct pl_ucx_link *link);

/* Marks a link as failed; the next progress() reports it. `why`: static words; NULL: the peer's process has died. */
void pl_ucx_link_fail(struct pl_ucx_link *link, int error, const char *why);
/* The same, where UCX has lost the connection. A peer that UCX does not watch may be closing: then it has departed. */
void pl_ucx_link_lose(struct pl_ucx_link *link, int error, ucs_status_t status);
/* Has a peer ended that UCX does not watch? Waits for 20 ms: a process that dies loses its memory before its lock. */
bool pl_ucx_link_is_dying(const struct pl_ucx_link *link);
/* Reports failed links to the engine. Returns their number. Without `all_is_read`, those that were refused wait: what
 * such a peer sent before is received first. */
int pl_ucx_links_report(struct pl_ucx *ucx, bool all_is_read);

/* Has the peer acknowledged all of the engine's messages? */
bool pl_ucx_link_is_acked(const struct pl_ucx_link *link);
/* Now and then: fails the links to peers that have gone without a LEAVE; of all peers, or of those that still have to
 * acknowledge messages. */
void pl_ucx_links_check(struct pl_ucx *ucx, bool all);

/* Sends LEAVE and ends all connections. True: they are settled. */
bool pl_ucx_links_close(struct pl_ucx *ucx);
/* Makes progress. True: all connections have ended and UCX has nothing more to send. The worker may then be destroyed,
 * but only before any further progress. */
bool pl_ucx_links_are_settled(struct pl_ucx *ucx);
/* Frees all links. The worker must have been destroyed. True: UCX has kept transfers from or to a dead peer. */
bool pl_ucx_links_free(struct pl_ucx *ucx);

#endif
