/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that shows where it belongs: bytes made from a seed and their position, and pseudo-random numbers. */
#ifndef PLENUM_TESTS_PATTERN_H
#define PLENUM_TESTS_PATTERN_H

#include <stddef.h>
#include <stdint.h>

static inline unsigned char pattern_byte(uint64_t seed, size_t i)
{
    return (unsigned char)(seed * 197 + i * 31 + (i >> 8) * 7 + (i >> 16));
}

static inline void pattern_fill(void *buf, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)buf)[i] = pattern_byte(seed, i);
}

static inline int pattern_holds(const void *buf, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)buf)[i] != pattern_byte(seed, i))
            return 0;
    return 1;
}

/* Every byte of `buf` is `value`: what a receive must not have touched. */
static inline int pattern_untouched(const void *buf, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)buf)[i] != value)
            return 0;
    return 1;
}

/* xorshift64*: the same sequence on every rank that starts with the same state, which must not be 0. */
static inline uint32_t pattern_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * 0x2545f4914f6cdd1dull >> 32);
}

#endif
