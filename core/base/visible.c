/* SPDX-License-Identifier: BSD-3-Clause */
/* See visible.h. */
#include "core/base/visible.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How many bytes a character has that begins with this one; 0: none does. */
static size_t utf8_bytes(unsigned lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2)
        return 0;
    if (lead < 0xe0)
        return 2;
    if (lead < 0xf0)
        return 3;
    return lead < 0xf5 ? 4 : 0;
}

size_t pl_utf8_length(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned lead = length ? at[0] : 0;
    unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;  /* no overlong forms */
    unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf; /* no surrogates, nothing above U+10FFFF */
    size_t bytes = utf8_bytes(lead);
    if (bytes > length || (bytes > 1 && (at[1] < low || at[1] > high)))
        return 0;
    for (size_t i = 2; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

/* The same, of a text that ends with a NUL; 0 also for a control character (C0, DEL, C1). */
static size_t visible_character(const char *at)
{
    unsigned char lead = (unsigned char)at[0];
    bool control = lead < ' ' || lead == 127 || (lead == 0xc2 && (unsigned char)at[1] < 0xa0);
    return control ? 0 : pl_utf8_length(at, strnlen(at, 4));
}

void pl_visible(char *out, size_t size, const char *text)
{
    static const char digits[] = "0123456789abcdef", more[] = "...";
    char *cut = NULL; /* where a sign still fits that the text goes on */
    while (*text) {
        size_t length = visible_character(text);
        size_t needed = length ? length : 4;
        cut = size > sizeof more - 1 ? out : cut;
        if (needed >= size)
            break;
        if (length)
            memcpy(out, text, length);
        else
            memcpy(out, (char[]){ '\\', 'x', digits[*text >> 4 & 15], digits[*text & 15] }, needed);
        text += length ? length : 1;
        out += needed;
        size -= needed;
    }
    if (*text && cut)
        memcpy(cut, more, sizeof more);
    else if (size > 0)
        *out = '\0';
}

void pl_visible_add_reason(char *text, size_t size, const char *reason)
{
    static const char cut[] = "...";
    size_t length = strlen(text), wanted = strlen(": ") + strlen(reason) + 1;
    if (length + wanted > size && wanted + sizeof cut <= size) {
        length = size - wanted - strlen(cut);
        while (length && (text[length] & 0xc0) == 0x80) /* not within a character */
            length--;
        memcpy(text + length, cut, strlen(cut));
        length += strlen(cut);
    }
    snprintf(text + length, size - length, ": %s", reason);
}
