/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address cards through PMIx, without any fence. A process publishes its card with PMIx_Put and PMIx_Commit. A process
 * that needs it starts a query, and PMIx fetches the card from the server of the other process's node.
 *
 * Locking: the caller's, as core/job/process.h says; PMIx's own thread takes cards.c's lock for the answers.
 */
#ifndef PLENUM_PLUGINS_PMIX_CARDS_H
#define PLENUM_PLUGINS_PMIX_CARDS_H

#include <pmix.h>

#include "core/job/process.h"

/* `local`: the ranks of this node as PMIx lists them ("0,1,2"), or NULL; borrowed. The same for all copies. */
void pl_pmix_cards_open(const pmix_proc_t *self, uint32_t generation, const char *local);
void pl_pmix_cards_close(void);
/* `length` 0 withdraws the card. */
int pl_pmix_cards_publish(enum pl_card_slot slot, const void *card, size_t length);
/* Never blocks: the first call starts a query, and later calls return PL_AGAIN until the answer is there. An answer is
 * handed out once and not kept. `card` has PL_CARD_MAX bytes. */
int pl_pmix_cards_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length);

#endif
