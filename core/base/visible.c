/* SPDX-License-Identifier: BSD-3-Clause */
/* See visible.h. */
#include "core/base/visible.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character at `at`; 0: a control character (C0, DEL, C1), or not UTF-8. */
static size_t visible_character(const unsigned char *at)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (*at < 0x80)
        return *at >= ' ' && *at != 127;
    size_t length = *at >= 0xf0 && *at < 0xf8 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc0 ? 2 : 0;
    uint32_t code = length ? *at & (0x7fu >> length) : 0;
    if (*at >= 0xf8)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0; /* a NUL, too */
        code = code << 6 | (at[i] & 0x3f);
    }
    bool good = length && code >= least[length] && code >= 0xa0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return good ? length : 0;
}

void pl_visible(char *out, size_t size, const char *text)
{
    static const char digits[] = "0123456789abcdef", more[] = "...";
    const unsigned char *at = (const unsigned char *)text;
    char *cut = NULL; /* where a sign still fits that the text goes on */
    while (*at) {
        size_t length = visible_character(at);
        size_t needed = length ? length : 4;
        cut = size > sizeof more - 1 ? out : cut;
        if (needed >= size)
            break;
        if (length)
            memcpy(out, at, length);
        else
            memcpy(out, (char[]){ '\\', 'x', digits[*at >> 4], digits[*at & 15] }, needed);
        at += length ? length : 1;
        out += needed;
        size -= needed;
    }
    if (*at && cut)
        memcpy(cut, more, sizeof more);
    else if (size > 0)
        *out = '\0';
}
