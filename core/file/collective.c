/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective buffering: many processes whose small runs lie between each other's access the file through a few of them,
 * the aggregators, in two phases: data is exchanged as messages, and the file accessed in large pieces.
 *
 * The range that is accessed is cut into windows of cb_buffer_size bytes, which go around among the aggregators; a
 * round is one window of each, from the first run on that is left. Every process's runs ascend, so what it has in a
 * window is one piece of its stream. In a round it tells each aggregator the runs and, writing, sends the data. The
 * aggregator puts together what all have, run by run in the order of the file, and writes what is without gaps at once:
 * bytes that nobody gave are never written. When reading it reads the runs, with small gaps, and sends each its own, up
 * to the end of the file.
 *
 * Whoever fails goes on with the rounds, so that nobody waits in vain, and at the end all learn it. Where the accesses
 * do not lie between each other, or the runs are long, each process does its own by itself.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/collective.h"
#include "core/coll/schedule.h"
#include "core/file/access.h"

enum {
    LONG_RUN = 16 << 10, /* runs from this length on are left to their owners */
    GAP = 32 << 10,      /* bytes that nobody wants that are read rather than left out */
};

/* A run, within its window. */
struct piece {
    uint32_t at, bytes;
};

/* What one process has in one window: runs, and their data one behind the other. */
struct share {
    struct piece *pieces;
    size_t count, bytes;
    char *data;
};

/* Memory that grows and is kept from round to round. */
struct room {
    void *memory;
    size_t bytes;
};

struct exchange {
    struct pl_file *file;
    struct pl_comm *comm;
    bool write;
    int aggregators, mine; /* how many, and which of them this process is; -1: none */
    size_t window;         /* bytes */
    MPI_Offset low, next;  /* where the round's first window begins, and the first run of the next round */
    struct pl_runs runs;   /* this process's */
    MPI_Offset at;         /* its next run, which may be the rest of one that a window has cut */
    size_t left;
    struct pl_cursor memory;
    char *direct; /* the memory, when it is in one piece, from the round's first byte on */
    size_t moved;
    bool ended;                /* the end of the file was met */
    int error;                 /* of this process's accesses */
    struct share *own;         /* [aggregators] what it has in the round's windows */
    struct share *all;         /* [size] what all have in its window, if it is an aggregator */
    int64_t *numbers, *theirs; /* [size][2] told to each, and by each */
    struct room pieces, packed, lists, data, buffer;
};

static int aggregator_rank(const struct exchange *x, int i)
{
    return (int)((int64_t)i * x->comm->size / x->aggregators);
}

static bool file_coll_make_room(struct room *room, size_t bytes)
{
    if (bytes <= room->bytes)
        return true;
    void *memory = pl_realloc(room->memory, bytes);
    if (!memory)
        return false;
    *room = (struct room){ memory, bytes };
    return true;
}

/* --- what this process has in a round ----------------------------------------------------------------------------- */

static bool add_piece(struct exchange *x, size_t *count, uint32_t at, uint32_t bytes)
{
    size_t needed = (*count + 1) * sizeof(struct piece);
    if (needed > x->pieces.bytes && !file_coll_make_room(&x->pieces, needed * 2))
        return false;
    ((struct piece *)x->pieces.memory)[(*count)++] = (struct piece){ at, bytes };
    return true;
}

/* Is there a run left? */
static bool has_run(struct exchange *x)
{
    return x->left > 0 || (x->left = pl_runs_next(&x->runs, SIZE_MAX, &x->at)) > 0;
}

/* The runs in one window, which begins at `low`. */
static bool cut_window(struct exchange *x, MPI_Offset low, size_t *count, struct share *share)
{
    size_t before = *count;
    share->bytes = 0;
    while (has_run(x)) {
        size_t from = (size_t)(x->at - low);
        if (from >= x->window)
            break;
        size_t bytes = x->left < x->window - from ? x->left : x->window - from;
        if (!add_piece(x, count, (uint32_t)from, (uint32_t)bytes))
            return false;
        share->bytes += bytes;
        x->at += (MPI_Offset)bytes;
        x->left -= bytes;
    }
    share->count = *count - before;
    return true;
}

