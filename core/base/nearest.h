/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance between a mistyped name and a known one. */
#ifndef PLENUM_CORE_BASE_NEAREST_H
#define PLENUM_CORE_BASE_NEAREST_H

#include <string.h>

/* The number of letters to change, add or remove to turn one name into the other; a large number for long names. */
static inline int pl_nearest_distance(const char *a, const char *b)
{
    int row[65] = { 0 }, la = (int)strlen(a), lb = (int)strlen(b);
    if (la > 64 || lb > 64)
        return 99;
    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int above = row[j], change = diagonal + (a[i - 1] != b[j - 1]);
            int step = (above < row[j - 1] ? above : row[j - 1]) + 1;
            row[j] = step < change ? step : change;
            diagonal = above;
        }
    }
    return row[lb];
}

/* The distance from which on two names are unrelated. */
static inline int pl_nearest_limit(const char *name)
{
    return strlen(name) < 4 ? 2 : 3;
}

#endif
