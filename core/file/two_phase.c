/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective buffering in rounds. See two_phase.h.
 *
 * The range that is accessed is cut into windows of cb_buffer_size bytes, which are dealt to the aggregators in turn. A
 * round is one window for each aggregator, starting at the first remaining run. Every process's runs ascend, so its
 * bytes in a window are one part of its stream. In a round a process tells each aggregator its runs and, writing, sends
 * the data. The aggregator merges the runs of all in the order of the file and writes each gapless range at once: bytes
 * that no process has supplied are never written. For a read, it reads the runs, across small gaps, and sends each
 * process its bytes, up to the end of the file.
 *
 * A process that fails goes on with the rounds, so that no other waits in vain; at the end all learn of it. Where the
 * accesses do not interleave, or the runs are long, each process performs its own access.
 */
#include "core/file/two_phase.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/vec.h"
#include "core/coll/collective.h"
#include "core/coll/schedule.h"
#include "core/coll/schedule_run.h"

/* Through an aggregator data is copied once more, as messages, which repays only where it saves a system call for every
 * few bytes: hence LONG_RUN. On one node what others have read is in the page cache, and a process reads short gaps in
 * less time than an exchange takes: hence SHORT_GAP. Measured with 2 to 8 processes on two cores; GAP was not. */
enum {
    LONG_RUN = 8 << 10,      /* each process accesses runs of at least this length itself, ... */
    LONG_RUN_READ = 4 << 10, /* ... reading on one node, of this length, ... */
    SHORT_GAP = 1 << 10,     /* ... or with at most this many bytes between two runs */
    GAP = 32 << 10,          /* unwanted bytes that an aggregator reads rather than skips */
};

/* A run, within its window. */
struct run {
    uint32_t at, bytes;
};

/* One process's part of one window: runs, and their data in the same order. */
struct share {
    struct run *runs;
    size_t count, bytes;
    char *data;
};

/* The shares of an aggregator's window, merged by offset. */
struct merge {
    size_t *taken; /* [size] runs of each share */
    int *heap;     /* [size] ranks with runs left, a binary heap: the one with the first run on top */
    int count;     /* in the heap */
};

struct two_phase {
    struct pl_file *file;
    struct pl_comm *comm;
    bool write;
    int aggregators, mine; /* their number, and this process's index among them; -1: it is not one */
    size_t window;         /* bytes */
    MPI_Offset low, next;  /* start of the round's first window, and of the next round's first run */
    struct pl_runs runs;   /* this process's */
    MPI_Offset at;         /* its next run, perhaps the rest of one that a window has cut */
    size_t left;
    struct pl_cursor memory;
    char *direct; /* contiguous memory from the round's first byte on, or NULL */
    size_t moved;
    bool ended;                                 /* the end of the file was met */
    int error;                                  /* of this process's accesses */
    struct share *own;                          /* [aggregators] this process's share of each of the round's windows */
    struct share *all;                          /* [size] all shares of its window, if it is an aggregator */
    struct merge merge;                         /* of `all` */
    int64_t *numbers, *theirs;                  /* [size][2] told to each process, and by each */
    PL_VEC(struct run) own_runs, runs_received; /* kept from round to round, as the following */
    PL_VEC(char) packed, data_received, buffer;
};

static int aggregator_rank(const struct two_phase *x, int i)
{
    return (int)((int64_t)i * x->comm->size / x->aggregators);
}

/* --- this process's shares ---------------------------------------------------------------------------------------- */

/* Finds the next run. False: no run is left. */
static bool two_phase_has_run(struct two_phase *x)
{
    return x->left > 0 || (x->left = pl_runs_next(&x->runs, SIZE_MAX, &x->at)) > 0;
}

/* The share of the window that begins at `low`. False: out of memory. */
static bool cut_window(struct two_phase *x, MPI_Offset low, struct share *share)
{
    size_t before = x->own_runs.count;
    share->bytes = 0;
    while (two_phase_has_run(x)) {
        size_t from = (size_t)(x->at - low);
        if (from >= x->window)
            break;
        size_t bytes = x->left < x->window - from ? x->left : x->window - from;
        struct run *run = PL_VEC_PUSH(&x->own_runs);
        if (!run)
            return false;
        *run = (struct run){ (uint32_t)from, (uint32_t)bytes };
        share->bytes += bytes;
        x->at += (MPI_Offset)bytes;
        x->left -= bytes;
    }
    share->count = x->own_runs.count - before;
    return true;
}

