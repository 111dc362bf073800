/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node transport beside the limits of the machine: a bare flag that two processes hand to each other, a bare copy
 * through a small ring of buffers, a bare copy by the kernel. Times of a shared machine change from second to second,
 * so the cases take turns, a few milliseconds each, and what is printed is the median of each and of their ratios.
 *
 *     bench_shm [rounds]          two processes on two processors
 *     bench_shm [rounds] one      two processes on one processor, yielding and sleeping
 */
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/datatype/datatype.h"
#include "core/engine/transport.h"
#include "core/job/segment.h"

extern const struct pl_transport_ops pl_transport_shm;
#define OPS (&pl_transport_shm)

enum { ROUNDS_MAX = 1000, LARGEST = 4 << 20, WINDOW = 64, PINGS = 2000, BUFFERS = 4, BUFFER = 128 << 10 };

/* What the two processes share beside the transport, to start together and for the bare cases. */
static struct area {
    _Alignas(64) _Atomic uint32_t arrived;
    _Alignas(64) _Atomic uint32_t flag[2][16];
    struct {
        unsigned char data[PL_CARD_MAX];
        size_t length;
        void *buffer;
        pid_t pid;
    } side[2];
    _Alignas(64) _Atomic uint64_t filled;
    _Alignas(64) _Atomic uint64_t drained;
    _Alignas(4096) unsigned char buffer[BUFFERS][BUFFER];
} * area;

static int me;
static uint32_t exchanges;
static bool one_core, asleep;
static unsigned char *memory;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(void)
{
    if (one_core)
        sched_yield();
}

static void meet(void)
{
    exchanges++;
    atomic_fetch_add(&area->arrived, 1);
    while (atomic_load(&area->arrived) < 2 * exchanges)
        rest();
}

/* --- an engine that only counts -------------------------------------------------------------------------------- */

struct end {
    uint64_t id;
    void *self;
    struct pl_endpoint *endpoint;
    unsigned char card[PL_CARD_MAX];
    size_t card_length;
    unsigned long arrived, sent, fetched;
    struct pl_incoming incoming[WINDOW];
};
static const char *rndv_mode;

static const struct pl_type bytes_type = { .size = 1, .extent = 1, .true_extent = 1, .dense = true, .solid = true };

static struct pl_cursor cursor_at(void *data, size_t bytes)
{
    return (struct pl_cursor){ .type = &bytes_type, .base = data, .count = (MPI_Count)bytes, .total = bytes };
}

static bool host_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                         const void *data, struct pl_rndv *rndv)
{
    struct end *end = (struct end *)engine;
    (void)from;
    struct pl_incoming *in = &end->incoming[end->arrived++ % WINDOW];
    if (!rndv) {
        memcpy(memory, data, header->size);
        end->fetched++;
        return true;
    }
    *in = (struct pl_incoming){ .data = cursor_at(memory, header->size), .size = header->size };
    if (OPS->fetch(end->self, rndv, in) == MPI_SUCCESS)
        end->fetched++;
    return true;
}

static void host_sent(struct pl_engine *engine, struct pl_outgoing *message, int error)
{
    (void)message, (void)error;
    ((struct end *)engine)->sent++;
}

static void host_fetched(struct pl_engine *engine, struct pl_incoming *message, int error)
{
    (void)message, (void)error;
    ((struct end *)engine)->fetched++;
}

static void host_closed(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from)
{
    (void)engine, (void)endpoint, (void)from;
}

static void host_lost(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from, int error,
                      const char *why)
{
    (void)engine, (void)endpoint, (void)from, (void)error, (void)why;
    _exit(3);
}

static uint64_t host_id(const struct pl_engine *engine)
{
    return ((const struct end *)engine)->id;
}

static const void *host_card(const struct pl_engine *engine, size_t *length)
{
    const struct end *end = (const struct end *)engine;
    *length = end->card_length;
    return end->card;
}

static bool host_threaded(const struct pl_engine *engine)
{
    (void)engine;
    return false;
}

