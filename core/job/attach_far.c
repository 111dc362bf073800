/* SPDX-License-Identifier: BSD-3-Clause */
/* See attach_far.h. */
#include "core/job/attach_far.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"

enum { RANK_TEXT = 12 }; /* a rank and a comma */

struct pl_far *pl_far_create(const bool *local, int size)
{
    struct pl_far *far = pl_calloc(1, sizeof *far);
    if (far) {
        far->local = pl_malloc((size_t)size * sizeof *local);
        far->local_ranks = pl_malloc((size_t)size * RANK_TEXT + 1);
    }
    if (!far || !far->local || !far->local_ranks) {
        pl_far_release(far);
        pl_fail_memory("the ranks of a pool");
        return NULL;
    }
    memcpy(far->local, local, (size_t)size * sizeof *local);
    size_t used = 0;
    for (int r = 0; r < size; r++)
        if (local[r])
            used += (size_t)sprintf(far->local_ranks + used, "%s%d", far->local_size++ ? "," : "", r);
    return far;
}

void pl_far_release(struct pl_far *far)
{
    if (!far)
        return;
    free(atomic_load(&far->cards));
    free(far->local_ranks);
    free(far->local);
    free(far);
}

void pl_far_set_cards(struct pl_far *far, struct pl_far_card *cards)
{
    atomic_store_explicit(&far->cards, cards, memory_order_release);
}

int pl_far_card(const struct pl_far *far, int rank, void *card, size_t *length)
{
    const struct pl_far_card *cards = atomic_load_explicit(&far->cards, memory_order_acquire);
    if (!cards)
        return PL_AGAIN;
    *length = cards[rank].length;
    memcpy(card, cards[rank].data, *length);
    return MPI_SUCCESS;
}
