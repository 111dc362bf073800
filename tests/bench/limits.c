/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the machine can do between two of its processors, without any MPI:
 *
 * - a flag that two processes pass back and forth
 * - a message that they pass back and forth: copied in by one, copied out by the other
 * - such a message in each direction at the same time; and a window of them in one direction, with one answer
 * - a copy within one of them
 * - a copy by both through a few shared buffers, one copying in as the other copies out, in one direction or in both
 * - a copy by the kernel out of the other's memory
 *
 * In both directions each process uses as much memory as in pair.c, a window of messages out and one in. With messages
 * of 256 KiB and more that is 64 MiB for the two, which no cache holds.
 *
 * limits line: only the flag.
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

enum {
    LARGEST = 4 << 20,
    WINDOW = 4 << 20, /* as in pair.c */
    MESSAGES = 64,
    BUFFERS = 4,
    BUFFER = 128 << 10,
    PINGS = 20000,
    LINE = 64,
    IN_LINE = 48, /* bytes beside a number in one line */
    RING = 128 << 10,
    TOTAL = 32 << 20,
    BATCHES = 9,
};

static struct shared {
    _Alignas(64) _Atomic unsigned arrived;
    _Alignas(64) _Atomic unsigned flag[2][16];
    struct {
        _Alignas(64) _Atomic size_t filled;
        _Alignas(64) _Atomic size_t drained;
        _Alignas(4096) char buffer[BUFFERS][BUFFER];
    } way[2]; /* from each */
    pid_t pid;
    void *memory;
} * shared;
static int me;
static char *memory;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void meet(void)
{
    static unsigned exchanges;
    exchanges++;
    atomic_fetch_add(&shared->arrived, 1);
    while (atomic_load(&shared->arrived) < 2 * exchanges)
        ;
}

static void relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}

static void prefetch(char *line)
{
#if defined __x86_64__
    __asm__ volatile("prefetchw %0" ::"m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* --- each returns the seconds of one message, or of one flag ------------------------------------------------------ */

static double flag(size_t bytes)
{
    static unsigned count;
    (void)bytes;
    meet();
    double start = now();
    for (int i = 0; i < PINGS; i++) {
        count++;
        if (me == 0)
            atomic_store_explicit(&shared->flag[0][0], count, memory_order_release);
        while (atomic_load_explicit(&shared->flag[!me][0], memory_order_acquire) != count)
            ;
        if (me == 1)
            atomic_store_explicit(&shared->flag[1][0], count, memory_order_release);
    }
    return (now() - start) / PINGS / 2;
}

/* Where the n-th message of `from` lies: a line with its number, and the data behind that, in lines of their own unless
 * it fits into that one. */
static char *place(int from, size_t n, size_t bytes)
{
    size_t span = bytes <= IN_LINE ? LINE : LINE + (bytes + LINE - 1) / LINE * LINE;
    return shared->way[from].buffer[0] + n % (RING / span) * span;
}

static void send_message(size_t n, size_t bytes)
{
    char *line = place(me, n, bytes);
    memcpy(line + (bytes <= IN_LINE ? LINE - IN_LINE : LINE), memory, bytes);
    atomic_store_explicit((_Atomic unsigned *)line, (unsigned)n + 1, memory_order_release);
}

/* `ahead`: the lines of the answer are fetched for writing meanwhile. */
static void receive_message(size_t n, size_t bytes, bool ahead)
{
    char *line = place(!me, n, bytes), *answer = place(me, n + (me == 0), bytes);
    for (size_t i = 0; ahead && i < LINE + bytes; i += LINE)
        prefetch(answer + i);
    while (atomic_load_explicit((_Atomic unsigned *)line, memory_order_acquire) != n + 1)
        relax();
    memcpy(memory + WINDOW, line + (bytes <= IN_LINE ? LINE - IN_LINE : LINE), bytes);
}

static double pass(size_t bytes, bool ahead)
{
    meet();
    memset(shared->way[me].buffer, 0, RING);
    meet();
    double start = now();
    for (size_t i = 0; i < PINGS; i++) {
        if (me == 0)
            send_message(i, bytes);
        receive_message(i, bytes, ahead);
        if (me == 1)
            send_message(i, bytes);
    }
    return (now() - start) / PINGS / 2;
}

static double pass_both_ways(size_t bytes, bool ahead)
{
    meet();
    memset(shared->way[me].buffer, 0, RING);
    meet();
    double start = now();
    for (size_t i = 0; i < PINGS; i++) {
        send_message(i, bytes);
        receive_message(i, bytes, ahead);
    }
    return (now() - start) / PINGS;
}

static double pass_windows(size_t bytes, bool ahead)
{
    enum { WINDOWS = PINGS / MESSAGES };
    size_t n = 0;
    meet();
    memset(shared->way[me].buffer, 0, RING);
    meet();
    double start = now();
    for (size_t i = 0; i < WINDOWS; i++) {
        for (int k = 0; k < MESSAGES; k++, n++)
            if (me == 0)
                send_message(n, bytes);
            else
                receive_message(n, bytes, ahead);
        if (me == 0)
            receive_message(i, 0, false);
        else
            send_message(i, 0);
    }
    return (now() - start) / WINDOWS / MESSAGES;
}

/* The better of two ways: which one it is depends on the distance of the cores. */
static double better(double (*way)(size_t bytes, bool ahead), size_t bytes)
{
    double with = way(bytes, true), without = way(bytes, false);
    return with < without ? with : without;
}

static double message(size_t bytes)
{
    return better(pass, bytes);
}

static double message_exchange(size_t bytes)
{
    return better(pass_both_ways, bytes);
}

static double message_of_window(size_t bytes)
{
    return better(pass_windows, bytes);
}

static double copy(size_t bytes)
{
    size_t times = TOTAL / bytes;
    meet();
    double start = now();
    for (size_t i = 0; me == 0 && i < times; i++) {
        memcpy(memory + LARGEST, memory, bytes);
        __asm__ volatile("" ::: "memory");
    }
    double took = now() - start;
    meet();
    return took / (double)times;
}

/* By the instruction that overwrites lines without fetching them first: not every C library uses it. */
static bool by_string;

static void move(char *to, const char *from, size_t bytes)
{
#if defined __x86_64__
    if (by_string) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
        return;
    }
#endif
    memcpy(to, from, bytes);
}

/* The n-th chunk that `from` sends: into a buffer if one is free, or out of it if it is there. */
static int copy_in(int from, size_t n, const char *data, size_t chunk)
{
    if (n - atomic_load_explicit(&shared->way[from].drained, memory_order_acquire) >= BUFFERS)
        return 0;
    move(shared->way[from].buffer[n % BUFFERS], data, chunk);
    atomic_store_explicit(&shared->way[from].filled, n + 1, memory_order_release);
    return 1;
}

static int copy_out(int from, size_t n, char *data, size_t chunk)
{
    if (atomic_load_explicit(&shared->way[from].filled, memory_order_acquire) <= n)
        return 0;
    move(data, shared->way[from].buffer[n % BUFFERS], chunk);
    atomic_store_explicit(&shared->way[from].drained, n + 1, memory_order_release);
    return 1;
}

/* Moves TOTAL bytes each way, of `ways`, through as much memory as the windows of pair.c do. */
static double stream(size_t bytes, int ways)
{
    size_t window = MESSAGES * bytes < WINDOW ? MESSAGES * bytes : WINDOW;
    size_t chunk = bytes < BUFFER / 2 ? bytes : BUFFER / 2, chunks = TOTAL / chunk;
    size_t out = me < ways ? 0 : chunks, in = (1 - me) < ways ? 0 : chunks;
    meet();
    atomic_store(&shared->way[me].filled, 0);
    atomic_store(&shared->way[me].drained, 0);
    meet();
    double start = now();
    while (out < chunks || in < chunks) {
        if (out < chunks)
            out += (size_t)copy_in(me, out, memory + out * chunk % window, chunk);
        if (in < chunks)
            in += (size_t)copy_out(!me, in, memory + WINDOW + in * chunk % window, chunk);
    }
    meet();
    return (now() - start) / (double)(TOTAL / bytes) / ways;
}

static double better_stream(size_t bytes, int ways)
{
    double took[2];
    for (int i = 0; i < 2; i++) {
        by_string = i;
        took[i] = stream(bytes, ways);
    }
    return took[0] < took[1] ? took[0] : took[1];
}

static double two_copies(size_t bytes)
{
    return better_stream(bytes, 1);
}

static double both_ways(size_t bytes)
{
    return better_stream(bytes, 2);
}

static double by_kernel(size_t bytes)
{
    size_t times = TOTAL / bytes;
    meet();
    double start = now();
    for (size_t i = 0; me == 1 && i < times; i++) {
        struct iovec to = { memory, bytes }, from = { shared->memory, bytes };
        if (process_vm_readv(shared->pid, &to, 1, &from, 1, 0) < 0)
            break;
    }
    meet();
    return (now() - start) / (double)times;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double (*body)(size_t bytes), size_t bytes)
{
    double time[BATCHES];
    for (int i = 0; i < BATCHES; i++)
        time[i] = body(bytes);
    qsort(time, BATCHES, sizeof *time, compare);
    return time[BATCHES / 2];
}

/* `sizes` ends with a negative number. */
static void print_messages(const char *name, double (*body)(size_t bytes), const int *sizes)
{
    for (; *sizes >= 0; sizes++) {
        double took = median(body, (size_t)*sizes);
        if (me == 0)
            printf("%s %d %s\t%.6g\tus\n", name, *sizes < 1024 ? *sizes : *sizes >> 10, *sizes < 1024 ? "B" : "KiB",
                   1e6 * took);
    }
}

static void run(bool only_line)
{
    static const struct {
        const char *name;
        double (*body)(size_t bytes);
    } test[] = { { "memory copy", copy },
                 { "two copies", two_copies },
                 { "two copies both ways", both_ways },
                 { "kernel copy", by_kernel } };
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(me, &set);
    sched_setaffinity(0, sizeof set, &set);
    memory = aligned_alloc(4096, 2 * WINDOW);
    memset(memory, me + 1, 2 * WINDOW);
    if (me == 0) {
        shared->pid = getpid();
        shared->memory = memory;
    }
    double ping = median(flag, 0);
    if (me == 0)
        printf("cache line\t%.6g\tus\n", 1e6 * ping);
    if (only_line)
        return;
    print_messages("message", message, (const int[]){ 0, 8, 64, 512, 1024, 4096, 8192, -1 });
    print_messages("message exchange", message_exchange, (const int[]){ 8, 1024, -1 });
    double took = median(message_of_window, 8);
    if (me == 0)
        printf("message rate 8 B\t%.6g\tM/s\n", 1e-6 / took);
    for (size_t t = 0; t < sizeof test / sizeof *test; t++)
        for (int bytes = 8192; bytes <= LARGEST; bytes *= bytes == 8192 ? 2 : 4) {
            took = median(test[t].body, (size_t)bytes);
            const char *unit = bytes < 1 << 20 ? "KiB" : "MiB";
            if (me == 0)
                printf("%s %d %s\t%.6g\tGB/s\n", test[t].name, bytes < 1 << 20 ? bytes >> 10 : bytes >> 20, unit,
                       1e-9 * bytes / took);
        }
}

int main(int argc, char **argv)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    pid_t child = fork();
    me = child == 0;
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(argc > 1 && strcmp(argv[1], "line") == 0);
    if (child == 0)
        _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
