/* SPDX-License-Identifier: BSD-3-Clause */
/* Balanced factors of a number. See topology_dims.h. */
#include "core/comm/topology_dims.h"

#include <stdbool.h>
#include <string.h>

/* Whether base^exponent <= limit. */
static bool power_fits(int base, int exponent, int limit)
{
    while (exponent-- > 0)
        limit /= base;
    return limit >= 1;
}

/* The largest integer whose power fits. */
static int root_of(int n, int degree)
{
    int low = 1, high = n;
    while (low < high) {
        int middle = high - (high - low) / 2;
        if (power_fits(middle, degree, n))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Writes n as a product of `count` factors from low to high, in ascending order. False: there is no such product. */
static bool dims_split(int n, int count, int low, int high, int factors[])
{
    if (count == 1) {
        factors[0] = n;
        return low <= n && n <= high;
    }
    if (power_fits(high, count, n - 1)) /* even the largest factors give too little */
        return false;
    for (int f = root_of(n, count); f >= low; f--) {
        if (n % f == 0 && dims_split(n / f, count - 1, f, high, factors + 1)) {
            factors[0] = f;
            return true;
        }
    }
    return false;
}

/* The largest factor is never below the root. So the search ends at a smallest factor that is farther below the root
 * than the best distance. */
void pl_dims_balance(int n, int count, int factors[])
{
    int root = root_of(n, count), trial[PL_DIMS_MAX];
    int distance = n; /* of the best so far; n: none found yet */
    if (count == 1) {
        factors[0] = n;
        return;
    }
    for (int low = root; low >= 1 && root - low < distance; low--) {
        if (n % low != 0)
            continue;
        trial[0] = low;
        while (distance > 0 && dims_split(n / low, count - 1, low, distance < n ? low + distance - 1 : n, trial + 1)) {
            memcpy(factors, trial, (size_t)count * sizeof *factors);
            distance = factors[count - 1] - low;
        }
    }
}
