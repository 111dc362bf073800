/* SPDX-License-Identifier: BSD-3-Clause */
/* The triplets of the info key soft and of mpiexec -soft (MPI 5.0, sections 11.5 and 11.8.4). */
#ifndef PLENUM_CORE_BASE_TRIPLET_H
#define PLENUM_CORE_BASE_TRIPLET_H

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Reads "a", "a:b" or "a:b:c" at *at, and moves it behind; the numbers are a, a + c, ... up to b, or down to it. False:
 * it is not a triplet. */
static inline bool pl_triplet_read(const char **at, long triplet[3])
{
    int parts = 0;
    do {
        char *end;
        triplet[parts] = strtol(*at, &end, 10);
        if (end == *at || triplet[parts] > INT_MAX || triplet[parts] < -INT_MAX)
            return false;
        *at = end + strspn(end, " ");
        parts++;
    } while (parts < 3 && **at == ':' && (*at)++);
    if (parts == 1)
        triplet[1] = triplet[0];
    if (parts < 3)
        triplet[2] = 1;
    return triplet[2] > 0 ? triplet[1] >= triplet[0] : triplet[2] < 0 && triplet[1] <= triplet[0];
}

#endif
