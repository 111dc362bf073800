/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading an address card of the job segment. The owner may withdraw it and write another one while other
 * processes read: a reader checks the generation before and after, and uses the card only if both are the same. So
 * every card that is written into a slot needs a generation of its own. One writer, any number of readers, no waiting.
 */
#ifndef PLENUM_CORE_JOB_CARD_H
#define PLENUM_CORE_JOB_CARD_H

#include "core/job/segment.h"

static inline void pl_job_card_withdraw(struct pl_job_card *card)
{
    atomic_store_explicit(&card->generation, 0, memory_order_relaxed);
    __sync_synchronize(); /* before any byte of the next card */
}

/* `generation` is not 0. */
static inline void pl_job_card_write(struct pl_job_card *card, uint32_t generation, const void *data, size_t length)
{
    const unsigned char *from = data;
    pl_job_card_withdraw(card);
    for (size_t i = 0; i < length; i++)
        __atomic_store_n(&card->data[i], from[i], __ATOMIC_RELAXED);
    __atomic_store_n(&card->length, (uint32_t)length, __ATOMIC_RELAXED);
    atomic_store_explicit(&card->generation, generation, memory_order_release);
}

/* Copies the card into `data`, of PL_CARD_MAX bytes, and returns its generation. 0: there is no card at this moment, or
 * it is damaged. */
static inline uint32_t pl_job_card_read(const struct pl_job_card *card, void *data, size_t *length)
{
    unsigned char *to = data;
    uint32_t generation = atomic_load_explicit(&card->generation, memory_order_acquire);
    uint32_t bytes = __atomic_load_n(&card->length, __ATOMIC_RELAXED);
    if (generation == 0 || bytes > PL_CARD_MAX)
        return 0;
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = __atomic_load_n(&card->data[i], __ATOMIC_RELAXED);
    __sync_synchronize();
    *length = bytes;
    return atomic_load_explicit(&card->generation, memory_order_relaxed) == generation ? generation : 0;
}

#endif