/* All windows of the round, and the memory where the data is, or will be. */
static int cut_round(struct exchange *x)
{
    size_t count = 0, bytes = 0;
    MPI_Offset low = x->low;
    for (int i = 0; i < x->aggregators; i++, low += (MPI_Offset)x->window) {
        if (!cut_window(x, low, &count, &x->own[i]))
            return pl_fail_memory("the runs of a collective access");
        bytes += x->own[i].bytes;
    }
    if (!x->direct && !file_coll_make_room(&x->packed, bytes))
        return pl_fail_memory("the data of a collective access");
    char *data = x->direct ? x->direct : x->packed.memory;
    struct piece *pieces = x->pieces.memory;
    if (!x->direct && x->write)
        pl_cursor_pack(&x->memory, data, bytes);
    for (int i = 0; i < x->aggregators; i++) {
        x->own[i].pieces = pieces;
        x->own[i].data = data;
        pieces = pieces ? pieces + x->own[i].count : NULL;
        data = data ? data + x->own[i].bytes : NULL;
    }
    x->direct = x->direct ? data : NULL;
    return MPI_SUCCESS;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* `each` numbers from every process to every other. */
static int swap_numbers(struct exchange *x, int each)
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

/* How much is to come for this process's window, and the memory for it. */
static int file_coll_expect(struct exchange *x)
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
    if (!file_coll_make_room(&x->lists, count * sizeof(struct piece)) || !file_coll_make_room(&x->data, bytes) ||
        !file_coll_make_room(&x->buffer, x->window))
        return pl_fail_memory("the buffers of a collective access");
    struct piece *pieces = x->lists.memory;
    char *data = x->data.memory;
    for (int i = 0; i < x->comm->size; i++) {
        x->all[i].pieces = pieces;
        x->all[i].data = data;
        pieces = pieces ? pieces + x->all[i].count : NULL;
        data = data ? data + x->all[i].bytes : NULL;
    }
    x->all[x->comm->rank] = x->own[x->mine];
    return MPI_SUCCESS;
}

/* Have all memory for the round? And where does the next one begin: nobody looks where nobody has anything. */
static int file_coll_agree(struct exchange *x, int error)
{
    int64_t words[2] = { error, has_run(x) ? ~x->at : ~INT64_MAX };
    int rc = pl_allreduce(x->comm, MPI_IN_PLACE, words, 2, pl_type_predefined((uintptr_t)MPI_INT64_T),
                          pl_op_predefined((uintptr_t)MPI_MAX));
    x->next = ~words[1];
    if (rc || error)
        return error ? error : rc;
    return words[0] ? pl_fail((int)words[0], "another process has failed, and says why") : MPI_SUCCESS;
}

/* Everybody tells the aggregators how much they will get: then it is known whether all have memory for it. */
static int file_coll_announce(struct exchange *x, int error)
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
        error = file_coll_expect(x);
    return file_coll_agree(x, error);
}

static int file_coll_run(struct pl_schedule *schedule)
{
    int rc = pl_schedule_run(schedule);
    pl_schedule_fini(schedule);
    return rc;
}

/* The runs go to the aggregators, and the data, too, when it is written. */
static int send_shares(struct exchange *x)
{
    struct pl_schedule schedule;
    pl_schedule_init(&schedule, x->comm, pl_comm_next_tag(x->comm));
    for (int i = 0; x->mine >= 0 && i < x->comm->size; i++) {
        struct share *share = &x->all[i];
        if (i == x->comm->rank || share->count == 0)
            continue;
        pl_schedule_recv(&schedule, pl_block_bytes(share->pieces, share->count * sizeof(struct piece)), i);
        if (x->write)
            pl_schedule_recv(&schedule, pl_block_bytes(share->data, share->bytes), i);
    }
    for (int i = 0; i < x->aggregators; i++) {
        struct share *share = &x->own[i];
        if (i == x->mine || share->count == 0)
            continue;
        int rank = aggregator_rank(x, i);
        pl_schedule_send(&schedule, pl_block_bytes(share->pieces, share->count * sizeof(struct piece)), rank);
        if (x->write)
            pl_schedule_send(&schedule, pl_block_bytes(share->data, share->bytes), rank);
    }
    return file_coll_run(&schedule);
}

/* The data that was read comes back: as much as there was. */
static int return_shares(struct exchange *x)
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
    return file_coll_run(&schedule);
}

/* --- what an aggregator does with its window ---------------------------------------------------------------------- */

/* The process whose next run comes first in the file; -1: there is none. `next`: how many runs of each are done. */
static int file_coll_first_of(const struct exchange *x, const size_t *next)
{
    int first = -1;
    uint32_t lowest = 0;
    for (int i = 0; i < x->comm->size; i++) {
        if (next[i] == x->all[i].count)
            continue;
        uint32_t at = x->all[i].pieces[next[i]].at;
        if (first < 0 || at < lowest) {
            first = i;
            lowest = at;
        }
    }
    return first;
}

static void access_window(struct exchange *x, MPI_Offset low, size_t from, size_t to, size_t *moved)
{
    *moved = 0;
    if (to > from && !x->error)
        x->error =
            pl_access_run(x->file, x->write, low + (MPI_Offset)from, (char *)x->buffer.memory + from, to - from, moved);
}

static void write_window(struct exchange *x, MPI_Offset low, size_t *next)
{
    size_t from = 0, to = 0, moved;
    for (int i; (i = file_coll_first_of(x, next)) >= 0;) {
        struct share *share = &x->all[i];
        struct piece piece = share->pieces[next[i]++];
        if (piece.at > to) {
            access_window(x, low, from, to, &moved);
            from = piece.at;
        }
        memcpy((char *)x->buffer.memory + piece.at, share->data, piece.bytes);
        share->data += piece.bytes;
        to = piece.at + piece.bytes > to ? piece.at + piece.bytes : to;
    }
    access_window(x, low, from, to, &moved);
    atomic_store_explicit(&x->file->dirty, true, memory_order_relaxed);
}

/* Reads what is wanted; returns how far there is data. */
static size_t read_window(struct exchange *x, MPI_Offset low, size_t *next)
{
    size_t from = 0, to = 0, moved = 0;
    for (int i; (i = file_coll_first_of(x, next)) >= 0;) {
        struct piece piece = x->all[i].pieces[next[i]++];
        if (piece.at > to + GAP) {
            access_window(x, low, from, to, &moved);
            if (moved < to - from)
                return from + moved;
            from = piece.at;
        }
        to = piece.at + piece.bytes > to ? piece.at + piece.bytes : to;
    }
    access_window(x, low, from, to, &moved);
    return from + moved;
}

/* Each one's data, up to the end. */
static void deal_window(struct exchange *x, size_t end)
{
    for (int i = 0; i < x->comm->size; i++) {
        struct share *share = &x->all[i];
        char *data = share->data;
        bool ended = false;
        for (size_t k = 0; k < share->count && !ended; k++) {
            struct piece piece = share->pieces[k];
            size_t bytes = piece.at >= end ? 0 : end - piece.at < piece.bytes ? end - piece.at : piece.bytes;
            memcpy(data, (char *)x->buffer.memory + piece.at, bytes);
            data += bytes;
            ended = bytes < piece.bytes;
        }
        share->bytes = share->count ? (size_t)(data - share->data) : 0;
    }
}

/* --- rounds ------------------------------------------------------------------------------------------------------- */

/* What has come back, in the order of the stream. */
static void take_back(struct exchange *x)
{
    for (int i = 0; i < x->aggregators && !x->ended; i++) {
        size_t bytes = (size_t)x->theirs[aggregator_rank(x, i)];
        if (!x->direct && bytes > 0)
            pl_cursor_unpack(&x->memory, x->own[i].data, bytes);
        x->moved += bytes;
        x->ended = bytes < x->own[i].bytes;
    }
}

