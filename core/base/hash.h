/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for texts and the like, the same in all processes (FNV-1a). Not for data that an attacker chooses. */
#ifndef PLENUM_CORE_BASE_HASH_H
#define PLENUM_CORE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define PL_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t pl_hash_add(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x100000001b3);
}

static inline uint64_t pl_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = pl_hash_add(hash, at[i]);
    return hash;
}

static inline uint64_t pl_hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = pl_hash_add(hash, (unsigned char)*text);
    return hash;
}

#endif