static size_t host_pack(struct pl_cursor *cursor, void *packed, size_t max)
{
    memcpy(packed, cursor->base + cursor->done, max);
    cursor->done += max;
    return max;
}

static size_t host_unpack(struct pl_cursor *cursor, const void *packed, size_t bytes)
{
    memcpy(cursor->base + cursor->done, packed, bytes);
    cursor->done += bytes;
    return bytes;
}

static void host_seek(struct pl_cursor *cursor, size_t offset)
{
    cursor->done = offset;
}

static size_t host_run(struct pl_cursor *cursor, size_t max, void **address)
{
    *address = cursor->base + cursor->done;
    cursor->done += max;
    return max;
}

static int host_fail(int class, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return class;
}

static long host_config_long(const char *name)
{
    const char *ring = getenv("SHM_RING"), *eager = getenv("SHM_EAGER");
    if (strcmp(name, "shm_ring") == 0)
        return ring ? atol(ring) : 65536;
    return eager ? atol(eager) : 16384;
}

static const char *host_config_text(const char *name)
{
    (void)name;
    return rndv_mode;
}

static void host_log(const char *subsystem, int level, const char *format, ...)
{
    (void)subsystem, (void)level, (void)format;
}

static void host_quiet(struct pl_engine *engine)
{
    (void)engine;
}

static const struct pl_transport_host host = {
    .abi = PL_TRANSPORT_ABI,
    .arrived = host_arrived,
    .sent = host_sent,
    .fetched = host_fetched,
    .failed = host_lost,
    .closed = host_closed,
    .quiet = host_quiet,
    .engine_id = host_id,
    .engine_card = host_card,
    .threaded = host_threaded,
    .pack = host_pack,
    .unpack = host_unpack,
    .seek = host_seek,
    .run = host_run,
    .fail = host_fail,
    .config_long = host_config_long,
    .config_text = host_config_text,
    .log = host_log,
};

static struct end *end_open(const char *mode)
{
    struct end *end = calloc(1, sizeof *end);
    rndv_mode = mode;
    end->id = (uint64_t)me + 1;
    if (OPS->open((struct pl_engine *)end, &host, &end->self) ||
        OPS->address(end->self, end->card, sizeof end->card, &end->card_length))
        _exit(2);
    memcpy(area->side[me].data, end->card, end->card_length);
    area->side[me].length = end->card_length;
    meet();
    if (OPS->connect(end->self, area->side[!me].data, area->side[!me].length, NULL, &end->endpoint))
        _exit(2);
    meet();
    return end;
}

static void end_close(struct end *end)
{
    while (!OPS->flushed(end->self))
        OPS->progress(end->self);
    meet();
    OPS->close(end->self);
    free(end);
}

static void poll_end(struct end *end)
{
    if (OPS->progress(end->self) || !one_core)
        return;
    if (!asleep) {
        sched_yield();
        return;
    }
    if (OPS->arm(end->self))
        OPS->sleep(end->self, 100000);
    OPS->disarm(end->self);
}

static void send_one(struct end *end, struct pl_outgoing *out, size_t bytes)
{
    *out = (struct pl_outgoing){ .header.size = bytes, .data = cursor_at(memory, bytes) };
    int rc;
    while ((rc = OPS->send(end->endpoint, out)) == PL_AGAIN)
        poll_end(end);
    if (rc == MPI_SUCCESS)
        end->sent++;
}

/* --- the cases: each returns seconds ----------------------------------------------------------------------------- */

static struct end *by_copy, *by_cma;

static double flag_pings(size_t bytes)
{
    (void)bytes;
    static uint32_t count;
    meet();
    double start = now();
    for (int i = 0; i < PINGS; i++) {
        count++;
        if (me == 0)
            atomic_store_explicit(&area->flag[0][0], count, memory_order_release);
        while (atomic_load_explicit(&area->flag[!me][0], memory_order_acquire) != count)
            rest();
        if (me == 1)
            atomic_store_explicit(&area->flag[1][0], count, memory_order_release);
    }
    return (now() - start) / PINGS / 2;
}

