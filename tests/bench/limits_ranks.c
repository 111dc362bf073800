/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What several processes can do that share the machine's processors, without any MPI. The first argument is their
 * number. Each processor has an equal share of them, to which they are bound, and they yield where they wait.
 *
 * - a barrier: each tells all others, and waits until all have told it
 * - an alltoall: each has a block for each other one. Either each process copies its blocks into a buffer that all can
 *   read, and they copy them out, in larger or smaller segments, through the caches or past them. Or the kernel copies
 *   each block once.
 *
 * A figure is that of the fastest way, with many polls before each yield and with one.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__
#include <emmintrin.h>
#endif

enum {
    PROCESSES = 16, /* at most */
    BLOCK = 1 << 20,
    SLOT = 512 << 10, /* a half of a process's buffer: one is written while the other is read */
    POLLS = 64,       /* in vain, before a process yields; or one */
    BATCHES = 5,
};

static struct shared {
    struct {
        _Alignas(64) _Atomic unsigned arrived;
        _Atomic double took;
        pid_t pid;
        void *blocks;
    } at[PROCESSES];
    _Atomic bool kernel_refuses;
    _Alignas(4096) char slot[PROCESSES][2][SLOT];
} * shared;
static int me, size;
static unsigned polls_before_yield;
static char *blocks, *target; /* a block for each process, and from each */

struct way {
    size_t segment; /* bytes for all processes together; 0: by the kernel */
    bool streams;   /* what is written goes past the caches */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for(int other, unsigned count)
{
    for (unsigned polls = 0; (int)(atomic_load_explicit(&shared->at[other].arrived, memory_order_acquire) - count) < 0;)
        if (++polls % polls_before_yield == 0)
            sched_yield();
}

static void barrier(void)
{
    static unsigned count;
    count++;
    atomic_store_explicit(&shared->at[me].arrived, count, memory_order_release);
    for (int i = 1; i < size; i++)
        wait_for((me + i) % size, count);
}

static void copy(char *to, const char *from, size_t bytes, bool streams)
{
#if defined __x86_64__
    if (streams && (size_t)to % 16 == 0 && bytes % 64 == 0) {
        for (size_t i = 0; i < bytes; i += 16)
            _mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
        _mm_sfence();
        return;
    }
#endif
    (void)streams;
    memcpy(to, from, bytes);
}

static void alltoall_by_kernel(size_t bytes)
{
    barrier();
    for (int i = 0; i < size; i++) {
        int from = (me + i) % size;
        struct iovec to = { target + (size_t)from * bytes, bytes };
        struct iovec source = { (char *)shared->at[from].blocks + (size_t)me * bytes, bytes };
        if (from == me)
            memcpy(to.iov_base, source.iov_base, bytes);
        else if (process_vm_readv(shared->at[from].pid, &to, 1, &source, 1, 0) != (ssize_t)bytes)
            shared->kernel_refuses = true;
    }
    barrier();
}

static void alltoall(size_t bytes, struct way way)
{
    static unsigned half;
    if (way.segment == 0) {
        alltoall_by_kernel(bytes);
        return;
    }
    size_t each = way.segment / (size_t)size / 64 * 64;
    for (size_t at = 0; at < bytes; at += each, half = !half) {
        size_t part = bytes - at < each ? bytes - at : each;
        for (int i = 0; i < size; i++)
            if (i != me)
                memcpy(shared->slot[me][half] + (size_t)i * part, blocks + (size_t)i * bytes + at, part);
        copy(target + (size_t)me * bytes + at, blocks + (size_t)me * bytes + at, part, way.streams);
        barrier();
        for (int i = 1; i < size; i++) {
            int from = (me + i) % size;
            copy(target + (size_t)from * bytes + at, shared->slot[from][half] + (size_t)me * part, part, way.streams);
        }
    }
}

/* The seconds of `times` operations, until the last process has finished. */
static double once(size_t bytes, struct way way, int times)
{
    barrier();
    double start = now();
    for (int i = 0; i < times; i++)
        if (bytes == 0)
            barrier();
        else
            alltoall(bytes, way);
    atomic_store(&shared->at[me].took, now() - start);
    barrier();
    double longest = 0;
    for (int i = 0; i < size; i++)
        longest = shared->at[i].took > longest ? shared->at[i].took : longest;
    barrier();
    return longest;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(size_t bytes, struct way way)
{
    double time[BATCHES], took = once(bytes, way, 1);
    int times = 1;
    for (took = once(bytes, way, 1); took < 4e-3; took = once(bytes, way, times))
        times *= 2;
    for (int i = 0; i < BATCHES; i++)
        time[i] = once(bytes, way, times) / times;
    qsort(time, BATCHES, sizeof *time, compare);
    return time[BATCHES / 2];
}

static double least_of(double a, double b)
{
    return a > 0 && a < b ? a : b;
}

/* 0 bytes: a barrier. */
static double fastest(size_t bytes)
{
    static const struct way ways[] = {
        { 128 << 10, false }, { 128 << 10, true }, { SLOT, false }, { SLOT, true }, { 0, false }
    };
    double best = 0;
    for (int once_each = 0; once_each < 2; once_each++) {
        polls_before_yield = once_each ? 1 : POLLS;
        for (size_t i = 0; i < (bytes > 0 ? sizeof ways / sizeof *ways : 1); i++) {
            double took = median(bytes, ways[i]);
            if (ways[i].segment > 0 || !shared->kernel_refuses)
                best = least_of(best, took);
        }
    }
    return best;
}

/* The processes are bound to the processors by turns. */
static void bind(void)
{
    cpu_set_t allowed, one;
    int processors = 0, chosen = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed) && processors++ == me % CPU_COUNT(&allowed))
            chosen = i;
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void run(void)
{
    static const struct {
        const char *name;
        size_t bytes;
    } test[] = { { "barrier", 0 },
                 { "alltoall 8 B", 8 },
                 { "alltoall 1 KiB", 1024 },
                 { "alltoall 64 KiB", 65536 },
                 { "alltoall 1 MiB", BLOCK } };
    bind();
    polls_before_yield = POLLS;
    shared->at[me].pid = getpid();
    shared->at[me].blocks = blocks = aligned_alloc(4096, (size_t)size * BLOCK);
    target = aligned_alloc(4096, (size_t)size * BLOCK);
    if (!blocks || !target)
        abort();
    memset(blocks, 1, (size_t)size * BLOCK);
    memset(target, 0, (size_t)size * BLOCK);
    memset(shared->slot[me], 0, sizeof shared->slot[me]);
    for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
        double took = fastest(test[i].bytes);
        if (me == 0)
            printf("%s\t%.6g\tus\n", test[i].name, 1e6 * took);
    }
}

int main(int argc, char **argv)
{
    size = argc > 1 ? atoi(argv[1]) : 0;
    if (size < 2 || size > PROCESSES)
        return 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    for (int i = 1; i < size && me == 0; i++) {
        pid_t child = fork();
        if (child < 0)
            return 1; /* the others end with this process */
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            me = i;
        }
    }
    run();
    fflush(stdout);
    if (me != 0)
        _exit(0);
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    return failed != 0;
}
