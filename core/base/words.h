/* SPDX-License-Identifier: BSD-3-Clause */
/* One of these words; and lines of words "key=value" with blanks between them, as the PMI-1 wire has them. */
#ifndef PLENUM_CORE_BASE_WORDS_H
#define PLENUM_CORE_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The place of a word in a list that ends with NULL; -1: it is not there. */
static inline int pl_words_find(const char *const words[], const char *word)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* Copies the value of the first word with this key. False: there is none, or it does not fit. */
bool pl_words_value(const char *line, const char *key, char *value, size_t size);

#endif
