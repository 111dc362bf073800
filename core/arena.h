/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of handle objects: one reserved range of addresses, cut into chunks, each chunk for one kind.
 *
 * Any pointer can be asked about: whether it is in the range, in a chunk of the kind, at the start of a slot, and
 * carries the stamp of a live object, is answered without ever following a pointer that is not the arena's own.
 *
 * Thread rule: all functions by any thread. Only pl_arena_trim() has a condition: it unmaps the range when no object
 * lives, and a thread that at this very moment asks about a freed handle has nothing to ask about.
 */
#ifndef PLENUM_CORE_ARENA_H
#define PLENUM_CORE_ARENA_H

#include "core/object.h"

/* A slot for an object of this kind: zeroed but for its header, which the caller fills in. NULL: out of memory. */
struct pl_object *pl_arena_take(enum pl_kind kind);

/* Marks the object as live: from now on it is found. The last thing that its maker does. */
void pl_arena_stamp(struct pl_object *object, enum pl_kind kind);

/* Wipes the stamp and takes the slot back. */
void pl_arena_give(struct pl_object *object, enum pl_kind kind);

/* The live object of this kind that starts at `pointer`, NULL when there is none. */
struct pl_object *pl_arena_find(enum pl_kind kind, const void *pointer);

/* Live objects of a kind. */
long pl_arena_count(enum pl_kind kind);

/* Gives everything back to the system when no object lives; what empty chunks hold in any case. */
void pl_arena_trim(void);

#endif