static double pings(size_t bytes)
{
    struct end *end = by_copy;
    struct pl_outgoing out;
    unsigned long sent = end->sent;
    meet();
    double start = now();
    for (int i = 0; i < PINGS; i++) {
        unsigned long had = end->fetched;
        if (me == 0)
            send_one(end, &out, bytes);
        while (end->fetched == had)
            poll_end(end);
        if (me == 1)
            send_one(end, &out, bytes);
    }
    while (end->sent < sent + PINGS)
        poll_end(end);
    return (now() - start) / PINGS / 2;
}

/* WINDOW messages one way, then an answer. */
static double stream_on(struct end *end, size_t bytes, int windows)
{
    static struct pl_outgoing out[WINDOW];
    struct pl_outgoing answer;
    meet();
    double start = now();
    for (int i = 0; i < windows; i++) {
        unsigned long had = end->fetched, sent = end->sent;
        if (me == 0) {
            for (int k = 0; k < WINDOW; k++)
                send_one(end, &out[k], bytes);
            while (end->sent < sent + WINDOW || end->fetched < had + 1)
                poll_end(end);
        } else {
            while (end->fetched < had + WINDOW)
                poll_end(end);
            send_one(end, &answer, 0);
        }
    }
    return (now() - start) / windows / WINDOW;
}

static int windows_of(size_t bytes)
{
    size_t windows = (16 << 20) / (bytes * WINDOW);
    return windows < 1 ? 1 : windows > 50 ? 50 : (int)windows;
}

static double stream_copy(size_t bytes)
{
    return stream_on(by_copy, bytes, windows_of(bytes));
}

static double stream_cma(size_t bytes)
{
    return stream_on(by_cma, bytes, windows_of(bytes));
}

static double bare_copy(size_t bytes)
{
    size_t total = bytes * WINDOW * (size_t)windows_of(bytes), chunk = bytes < BUFFER ? bytes : BUFFER;
    if (bytes > BUFFER / 4 && chunk > BUFFER / 2)
        chunk = BUFFER / 2;
    meet();
    if (me == 0) {
        atomic_store(&area->filled, 0);
        atomic_store(&area->drained, 0);
    }
    meet();
    double start = now();
    for (size_t done = 0, n = 0; done < total; done += chunk, n++) {
        if (me == 0) {
            while (n - atomic_load_explicit(&area->drained, memory_order_acquire) >= BUFFERS)
                rest();
            memcpy(area->buffer[n % BUFFERS], memory + done % bytes, chunk);
            atomic_store_explicit(&area->filled, n + 1, memory_order_release);
        } else {
            while (atomic_load_explicit(&area->filled, memory_order_acquire) <= n)
                rest();
            memcpy(memory + done % bytes, area->buffer[n % BUFFERS], chunk);
            atomic_store_explicit(&area->drained, n + 1, memory_order_release);
        }
    }
    meet();
    return (now() - start) / (double)(total / bytes);
}

static double bare_cma(size_t bytes)
{
    int times = WINDOW * windows_of(bytes);
    meet();
    double start = now();
    if (me == 1)
        for (int i = 0; i < times; i++) {
            struct iovec to = { memory, bytes }, from = { area->side[0].buffer, bytes };
            if (process_vm_readv(area->side[0].pid, &to, 1, &from, 1, 0) < 0)
                break;
        }
    meet();
    return (now() - start) / times;
}

static double sleepy_pings(size_t bytes)
{
    asleep = true;
    double time = pings(bytes);
    asleep = false;
    return time;
}