/* Points the shares to their runs and data, which follow one another. Returns the end of the data. */
static char *shares_place(struct share *shares, int count, struct run *runs, char *data)
{
    for (int i = 0; i < count; i++) {
        shares[i].runs = runs;
        shares[i].data = data;
        runs = runs ? runs + shares[i].count : NULL;
        data = data ? data + shares[i].bytes : NULL;
    }
    return data;
}

/* The shares of all windows of the round, and the memory for their data. */
static int cut_round(struct two_phase *x)
{
    size_t bytes = 0;
    MPI_Offset low = x->low;
    x->own_runs.count = 0;
    for (int i = 0; i < x->aggregators; i++, low += (MPI_Offset)x->window) {
        if (!cut_window(x, low, &x->own[i]))
            return pl_fail_memory("the runs of a collective access");
        bytes += x->own[i].bytes;
    }
    if (!x->direct && !PL_VEC_RESERVE(&x->packed, bytes))
        return pl_fail_memory("the data of a collective access");
    char *data = x->direct ? x->direct : x->packed.items;
    if (!x->direct && x->write)
        pl_cursor_pack(&x->memory, data, bytes);
    char *end = shares_place(x->own, x->aggregators, x->own_runs.items, data);
    x->direct = x->direct ? end : NULL;
    return MPI_SUCCESS;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* Sends `each` numbers from every process to every other. */
static int swap_numbers(struct two_phase *x, int each)
{
    const struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT64_T);
    return pl_coll_run(&(struct pl_coll){ .kind = PL_COLL_ALLTOALL,
                                          .comm = x->comm,
                                          .sendbuf = x->numbers,
                                          .recvbuf = x->theirs,
                                          .sendcount = each,
                                          .recvcount = each,
                                          .sendtype = type,
                                          .recvtype = type });
}

/* The sizes of all shares of this process's window, and the memory for them. */
static int expect_shares(struct two_phase *x)
{
    size_t count = 0, bytes = 0;
    memset(x->all, 0, (size_t)x->comm->size * sizeof *x->all);
    for (int i = 0; i < x->comm->size; i++) {
        if (i == x->comm->rank)
            continue;
        x->all[i].count = (size_t)x->theirs[2 * i];
        x->all[i].bytes = (size_t)x->theirs[2 * i + 1];
        count += x->all[i].count;
        bytes += x->all[i].bytes;
    }
    if (!PL_VEC_RESERVE(&x->runs_received, count) || !PL_VEC_RESERVE(&x->data_received, bytes) ||
        !PL_VEC_RESERVE(&x->buffer, x->window))
        return pl_fail_memory("the buffers of a collective access");
    shares_place(x->all, x->comm->size, x->runs_received.items, x->data_received.items);
    x->all[x->comm->rank] = x->own[x->mine];
    return MPI_SUCCESS;
}

/* Whether all processes have the memory for the round; and where the next begins, which skips empty windows. */
static int round_agree(struct two_phase *x, int error)
{
    int64_t words[2] = { error, two_phase_has_run(x) ? ~x->at : ~INT64_MAX };
    int rc = pl_allreduce(x->comm, MPI_IN_PLACE, words, 2, pl_type_predefined((uintptr_t)MPI_INT64_T),
                          pl_op_predefined((uintptr_t)MPI_MAX));
    x->next = ~words[1];
    if (rc || error)
        return error ? error : rc;
    return words[0] ? pl_fail((int)words[0], "the call failed on another process, which reports the reason")
                    : MPI_SUCCESS;
}

/* Each process tells the aggregators the sizes of its shares, so that all learn whether there is memory for them. */
static int round_announce(struct two_phase *x, int error)
{
    memset(x->numbers, 0, 2 * (size_t)x->comm->size * sizeof *x->numbers);
    for (int i = 0; i < x->aggregators && !error; i++) {
        int64_t *numbers = &x->numbers[2 * aggregator_rank(x, i)];
        numbers[0] = (int64_t)x->own[i].count;
        numbers[1] = (int64_t)x->own[i].bytes;
    }
    int rc = swap_numbers(x, 2);
    if (rc)
        return rc;
    if (x->mine >= 0 && !error)
        error = expect_shares(x);
    return round_agree(x, error);
}

