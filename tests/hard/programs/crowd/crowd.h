/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random MPI programs in which the set of processes changes. grow.c: processes are spawned, connect, join, merge,
 * disconnect and leave. deaths.c: some are killed, and the others go on (docs/fault-tolerance.md).
 *
 * All processes draw the same plan from one seed, so each knows what the others do and compares all data with that. A
 * spawned process draws the plan from its beginning, as one that takes part in nothing until it is spawned. What does
 * not matter to others each process draws by itself. A step waits only for what other processes do in the same or
 * earlier steps, so nothing can deadlock.
 */
#ifndef PLENUM_TESTS_CROWD_H
#define PLENUM_TESTS_CROWD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* plan: the state of what all draw; me: the number of this process among all that ever live, or -1: not yet spawned. */
extern struct crowd {
    uint64_t seed, plan, own;
    int step, me;
    bool verbose;
} crowd;

static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline int plan_below(int n)
{
    return (int)(mix(crowd.plan++) % (unsigned)n);
}

static inline int own_below(int n)
{
    return (int)(mix(crowd.own++) % (unsigned)n);
}

static inline int plan_length(void)
{
    static const int edges[] = { 0, 1, 8, 57, 64, 256, 1024, 4096, 8192, 65536, 262144 };
    return plan_below(3) ? edges[plan_below(11)] + plan_below(3) : plan_below(3000);
}

#define FAIL(...)                                                                                                      \
    do {                                                                                                               \
        fprintf(stderr, "seed %llu, step %d, process %d, line %d: ", (unsigned long long)crowd.seed, crowd.step,       \
                crowd.me, __LINE__);                                                                                   \
        fprintf(stderr, __VA_ARGS__);                                                                                  \
        fputc('\n', stderr);                                                                                           \
        MPI_Abort(MPI_COMM_WORLD, 1);                                                                                  \
        abort();                                                                                                       \
    } while (0)
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            FAIL("not so: %s", #condition);                                                                            \
    } while (0)
#define RAISES(class, call)                                                                                            \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (class_of(code_) != (class))                                                                                \
            FAIL("%s: class %d, not %d: %s", #call, class_of(code_), (int)(class), words_of(code_));                   \
    } while (0)
#define OK(call) RAISES(MPI_SUCCESS, call)

static inline int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

static inline const char *words_of(int code)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return "";
    MPI_Error_string(code, text, &length);
    return text;
}

/* Data number `id`, which depends on what it is for and on the two processes. */
static inline uint64_t data_id(int what, int from, int to)
{
    return mix(crowd.seed + ((uint64_t)what << 32) + (uint64_t)from * 1000 + (uint64_t)to);
}

static inline void data_fill(void *memory, int bytes, uint64_t id)
{
    unsigned char *byte = memory;
    for (int i = 0; i < bytes; i++)
        byte[i] = (unsigned char)(id >> i % 7 * 8) ^ (unsigned char)(i * 29 >> 3);
}

static inline bool data_is(const void *memory, int bytes, uint64_t id)
{
    const unsigned char *byte = memory;
    for (int i = 0; i < bytes; i++)
        if (byte[i] != ((unsigned char)(id >> i % 7 * 8) ^ (unsigned char)(i * 29 >> 3)))
            return false;
    return true;
}

#endif
