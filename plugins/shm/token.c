/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of tokens, with a list of free entries. */
#include "plugins/shm/token.h"

#include <stdbool.h>
#include <stdlib.h>

enum { NONE_FREE = UINT32_MAX };

static bool token_grow(struct pl_shm_tokens *tokens)
{
    uint32_t capacity = tokens->capacity ? tokens->capacity * 2 : 32;
    struct pl_shm_token *entry = capacity > tokens->capacity ? realloc(tokens->entry, capacity * sizeof *entry) : NULL;
    if (!entry)
        return false;
    if (!tokens->entry)
        tokens->free = NONE_FREE;
    tokens->entry = entry;
    tokens->capacity = capacity;
    return true;
}

uint64_t pl_shm_token_create(struct pl_shm_tokens *tokens, enum pl_shm_token_kind kind, const struct pl_shm_peer *peer,
                             void *item)
{
    if (tokens->count == tokens->capacity && (!tokens->entry || tokens->free == NONE_FREE) && !token_grow(tokens))
        return 0;
    uint32_t index = tokens->free;
    if (index != NONE_FREE) {
        tokens->free = tokens->entry[index].next;
    } else {
        index = tokens->count++;
        tokens->entry[index].serial = 0;
    }
    struct pl_shm_token *entry = &tokens->entry[index];
    entry->item = item;
    entry->peer = peer;
    entry->kind = kind;
    if (++entry->serial == 0)
        entry->serial = 1;
    return (uint64_t)entry->serial << 32 | index;
}

void *pl_shm_token_find(const struct pl_shm_tokens *tokens, enum pl_shm_token_kind kind, const struct pl_shm_peer *peer,
                        uint64_t token)
{
    uint32_t index = (uint32_t)token;
    if (index >= tokens->count)
        return NULL;
    const struct pl_shm_token *entry = &tokens->entry[index];
    return entry->serial == token >> 32 && entry->kind == kind && entry->peer == peer ? entry->item : NULL;
}

void pl_shm_token_release(struct pl_shm_tokens *tokens, uint64_t token)
{
    struct pl_shm_token *entry = &tokens->entry[(uint32_t)token];
    entry->item = NULL;
    entry->kind = PL_SHM_TOKEN_NONE;
    entry->next = tokens->free;
    tokens->free = (uint32_t)token;
}

void pl_shm_tokens_fini(struct pl_shm_tokens *tokens)
{
    free(tokens->entry);
}