static int run_and_fini(struct pl_schedule *schedule)
{
    int rc = pl_schedule_run(schedule);
    pl_schedule_fini(schedule);
    return rc;
}

/* Sends the runs to the aggregators, and the data that is to be written. */
static int send_shares(struct two_phase *x)
{
    struct pl_schedule schedule;
    pl_schedule_init(&schedule, x->comm, pl_comm_next_tag(x->comm));
    for (int i = 0; x->mine >= 0 && i < x->comm->size; i++) {
        struct share *share = &x->all[i];
        if (i == x->comm->rank || share->count == 0)
            continue;
        pl_schedule_recv(&schedule, pl_block_bytes(share->runs, share->count * sizeof(struct run)), i);
        if (x->write)
            pl_schedule_recv(&schedule, pl_block_bytes(share->data, share->bytes), i);
    }
    for (int i = 0; i < x->aggregators; i++) {
        struct share *share = &x->own[i];
        if (i == x->mine || share->count == 0)
            continue;
        int rank = aggregator_rank(x, i);
        pl_schedule_send(&schedule, pl_block_bytes(share->runs, share->count * sizeof(struct run)), rank);
        if (x->write)
            pl_schedule_send(&schedule, pl_block_bytes(share->data, share->bytes), rank);
    }
    return run_and_fini(&schedule);
}

/* Sends the data that was read back to its processes: as much as there was. */
static int return_shares(struct two_phase *x)
{
    for (int i = 0; i < x->comm->size; i++)
        x->numbers[i] = x->mine >= 0 ? (int64_t)x->all[i].bytes : 0;
    int rc = swap_numbers(x, 1);
    if (rc)
        return rc;
    struct pl_schedule schedule;
    pl_schedule_init(&schedule, x->comm, pl_comm_next_tag(x->comm));
    for (int i = 0; i < x->aggregators; i++) {
        int rank = aggregator_rank(x, i);
        if (i != x->mine && x->theirs[rank] > 0)
            pl_schedule_recv(&schedule, pl_block_bytes(x->own[i].data, (size_t)x->theirs[rank]), rank);
    }
    for (int i = 0; x->mine >= 0 && i < x->comm->size; i++)
        if (i != x->comm->rank && x->all[i].bytes > 0)
            pl_schedule_send(&schedule, pl_block_bytes(x->all[i].data, x->all[i].bytes), i);
    return run_and_fini(&schedule);
}

/* --- merging the shares of a window ------------------------------------------------------------------------------- */

/* Whether rank a's next run comes before rank b's: of two with the same offset the lower rank's. */
static bool merge_before(const struct two_phase *x, int a, int b)
{
    uint32_t at_a = x->all[a].runs[x->merge.taken[a]].at, at_b = x->all[b].runs[x->merge.taken[b]].at;
    return at_a != at_b ? at_a < at_b : a < b;
}

/* Moves the rank at index i down to where it belongs. */
static void merge_sift(struct two_phase *x, int i)
{
    int *heap = x->merge.heap, rank = heap[i];
    for (int child; (child = 2 * i + 1) < x->merge.count; i = child) {
        if (child + 1 < x->merge.count && merge_before(x, heap[child + 1], heap[child]))
            child++;
        if (merge_before(x, rank, heap[child]))
            break;
        heap[i] = heap[child];
    }
    heap[i] = rank;
}

static void merge_begin(struct two_phase *x)
{
    struct merge *merge = &x->merge;
    memset(merge->taken, 0, (size_t)x->comm->size * sizeof *merge->taken);
    merge->count = 0;
    for (int i = 0; i < x->comm->size; i++)
        if (x->all[i].count > 0)
            merge->heap[merge->count++] = i;
    for (int i = merge->count / 2 - 1; i >= 0; i--)
        merge_sift(x, i);
}

/* Takes the run that comes first in the file, and its share; NULL: no run is left. */
static const struct run *merge_take(struct two_phase *x, struct share **share)
{
    struct merge *merge = &x->merge;
    if (merge->count == 0)
        return NULL;
    int rank = merge->heap[0];
    *share = &x->all[rank];
    const struct run *run = &(*share)->runs[merge->taken[rank]++];
    if (merge->taken[rank] == (*share)->count)
        merge->heap[0] = merge->heap[--merge->count];
    if (merge->count > 1)
        merge_sift(x, 0);
    return run;
}

