/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying past the caches, by non-temporal stores of whole lines, which every x86-64 has. See nt_copy.h. */
#include "core/base/nt_copy.h"

#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"

#if PL_X86_64
#include <emmintrin.h>

enum { LINE = PL_CACHE_LINE, PART = sizeof(__m128i) };

void pl_nt_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    char *target = to;
    const char *source = from;
    size_t at = -(uintptr_t)target % LINE;
    if (bytes < 2 * LINE) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(target, source, at);
    for (; bytes - at >= LINE; at += LINE)
        for (size_t i = 0; i < LINE; i += PART)
            _mm_stream_si128((__m128i *)(target + at + i), _mm_loadu_si128((const __m128i *)(source + at + i)));
    memcpy(target + at, source + at, bytes - at);
    _mm_sfence(); /* such stores are not ordered before others */
}

#else

void pl_nt_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif
