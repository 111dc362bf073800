/* SPDX-License-Identifier: BSD-3-Clause */
/* See word.h. */
#include <string.h>

#include "api/mpiexec/word.h"

void print_word(const char *word, FILE *out)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:%@")]) {
        fputs(word, out);
        return;
    }
    putc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    putc('\'', out);
}