/* --- an aggregator's window --------------------------------------------------------------------------------------- */

static void access_window(struct two_phase *x, MPI_Offset low, size_t from, size_t to, size_t *moved)
{
    *moved = 0;
    if (to > from && !x->error)
        x->error = pl_access_run(x->file, x->write, low + (MPI_Offset)from, x->buffer.items + from, to - from, moved);
}

static void write_window(struct two_phase *x, MPI_Offset low)
{
    size_t from = 0, to = 0, moved;
    struct share *share;
    merge_begin(x);
    for (const struct run *run; (run = merge_take(x, &share));) {
        if (run->at > to) {
            access_window(x, low, from, to, &moved);
            from = run->at;
        }
        memcpy(x->buffer.items + run->at, share->data, run->bytes);
        share->data += run->bytes;
        to = run->at + run->bytes > to ? run->at + run->bytes : to;
    }
    access_window(x, low, from, to, &moved);
    atomic_store_explicit(&x->file->dirty, true, memory_order_relaxed);
}

/* Reads the runs. Returns the end of the data in the window. */
static size_t read_window(struct two_phase *x, MPI_Offset low)
{
    size_t from = 0, to = 0, moved = 0;
    struct share *share;
    merge_begin(x);
    for (const struct run *run; (run = merge_take(x, &share));) {
        if (run->at > to + GAP) {
            access_window(x, low, from, to, &moved);
            if (moved < to - from)
                return from + moved;
            from = run->at;
        }
        to = run->at + run->bytes > to ? run->at + run->bytes : to;
    }
    access_window(x, low, from, to, &moved);
    return from + moved;
}

/* Copies the data of each share out of the window, up to its end. */
static void deal_window(struct two_phase *x, size_t end)
{
    for (int i = 0; i < x->comm->size; i++) {
        struct share *share = &x->all[i];
        char *data = share->data;
        bool ended = false;
        for (size_t k = 0; k < share->count && !ended; k++) {
            struct run run = share->runs[k];
            size_t bytes = run.at >= end ? 0 : end - run.at < run.bytes ? end - run.at : run.bytes;
            memcpy(data, x->buffer.items + run.at, bytes);
            data += bytes;
            ended = bytes < run.bytes;
        }
        share->bytes = share->count ? (size_t)(data - share->data) : 0;
    }
}

/* --- rounds ------------------------------------------------------------------------------------------------------- */

/* Unpacks the data that has come back, in the order of the stream. */
static void take_back(struct two_phase *x)
{
    for (int i = 0; i < x->aggregators && !x->ended; i++) {
        size_t bytes = (size_t)x->theirs[aggregator_rank(x, i)];
        if (!x->direct && bytes > 0)
            pl_cursor_unpack(&x->memory, x->own[i].data, bytes);
        x->moved += bytes;
        x->ended = bytes < x->own[i].bytes;
    }
}

static int do_round(struct two_phase *x)
{
    MPI_Offset window = x->low + (MPI_Offset)x->mine * (MPI_Offset)x->window;
    int rc = round_announce(x, cut_round(x));
    if (rc == MPI_SUCCESS)
        rc = send_shares(x);
    if (rc)
        return rc;
    if (x->write) {
        if (x->mine >= 0)
            write_window(x, window);
        for (int i = 0; i < x->aggregators; i++)
            x->moved += x->own[i].bytes;
        return MPI_SUCCESS;
    }
    if (x->mine >= 0)
        deal_window(x, read_window(x, window));
    rc = return_shares(x);
    if (rc == MPI_SUCCESS)
        take_back(x);
    return rc;
}

static int do_rounds(struct two_phase *x)
{
    size_t size = (size_t)x->comm->size;
    x->own = pl_calloc((size_t)x->aggregators, sizeof *x->own);
    x->all = pl_calloc(size, sizeof *x->all);
    x->merge.taken = pl_calloc(size, sizeof *x->merge.taken);
    x->merge.heap = pl_calloc(size, sizeof *x->merge.heap);
    x->numbers = pl_calloc(2 * size, sizeof *x->numbers);
    x->theirs = pl_calloc(2 * size, sizeof *x->theirs);
    bool made = x->own && x->all && x->merge.taken && x->merge.heap && x->numbers && x->theirs;
    int rc = pl_file_agree(x->comm, made ? MPI_SUCCESS : pl_fail_memory("a collective access"));
    for (; x->next < INT64_MAX && !rc; rc = do_round(x))
        x->low = x->next - x->next % (MPI_Offset)x->window;
    return rc ? rc : pl_file_agree(x->comm, x->error);
}

