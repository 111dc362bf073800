/* SPDX-License-Identifier: BSD-3-Clause */
/* What somebody who mistyped an option may have meant. */
#include "api/mpiexec/options.h"
#include "core/nearest.h"

const char *options_suggest(const char *name)
{
    const char *best = NULL;
    int nearest = pl_nearest_limit(name);
    const char *known;
    for (int i = 0; (known = options_name(i)); i++) {
        int d = pl_nearest_distance(name, known);
        if (d < nearest && strlen(known) > 1) {
            nearest = d;
            best = known;
        }
    }
    return best;
}
