/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the PMIx bootstrap: pmix.c (the process's place, its end), cards.c (address cards). */
#ifndef PLENUM_PLUGINS_PMIX_CARDS_H
#define PLENUM_PLUGINS_PMIX_CARDS_H

#include <pmix.h>

#include "core/job/process.h"

/* `local`: the ranks of this node as PMIx lists them ("0,1,2"), or NULL; borrowed until cards_close(). */
void cards_open(const struct pl_bootstrap_host *host, const pmix_proc_t *self, uint32_t generation, const char *local);
void cards_close(void);
int cards_publish(enum pl_card_slot slot, const void *card, size_t length);
int cards_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length);

#endif