static void exchange_fini(struct two_phase *x)
{
    PL_VEC_FINI(&x->own_runs);
    PL_VEC_FINI(&x->runs_received);
    PL_VEC_FINI(&x->packed);
    PL_VEC_FINI(&x->data_received);
    PL_VEC_FINI(&x->buffer);
    free(x->own);
    free(x->all);
    free(x->merge.taken);
    free(x->merge.heap);
    free(x->numbers);
    free(x->theirs);
}

/* --- is it worth it? ---------------------------------------------------------------------------------------------- */

/* Each process's description of its access. */
struct extent {
    int64_t low, high;
    int64_t bytes, run; /* `run`: average length of a run */
    int64_t barred;     /* it has failed, or its runs do not ascend */
};

/* Whether to exchange data, and where it begins; the same on all processes. */
static bool two_phase_pays(const struct two_phase *x, const struct extent *extents, bool always, MPI_Offset *low)
{
    MPI_Offset sum = 0, high = 0;
    int64_t run = INT64_MAX, bytes = 0, runs = 0;
    *low = INT64_MAX;
    for (int i = 0; i < x->comm->size; i++) {
        const struct extent *extent = &extents[i];
        if (extent->barred)
            return false;
        if (extent->high == extent->low)
            continue;
        if (__builtin_add_overflow(sum, extent->high - extent->low, &sum))
            sum = INT64_MAX;
        *low = extent->low < *low ? extent->low : *low;
        high = extent->high > high ? extent->high : high;
        run = extent->run < run ? extent->run : run;
        bytes += extent->bytes;
        runs += extent->bytes / extent->run + 1;
    }
    if (high == 0 || high > INT64_MAX / 2) /* window offsets must not overflow; no file is that large */
        return false;
    if (always)
        return true;
    if (sum <= high - *low) /* they do not interleave: together they have at most the range */
        return false;
    bool near = x->file->pointer.word != NULL; /* all share memory */
    return x->write || !near ? run < LONG_RUN : run < LONG_RUN_READ && (sum - bytes) / runs > SHORT_GAP;
}

int pl_access_together(struct pl_file *file, const struct pl_access *access, int error, size_t *moved)
{
    struct pl_comm *comm = file->comm;
    enum pl_file_buffering wanted = access->write ? file->hints.writing : file->hints.reading;
    *moved = 0;
    if (comm->size == 1 || file->atomic || wanted == PL_FILE_DISABLE)
        return error ? error : pl_access_alone(file, access, moved);
    int64_t run = file->view.run < INT64_MAX ? (int64_t)file->view.run : INT64_MAX;
    struct extent own = { access->span.low, access->span.high, (int64_t)access->span.bytes, run,
                          error || !file->view.ascending };
    struct extent *extents = pl_calloc((size_t)comm->size, sizeof own);
    if (!extents)
        return error ? error : pl_fail_memory("a collective access");
    struct two_phase x = { .file = file, .comm = comm, .write = access->write, .mine = -1 };
    int rc = pl_allgather(comm, &own, sizeof own, PL_TYPE_BYTE, extents, sizeof own, PL_TYPE_BYTE);
    bool together = rc == MPI_SUCCESS && two_phase_pays(&x, extents, wanted == PL_FILE_ENABLE, &x.next);
    free(extents);
    if (rc || error)
        return error ? error : rc;
    if (!together)
        return pl_access_alone(file, access, moved);
    x.window = (size_t)file->hints.buffer;
    x.aggregators = file->hints.nodes;
    for (int i = 0; i < x.aggregators; i++)
        x.mine = aggregator_rank(&x, i) == comm->rank ? i : x.mine;
    x.memory = access->memory;
    x.direct = pl_cursor_direct(&x.memory);
    pl_runs_init(&x.runs, &file->view, &access->span);
    rc = do_rounds(&x);
    exchange_fini(&x);
    *moved = x.moved;
    return rc;
}
