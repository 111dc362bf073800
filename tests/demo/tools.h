/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, and time. */
#ifndef DEMO_TOOLS_H
#define DEMO_TOOLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Zeroed memory; without memory the program ends. */
static inline void *allocate(int64_t count, size_t size)
{
    void *memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (!memory) {
        fprintf(stderr, "out of memory: %lld elements of %zu bytes\n", (long long)count, size);
        exit(1);
    }
    return memory;
}

/* Seconds since some moment. A library does not ask MPI for the time before it has opened a session. */
static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
