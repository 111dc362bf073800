/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool on several machines, as one of its processes knows it: which ranks are on this machine, and the address cards
 * of the others. Each machine has a segment of its own (core/job/attach_file.h), where the slots of other machines'
 * ranks stay empty. The cards come once, by the exchange; so a member keeps its listener open while it is attached.
 */
#ifndef PLENUM_CORE_JOB_ATTACH_FAR_H
#define PLENUM_CORE_JOB_ATTACH_FAR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/job/segment.h"

struct pl_far_card {
    uint32_t length;
    unsigned char data[PL_CARD_MAX];
};

struct pl_far {
    int local_size;
    char *local_ranks; /* "0,1,4", on this machine */
    bool *local;       /* [pool size] */
    /* [pool size] NULL: they have not come yet. They come once, while other threads may look them up. */
    struct pl_far_card *_Atomic cards;
};

/* A copy of `local`, without cards. NULL: no memory, recorded. */
struct pl_far *pl_far_create(const bool *local, int size);
void pl_far_release(struct pl_far *far); /* NULL: nothing */

/* Gives the cards, for free(). */
void pl_far_set_cards(struct pl_far *far, struct pl_far_card *cards);

/* Is this rank on another machine? `far` may be NULL: all are on this one. */
static inline bool pl_far_has(const struct pl_far *far, int rank)
{
    return far && !far->local[rank];
}

/* Copies the card of a rank's listener into PL_CARD_MAX bytes. PL_AGAIN: the cards have not come yet. */
int pl_far_card(const struct pl_far *far, int rank, void *card, size_t *length);

#endif