static const struct test {
    const char *name;
    double (*run)(size_t bytes);
    size_t bytes;
    int limit; /* index of the case to compare with, relative to this one; 0: none */
    bool one;  /* also on one processor */
} tests[] = {
    { "flag, one way", flag_pings, 0, 0, true },
    { "message 8 B, one way", pings, 8, -1, true },
    { "message 1 KiB, one way", pings, 1 << 10, -2, true },
    { "message 8 KiB, one way", pings, 8 << 10, -3, true },
    { "message 16 KiB, one way", pings, 16 << 10, -4, true },
    { "message 64 KiB, one way", pings, 64 << 10, -5, true },
    { "stream 8 B", stream_copy, 8, -6, true },
    { "stream 1 KiB", stream_copy, 1 << 10, 0, true },
    { "bare copy 8 KiB", bare_copy, 8 << 10, 0, false },
    { "stream 8 KiB", stream_copy, 8 << 10, -1, false },
    { "bare copy 16 KiB", bare_copy, 16 << 10, 0, false },
    { "stream 16 KiB", stream_copy, 16 << 10, -1, false },
    { "bare copy 64 KiB", bare_copy, 64 << 10, 0, true },
    { "stream 64 KiB by FIFO", stream_copy, 64 << 10, -1, true },
    { "bare kernel copy 64 KiB", bare_cma, 64 << 10, -2, true },
    { "stream 64 KiB by kernel", stream_cma, 64 << 10, -3, true },
    { "bare copy 1 MiB", bare_copy, 1 << 20, 0, true },
    { "stream 1 MiB by FIFO", stream_copy, 1 << 20, -1, true },
    { "bare kernel copy 1 MiB", bare_cma, 1 << 20, -2, true },
    { "stream 1 MiB by kernel", stream_cma, 1 << 20, -3, true },
    { "bare copy 4 MiB", bare_copy, 4 << 20, 0, true },
    { "stream 4 MiB by FIFO", stream_copy, 4 << 20, -1, true },
    { "bare kernel copy 4 MiB", bare_cma, 4 << 20, -2, true },
    { "stream 4 MiB by kernel", stream_cma, 4 << 20, -3, true },
    { "sleeping 8 B, one way", sleepy_pings, 8, 0, true },
};
enum { TESTS = sizeof tests / sizeof tests[0] };

/* --- figures ------------------------------------------------------------------------------------------------------ */

static double times[TESTS][ROUNDS_MAX];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const double *values, int count, double q)
{
    static double sorted[ROUNDS_MAX];
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return sorted[(int)(q * (count - 1))];
}

static void print(int rounds)
{
    printf("%-26s %10s %10s %10s  %s\n", "", "median us", "best us", "GB/s", "time / limit");
    for (int t = 0; t < TESTS; t++) {
        if (one_core ? !tests[t].one : tests[t].run == sleepy_pings)
            continue;
        double median = quantile(times[t], rounds, 0.5), best = quantile(times[t], rounds, 0);
        printf("%-26s %10.3f %10.3f %10.2f", tests[t].name, median * 1e6, best * 1e6,
               (double)tests[t].bytes / median * 1e-9);
        if (tests[t].limit) {
            double ratio[ROUNDS_MAX];
            for (int r = 0; r < rounds; r++)
                ratio[r] = times[t][r] / times[t + tests[t].limit][r];
            printf("  %.2f", quantile(ratio, rounds, 0.5));
        }
        putchar('\n');
    }
}

static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void run(int rounds)
{
    pin(one_core ? 0 : me);
    memory = aligned_alloc(4096, LARGEST);
    memset(memory, me + 1, LARGEST);
    area->side[me].buffer = memory;
    area->side[me].pid = getpid();
    by_copy = end_open("copy");
    by_cma = end_open("cma");
    for (int r = -1; r < rounds; r++)
        for (int t = 0; t < TESTS; t++) {
            if (one_core ? !tests[t].one : tests[t].run == sleepy_pings)
                continue;
            double time = tests[t].run(tests[t].bytes);
            if (r >= 0)
                times[t][r] = time;
        }
    end_close(by_copy);
    end_close(by_cma);
    if (me == 0)
        print(rounds);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 30;
    one_core = argc > 2 && strcmp(argv[2], "one") == 0;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "bench_shm: 1 to %d rounds\n", ROUNDS_MAX);
        return 2;
    }
    area = mmap(NULL, sizeof *area, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return 1;
    pid_t child = fork();
    me = child == 0;
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(rounds);
    if (child == 0)
        _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
