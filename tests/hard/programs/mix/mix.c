/* SPDX-License-Identifier: BSD-3-Clause */
/* mix STEPS SEED [verbose]: the steps of a random MPI program (mix.h). Prints "whole" if all was right. */
#include "mix.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mix mix;

uint64_t mix_hash(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

unsigned plan_below(unsigned n)
{
    return (unsigned)(mix_hash(mix.plan++) % n);
}

unsigned own_below(unsigned n)
{
    return (unsigned)(mix_hash(mix.own++) % n);
}

size_t plan_length(size_t most)
{
    static const size_t edges[] = {
        1,   8,   16,   32,   56,   57,   58,   59,    60,    61,    62,     64,     72,
        128, 256, 1000, 1024, 1100, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576
    };
    size_t length;
    do {
        unsigned edge = plan_below(plan_below(3) ? 18 : sizeof edges / sizeof *edges);
        length = plan_below(12) ? edges[edge] - 1 + plan_below(3) : plan_below(2000);
        if (plan_below(12) == 0)
            length = 0;
    } while (length > most);
    return length;
}

void fail(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "seed %llu, step %d, rank %d of %d: %s\n", (unsigned long long)mix.seed, mix.step, mix.rank,
            mix.size, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void ok(int err, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (err == MPI_SUCCESS)
        return;
    MPI_Error_string(err, text, &length);
    fail("%s: %s", call, text);
}

void raised(int err, int class, const char *call)
{
    int got = MPI_SUCCESS;
    if (err != MPI_SUCCESS)
        MPI_Error_class(err, &got);
    if (got != class)
        fail("%s: raised class %d, not %d", call, got, class);
}

static void one_step(void)
{
    static const struct {
        const char *name;
        void (*step)(void);
        unsigned weight;
    } kinds[] = {
        { "create", comm_step, 8 },
        { "free", comm_free_step, 5 },
        { "exchange", exchange_step, 8 },
        { "wild", wild_step, 4 },
        { "errors", error_step, 5 },
        { "collective", collective_step, 30 },
        { "reduction", reduction_step, 20 },
        { "neighbors", neighbor_step, 10 },
        { "channel", channel_step, 12 },
        { "window", window_step, 10 },
        { "file", file_step, 5 },
        { "messages", NULL, 40 },
        { "session", session_step, 3 },
    };
    unsigned all = 0, kind = 0;
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        all += kinds[k].weight;
    unsigned at = plan_below(all);
    while (at >= kinds[kind].weight)
        at -= kinds[kind++].weight;
    if (mix.verbose)
        fprintf(stderr, "%d: step %d: %s\n", mix.rank, mix.step, kinds[kind].name);
    if (kinds[kind].step)
        kinds[kind].step();
    else
        for (unsigned m = 1 + plan_below(6); m > 0; m--)
            message_step(false);
    if (own_below(40) == 0)
        usleep(own_below(3000));
    for (unsigned n = own_below(3); n > 0; n--)
        ops_some();
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int steps = atoi(argv[1]), level;
    mix.seed = strtoull(argv[2], NULL, 10);
    mix.verbose = argc > 3 && strcmp(argv[3], "verbose") == 0;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level));
    MPI_Comm_rank(MPI_COMM_WORLD, &mix.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mix.size);
    mix.plan = mix_hash(mix.seed);
    mix.own = mix_hash(mix.plan + (uint64_t)mix.rank + 1);
    bases_make();
    comms_open();
    messages_open();
    collectives_open();
    for (mix.step = 0; mix.step < steps; mix.step++)
        one_step();
    windows_close();
    files_close();
    ops_all();
    MPI_Barrier(MPI_COMM_WORLD);
    comms_close();
    messages_close();
    collectives_close();
    bases_free();
    MPI_Barrier(MPI_COMM_WORLD);
    orphans_end();
    if (mix.rank == 0)
        puts("whole");
    MPI_Finalize();
    return 0;
}
