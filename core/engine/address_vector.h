/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address vectors: the address cards of the engines with which a group's members take part in a communicator that was
 * created from a group. That communicator and those made from it share it. It is immutable once it is full.
 *
 * The cards follow a table of their offsets: a member costs the bytes of its card, plus four. The wire format is the
 * format in memory.
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
    uint32_t *begin;        /* [group size + 1] offsets behind the table, in bytes; then the cards. NULL: none yet */
};

/* An empty one, which retains the group. NULL: out of memory (recorded). */
struct pl_av *pl_av_create(struct pl_group *group);
struct pl_av *pl_av_retain(struct pl_av *av); /* NULL is ignored */
void pl_av_release(struct pl_av *av);         /* NULL is ignored */

/* Allocates space for cards of `bytes` in total. The caller then adds a card for each member, in order. */
int pl_av_open(struct pl_av *av, size_t bytes);
void pl_av_add(struct pl_av *av, int member, const void *card, size_t length);

/* A member's card; borrowed. */
const void *pl_av_card(const struct pl_av *av, int member, size_t *length);

/* The wire format of a full one: its size in bytes; writes it, and returns the end; reads it from `*at`, which is moved
 * behind it, and at most to `end`. MPI_ERR_OTHER: the bytes are damaged. */
size_t pl_av_size(const struct pl_av *av);
unsigned char *pl_av_write(const struct pl_av *av, unsigned char *at);
int pl_av_read(struct pl_av *av, const unsigned char **at, const unsigned char *end);

#endif
