/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Books of addresses: the cards of the engines with which a group's members take part in a communicator from groups.
 * Shared by the communicator and those made from it; not changed any more once it is full.
 *
 * The cards lie one behind the other, after a table of where each begins: a member costs the bytes that its card has,
 * and four. Books travel as they lie in memory.
 */
#ifndef PLENUM_CORE_ENGINE_ADDRESS_VECTOR_H
#define PLENUM_CORE_ENGINE_ADDRESS_VECTOR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct pl_group;

struct pl_av {
    _Atomic int refs;
    struct pl_group *group; /* retained */
    uint32_t *begin;        /* [group size + 1] bytes behind the table; then the cards. NULL: there are none yet */
};

/* Without cards. NULL: out of memory (recorded). */
struct pl_av *pl_av_create(struct pl_group *group);
struct pl_av *pl_av_retain(struct pl_av *av); /* NULL is fine */
void pl_av_release(struct pl_av *av);         /* the same */

/* Makes room for cards of so many bytes altogether; then they are added, for all members in order. */
int pl_av_open(struct pl_av *av, size_t bytes);
void pl_av_add(struct pl_av *av, int member, const void *card, size_t length);

/* A member's card; borrowed. */
const void *pl_av_card(const struct pl_av *av, int member, size_t *length);

/* A full book on its way: its bytes; writes them and returns the end; reads them, from `*at` to at most `end`, and
 * moves `*at` behind them. MPI_ERR_OTHER: they are damaged. */
size_t pl_av_size(const struct pl_av *av);
unsigned char *pl_av_write(const struct pl_av *av, unsigned char *at);
int pl_av_read(struct pl_av *av, const unsigned char **at, const unsigned char *end);

#endif