static int do_round(struct exchange *x, size_t *next)
{
    MPI_Offset window = x->low + (MPI_Offset)x->mine * (MPI_Offset)x->window;
    int rc = file_coll_announce(x, cut_round(x));
    if (rc == MPI_SUCCESS)
        rc = send_shares(x);
    if (rc)
        return rc;
    memset(next, 0, (size_t)x->comm->size * sizeof *next);
    if (x->write) {
        if (x->mine >= 0)
            write_window(x, window, next);
        for (int i = 0; i < x->aggregators; i++)
            x->moved += x->own[i].bytes;
        return MPI_SUCCESS;
    }
    if (x->mine >= 0)
        deal_window(x, read_window(x, window, next));
    rc = return_shares(x);
    if (rc == MPI_SUCCESS)
        take_back(x);
    return rc;
}

static int do_rounds(struct exchange *x)
{
    size_t size = (size_t)x->comm->size;
    size_t *next = pl_calloc(size, sizeof *next);
    x->own = pl_calloc((size_t)x->aggregators, sizeof *x->own);
    x->all = pl_calloc(size, sizeof *x->all);
    x->numbers = pl_calloc(2 * size, sizeof *x->numbers);
    x->theirs = pl_calloc(2 * size, sizeof *x->theirs);
    bool made = next && x->own && x->all && x->numbers && x->theirs;
    int rc = pl_file_agree(x->comm, made ? MPI_SUCCESS : pl_fail_memory("a collective access"));
    for (; x->next < INT64_MAX && !rc; rc = do_round(x, next))
        x->low = x->next - x->next % (MPI_Offset)x->window;
    if (rc == MPI_SUCCESS)
        rc = pl_file_agree(x->comm, x->error);
    struct room *rooms[] = { &x->pieces, &x->packed, &x->lists, &x->data, &x->buffer };
    for (int i = 0; i < 5; i++)
        free(rooms[i]->memory);
    free(next);
    free(x->own);
    free(x->all);
    free(x->numbers);
    free(x->theirs);
    return rc;
}

/* --- is it worth it? ---------------------------------------------------------------------------------------------- */

/* What each says of its access. */
struct extent {
    int64_t low, high, run; /* `run`: bytes that lie together */
    int64_t barred;         /* it has failed already, or its runs do not ascend */
};

/* Where it begins; false: each does its own. Alike on all processes. */
static bool file_coll_worth(const struct extent *extents, int size, bool always, MPI_Offset *low)
{
    MPI_Offset sum = 0, high = 0;
    int64_t run = INT64_MAX;
    *low = INT64_MAX;
    for (int i = 0; i < size; i++) {
        const struct extent *extent = &extents[i];
        if (extent->barred)
            return false;
        if (extent->high == extent->low || __builtin_add_overflow(sum, extent->high - extent->low, &sum))
            continue;
        *low = extent->low < *low ? extent->low : *low;
        high = extent->high > high ? extent->high : high;
        run = extent->run < run ? extent->run : run;
    }
    if (high == 0 || high > INT64_MAX / 2) /* beyond what there are files of: windows are not */
        return false;
    return always || (sum > high - *low && run < LONG_RUN); /* more than the range: they lie between each other */
}

int pl_access_together(struct pl_file *file, const struct pl_access *access, int error, size_t *moved)
{
    struct pl_comm *comm = file->comm;
    enum pl_file_buffering wanted = access->write ? file->hints.writing : file->hints.reading;
    *moved = 0;
    if (comm->size == 1 || file->atomic || wanted == PL_FILE_DISABLE)
        return error ? error : pl_access_alone(file, access, moved);
    int64_t run = file->view.run < INT64_MAX ? (int64_t)file->view.run : INT64_MAX;
    struct extent own = { access->span.low, access->span.high, run, error || !file->view.ascending };
    struct extent *extents = pl_calloc((size_t)comm->size, sizeof own);
    if (!extents)
        return error ? error : pl_fail_memory("a collective access");
    struct exchange x = { .file = file, .comm = comm, .write = access->write, .mine = -1 };
    int rc = pl_allgather(comm, &own, sizeof own, PL_TYPE_BYTE, extents, sizeof own, PL_TYPE_BYTE);
    bool together = rc == MPI_SUCCESS && file_coll_worth(extents, comm->size, wanted == PL_FILE_ENABLE, &x.next);
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
    *moved = x.moved;
    return rc;
}
