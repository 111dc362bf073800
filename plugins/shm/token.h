/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens: names for pending messages that peers may hold. A token is the index of an entry and the number of times that
 * the entry was used.
 *
 * Peers send tokens back. They are looked up, never followed: a token that comes from the wrong peer, comes too late or
 * is made up is not found.
 */
#ifndef PLENUM_PLUGINS_SHM_TOKEN_H
#define PLENUM_PLUGINS_SHM_TOKEN_H

#include <stdint.h>

#include "core/base/vec.h"

struct pl_shm_peer;

enum pl_shm_token_kind { PL_SHM_TOKEN_NONE, PL_SHM_TOKEN_SENDING, PL_SHM_TOKEN_RECEIVING };

struct pl_shm_token {
    void *item;
    const struct pl_shm_peer *peer;
    uint32_t serial;
    uint32_t next; /* in the free list, like pl_shm_tokens.free */
    enum pl_shm_token_kind kind;
};

struct pl_shm_tokens {
    PL_VEC(struct pl_shm_token) entries;
    uint32_t free; /* 1 + the index of the first free entry; 0: none */
};

/* `peer` and `item` are borrowed. 0: out of memory. */
uint64_t pl_shm_token_create(struct pl_shm_tokens *tokens, enum pl_shm_token_kind kind, const struct pl_shm_peer *peer,
                             void *item);
/* The item of a token of this kind that the peer may use; NULL: none (any more). */
void *pl_shm_token_find(const struct pl_shm_tokens *tokens, enum pl_shm_token_kind kind, const struct pl_shm_peer *peer,
                        uint64_t token);
void pl_shm_token_release(struct pl_shm_tokens *tokens, uint64_t token);
void pl_shm_tokens_fini(struct pl_shm_tokens *tokens);

#endif
