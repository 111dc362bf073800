/* SPDX-License-Identifier: BSD-3-Clause */
/* See words.h. */
#include "core/base/words.h"

#include <string.h>

bool pl_words_value(const char *line, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    for (const char *at = line + strspn(line, " "); *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strncmp(at, key, length) != 0 || at[length] != '=')
            continue;
        at += length + 1;
        size_t bytes = strcspn(at, " ");
        if (bytes >= size)
            return false;
        memcpy(value, at, bytes);
        value[bytes] = '\0';
        return true;
    }
    return false;
}
