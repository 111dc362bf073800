/* SPDX-License-Identifier: BSD-3-Clause */
/* What somebody who mistyped an option may have meant. */
#include <string.h>

#include "api/mpiexec/options.h"

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters to change, add or leave out. Names are shorter than 32. */
static int distance(const char *a, const char *b)
{
    int row[33] = { 0 }, la = (int)strlen(a), lb = (int)strlen(b);
    if (la > 32 || lb > 32)
        return 99;
    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int above = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[lb];
}

const char *options_suggest(const char *name)
{
    const char *best = NULL;
    int nearest = strlen(name) < 4 ? 2 : 3;
    const char *known;
    for (int i = 0; (known = options_name(i)); i++) {
        int d = distance(name, known);
        if (d < nearest && strlen(known) > 1) {
            nearest = d;
            best = known;
        }
    }
    return best;
}
