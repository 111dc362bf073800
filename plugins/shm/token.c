/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of tokens, with a list of free entries. */
#include "plugins/shm/token.h"

static struct pl_shm_token *token_take_entry(struct pl_shm_tokens *tokens)
{
    if (tokens->free > 0) {
        struct pl_shm_token *entry = &tokens->entries.items[tokens->free - 1];
        tokens->free = entry->next;
        return entry;
    }
    struct pl_shm_token *entry = tokens->entries.count < UINT32_MAX ? PL_VEC_PUSH(&tokens->entries) : NULL;
    if (entry)
        entry->serial = 0;
    return entry;
}

uint64_t pl_shm_token_create(struct pl_shm_tokens *tokens, enum pl_shm_token_kind kind, const struct pl_shm_peer *peer,
                             void *item)
{
    struct pl_shm_token *entry = token_take_entry(tokens);
    if (!entry)
        return 0;
    entry->item = item;
    entry->peer = peer;
    entry->kind = kind;
    if (++entry->serial == 0)
        entry->serial = 1;
    return (uint64_t)entry->serial << 32 | (uint64_t)(entry - tokens->entries.items);
}

void *pl_shm_token_find(const struct pl_shm_tokens *tokens, enum pl_shm_token_kind kind, const struct pl_shm_peer *peer,
                        uint64_t token)
{
    uint32_t index = (uint32_t)token;
    if (index >= tokens->entries.count)
        return NULL;
    const struct pl_shm_token *entry = &tokens->entries.items[index];
    return entry->serial == token >> 32 && entry->kind == kind && entry->peer == peer ? entry->item : NULL;
}

void pl_shm_token_release(struct pl_shm_tokens *tokens, uint64_t token)
{
    uint32_t index = (uint32_t)token;
    struct pl_shm_token *entry = &tokens->entries.items[index];
    entry->item = NULL;
    entry->kind = PL_SHM_TOKEN_NONE;
    entry->next = tokens->free;
    tokens->free = index + 1;
}

void pl_shm_tokens_fini(struct pl_shm_tokens *tokens)
{
    PL_VEC_FINI(&tokens->entries);
}
