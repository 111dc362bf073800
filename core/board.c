/* SPDX-License-Identifier: BSD-3-Clause */
/* The board of a communicator: making it, its cells, and waiting for them. See board.h. */
#include "core/board.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/collective.h"
#include "core/comm.h"
#include "core/config.h"
#include "core/engine.h"
#include "core/error.h"
#include "core/instance.h"
#include "core/memory.h"
#include "core/report.h"

enum {
    PAGE = 4096,
    LINE = 64,
    SMALL = 48,            /* bytes of data that travel with their number */
    SETS = 128,            /* of cells: operations that may be under way at once */
    SHORT_RING = 32 << 10, /* bytes in turns of which a rank puts longer data, up to PL_BOARD_SHORT ... */
    LONG_RING = 512 << 10, /* ... and beyond */
    GLANCES = 100,         /* before the wait is taken seriously */
};

/* Everything that one rank writes and others poll has a line of its own. */
struct line {
    alignas(LINE) _Atomic uint32_t word;
    uint32_t bytes; /* of data, here or in one of the owner's rings */
    uint32_t place; /* where there */
    alignas(16) unsigned char data[SMALL];
};
_Static_assert(sizeof(struct line) == LINE, "short data travels with its number");
_Static_assert(LONG_RING >= 2 * PL_BOARD_MOST && SHORT_RING >= 2 * PL_BOARD_SHORT, "nobody waits for room at once");

/* The shared memory: */
struct sheet {
    struct line left;                        /* how many members, the owner aside, do not use it any more */
    alignas(LINE) _Atomic uint64_t wanting;  /* members that wait for room: a bit for each */
    _Atomic uint64_t wanted[PL_BOARD_RANKS]; /* and for what: wish_of() */
    struct line lines[]; /* [size] operations completed by each; [SETS][size] cells; then [size] rings of each kind */
};

/* What this rank has put into a ring. */
struct said {
    uint32_t number;    /* in which operation */
    int reader;         /* a rank; -1: all, the own: nobody */
    uint64_t before[2]; /* bytes that had been put into both before */
};

struct pl_board {
    struct pl_comm *comm; /* borrowed */
    struct pl_engine *engine;
    const struct pl_transport_ops *ops;
    int size, rank;
    uint32_t next; /* number of the next operation, or of the one under way */
    uint32_t seen; /* all ranks have completed those before this one */
    struct sheet *sheet;
    unsigned char *ring[2]; /* those of all ranks: short, long */
    uint64_t head[2];       /* bytes that this rank has put into its own so far */
    struct said said[SETS]; /* from the oldest that may still be read */
    uint32_t oldest, newest;
    struct pl_shared shared; /* the owner's; memory NULL elsewhere */
    size_t bytes;
    struct pl_list link; /* in engine->boards once the owner does not use it any more */
};

static const size_t ring_bytes[2] = { SHORT_RING, LONG_RING };

static size_t cells_bytes(int size)
{
    size_t bytes = sizeof(struct sheet) + (size_t)size * (1 + SETS) * sizeof(struct line);
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static size_t all_bytes(int size)
{
    return cells_bytes(size) + (size_t)size * (SHORT_RING + LONG_RING);
}

static struct line *completed(const struct pl_board *board, int rank)
{
    return &board->sheet->lines[rank];
}

static struct line *cell(const struct pl_board *board, int rank)
{
    return &board->sheet->lines[(size_t)board->size * (1 + board->next % SETS) + (size_t)rank];
}

/* Where the data of a cell is. What another rank says of it leads nowhere else than into that rank's ring. */
static void *data_of(const struct pl_board *board, int rank, size_t bytes)
{
    struct line *line = cell(board, rank);
    if (bytes <= SMALL)
        return line->data;
    bool is_long = bytes > PL_BOARD_SHORT;
    size_t place = line->place, most = ring_bytes[is_long] - bytes;
    return board->ring[is_long] + (size_t)rank * ring_bytes[is_long] + (place < most ? place : most);
}

/* --- making one -------------------------------------------------------------------------------------------------- */

/* What the first member tells the others. */
struct notice {
    uint64_t place, bytes; /* 0 bytes: there will be no board */
};

/* The transport by which all other members are reached; NULL: it cannot share memory, or there are several. */
static const struct pl_transport_ops *common_transport(struct pl_comm *comm)
{
    const struct pl_transport_ops *ops = NULL;
    for (int i = 0; i < comm->size; i++) {
        struct pl_peer *peer;
        if (i == comm->rank)
            continue;
        if (pl_engine_find(comm, i, &peer) != MPI_SUCCESS || !peer->endpoint)
            return NULL;
        if (!peer->endpoint->ops->share || (ops && ops != peer->endpoint->ops))
            return NULL;
        ops = peer->endpoint->ops;
    }
    return ops;
}

static void *transport_self(struct pl_engine *engine, const struct pl_transport_ops *ops)
{
    int i = 0;
    while (engine->transport[i].ops != ops)
        i++;
    return engine->transport[i].self;
}

/* Boards that all others have left by now: their memory may be used again. Engine lock held. */
static void sweep(struct pl_engine *engine, bool all)
{
    PL_LIST_EACH(board, &engine->boards, struct pl_board, link) {
        bool unused = (int)atomic_load_explicit(&board->sheet->left.word, memory_order_acquire) == board->size - 1;
        if (!unused && !all)
            continue;
        pl_list_remove(&board->link);
        board->ops->unshare(transport_self(engine, board->ops), &board->shared, unused);
        free(board);
    }
}

static void share(struct pl_board *board, struct notice *notice)
{
    pl_engine_enter(board->engine);
    sweep(board->engine, false);
    int rc = board->ops->share(transport_self(board->engine, board->ops), all_bytes(board->size), &board->shared);
    pl_engine_leave(board->engine);
    if (rc)
        return;
    board->sheet = board->shared.memory;
    *notice = (struct notice){ board->shared.place, board->shared.bytes };
}

static void attach(struct pl_board *board, const struct notice *notice)
{
    struct pl_peer *owner = pl_comm_peer(board->comm, 0);
    void *memory;
    if (notice->bytes < all_bytes(board->size))
        return;
    pl_engine_enter(board->engine);
    int rc = owner->error ? owner->error
                          : board->ops->attach(owner->endpoint, notice->place, all_bytes(board->size), &memory);
    pl_engine_leave(board->engine);
    if (rc == MPI_SUCCESS)
        board->sheet = memory;
}

static void let_go(struct pl_board *board)
{
    if (board->shared.memory) {
        struct pl_engine *engine = board->engine;
        pl_engine_enter(engine);
        pl_list_append(&engine->boards, &board->link);
        sweep(engine, false);
        pl_engine_leave(engine);
        return;
    }
    if (board->sheet) {
        atomic_fetch_add_explicit(&board->sheet->left.word, 1, memory_order_release);
        board->ops->detach(board->sheet, all_bytes(board->size));
    }
    free(board);
}

/* All members have come here. A failure that all hear of only means that there is no board, for anybody. */
static int make(struct pl_comm *comm, struct pl_board **made)
{
    struct notice notice = { 0 };
    const struct pl_transport_ops *ops = common_transport(comm);
    struct pl_board *board = ops ? pl_calloc(1, sizeof *board) : NULL;
    if (board) {
        *board = (struct pl_board){
            .comm = comm, .engine = &comm->instance->engine, .ops = ops, .size = comm->size, .rank = comm->rank
        };
        pl_list_init(&board->link);
        if (comm->rank == 0)
            share(board, &notice);
    }
    int good = 0, all = 0, rc = pl_bcast(comm, &notice, sizeof notice, PL_TYPE_BYTE, 0);
    if (rc == MPI_SUCCESS && notice.bytes > 0) {
        if (board && comm->rank != 0)
            attach(board, &notice);
        good = board && board->sheet;
        rc = pl_allreduce(comm, &good, &all, 1, pl_type_predefined((uintptr_t)MPI_INT),
                          pl_op_predefined((uintptr_t)MPI_MIN));
    }
    if (rc == MPI_SUCCESS && all) {
        board->ring[0] = (unsigned char *)board->sheet + cells_bytes(board->size);
        board->ring[1] = board->ring[0] + (size_t)board->size * SHORT_RING;
        *made = board;
    } else if (board) {
        let_go(board);
    }
    return rc;
}

int pl_board_of(struct pl_comm *comm, bool reduction, struct pl_board **board)
{
    *board = comm->board;
    if (__builtin_expect(*board != NULL, 1))
        return MPI_SUCCESS;
    if (comm->boardless || comm->size > PL_BOARD_RANKS || (!reduction && comm->board_waited < PL_BOARD_PATIENCE)) {
        comm->board_waited++;
        return MPI_SUCCESS;
    }
    comm->boardless = true; /* the collectives that make it go by messages */
    if (!pl_config_bool("coll_board"))
        return MPI_SUCCESS;
    int rc = make(comm, &comm->board);
    *board = comm->board;
    return rc;
}

void pl_board_release(struct pl_comm *comm)
{
    struct pl_board *board = comm->board;
    comm->board = NULL;
    comm->boardless = true;
    if (board)
        let_go(board);
}

void pl_board_forget(struct pl_engine *engine)
{
    sweep(engine, true);
}

/* --- waiting ----------------------------------------------------------------------------------------------------- */

/* Nobody can finish when one has gone. Engine lock held. */
static int lost(const struct pl_board *board, int *rank)
{
    *rank = atomic_load(&board->comm->lost) - 1;
    if (*rank >= 0)
        return MPI_ERR_PROC_ABORTED;
    for (int i = 0; i < board->size; i++)
        if (i != board->rank && pl_comm_peer(board->comm, *rank = i)->error)
            return pl_comm_peer(board->comm, i)->error;
    return MPI_SUCCESS;
}

/* Whose line it is. */
static int rank_of(const struct pl_board *board, const struct pl_awaited *awaited)
{
    ptrdiff_t offset = (const char *)awaited->word - (const char *)board->sheet->lines;
    return (int)(offset / (ptrdiff_t)sizeof(struct line) % board->size);
}

int pl_board_count(const struct pl_comm *comm)
{
    return (int)((comm->collective + comm->boarded) & INT32_MAX);
}

static int wait_longer(struct pl_board *board, const struct pl_awaited *awaited)
{
    struct pl_engine *engine = board->engine;
    const struct pl_waiting what = {
        .what = PL_WHAT_COLLECTIVE,
        .comm = board->comm,
        .peer = rank_of(board, awaited),
        .tag = pl_board_count(board->comm) + 1,
    };
    struct pl_wait wait = { .what = &what };
    while (!pl_awaited_is_there(awaited)) {
        pl_engine_enter(engine);
        int events = pl_engine_progress(engine);
        int gone, rc = lost(board, &gone);
        pl_engine_leave(engine);
        if (rc && !pl_awaited_is_there(awaited))
            return pl_fail(rc, "the process of rank %d in %s is gone", gone, pl_comm_label(board->comm));
        if (events)
            wait.rounds = 0;
        else if (!pl_awaited_is_there(awaited))
            pl_engine_idle_for(engine, awaited, &wait);
    }
    return MPI_SUCCESS;
}

static inline int wait_for(struct pl_board *board, const struct line *line, uint32_t value)
{
    struct pl_awaited awaited = { &line->word, value };
    for (int i = board->engine->patient ? 0 : GLANCES; i > 0; i--)
        if (pl_awaited_is_there(&awaited))
            return MPI_SUCCESS;
    return wait_longer(board, &awaited);
}

/* --- operations --------------------------------------------------------------------------------------------------- */

/* That a rank has completed so many operations. */
static uint64_t wish_of(int rank, uint32_t operations)
{
    return (uint64_t)rank << 32 | operations;
}

static void __attribute__((cold)) wake_wanting(struct pl_board *board, uint64_t wanting)
{
    uint64_t wish = wish_of(board->rank, board->next);
    for (int i = 0; i < board->size; i++)
        if (wanting >> i & 1 && atomic_load_explicit(&board->sheet->wanted[i], memory_order_relaxed) == wish) {
            pl_engine_enter(board->engine);
            board->ops->ring(pl_comm_peer(board->comm, i)->endpoint);
            pl_engine_leave(board->engine);
        }
}

/* Who falls asleep says before what for, and looks once more after a fence on all processors (plugins/shm/bell.c). */
void pl_board_end(struct pl_board *board)
{
    board->next++;
    atomic_store_explicit(&completed(board, board->rank)->word, board->next, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t wanting = atomic_load_explicit(&board->sheet->wanting, memory_order_relaxed);
    if (__builtin_expect(wanting != 0, 0))
        wake_wanting(board, wanting);
}

/* Waits until a rank has completed an operation. */
static int wait_for_reader(struct pl_board *board, int rank, uint32_t number)
{
    const struct pl_awaited awaited = { &completed(board, rank)->word, number + 1 };
    if (pl_awaited_is_there(&awaited))
        return MPI_SUCCESS;
    uint64_t bit = (uint64_t)1 << board->rank;
    atomic_store_explicit(&board->sheet->wanted[board->rank], wish_of(rank, number + 1), memory_order_relaxed);
    atomic_fetch_or_explicit(&board->sheet->wanting, bit, memory_order_seq_cst);
    int rc = wait_for(board, completed(board, rank), number + 1);
    atomic_fetch_and_explicit(&board->sheet->wanting, ~bit, memory_order_relaxed);
    return rc;
}

/* Waits until all have completed an operation. */
static int wait_until_completed(struct pl_board *board, uint32_t number)
{
    uint32_t least = board->next;
    for (int i = 0; i < board->size; i++) {
        if (i == board->rank)
            continue;
        int rc = wait_for_reader(board, i, number);
        if (rc)
            return rc;
        uint32_t now = atomic_load_explicit(&completed(board, i)->word, memory_order_acquire);
        if ((int32_t)(now - least) < 0)
            least = now;
    }
    board->seen = least;
    return MPI_SUCCESS;
}

static int wait_until_read(struct pl_board *board, const struct said *said)
{
    if ((int32_t)(said->number - board->seen) < 0 || said->reader == board->rank)
        return MPI_SUCCESS;
    return said->reader < 0 ? wait_until_completed(board, said->number)
                            : wait_for_reader(board, said->reader, said->number);
}

/* Where `bytes` more go in the own ring: at its start when they do not fit in before its end. Waits until what was
 * there has been read. */
static int take_room(struct pl_board *board, size_t bytes, uint32_t *place)
{
    int ring = bytes > PL_BOARD_SHORT;
    size_t whole = ring_bytes[ring], within = board->head[ring] & (whole - 1), room = (bytes + LINE - 1) / LINE * LINE;
    struct said now = { board->next, board->rank, { board->head[0], board->head[1] } };
    if (within + room > whole) {
        board->head[ring] += whole - within;
        within = 0;
    }
    board->head[ring] += room;
    for (; board->oldest != board->newest; board->oldest++) {
        const struct said *oldest = &board->said[board->oldest % SETS];
        if (board->newest - board->oldest < SETS && board->head[ring] - oldest->before[ring] <= whole)
            break;
        int rc = wait_until_read(board, oldest);
        if (rc)
            return rc;
    }
    board->said[board->newest++ % SETS] = now;
    *place = (uint32_t)within;
    return MPI_SUCCESS;
}

int pl_board_put(struct pl_board *board, size_t bytes, void **data)
{
    struct line *line = cell(board, board->rank);
    int rc = MPI_SUCCESS;
    if (board->next - board->seen >= SETS) /* half of them, not to wait for each anew */
        rc = wait_until_completed(board, board->next - SETS / 2);
    if (rc == MPI_SUCCESS && bytes > SMALL)
        rc = take_room(board, bytes, &line->place);
    if (rc)
        return rc;
    line->bytes = (uint32_t)bytes;
    *data = data_of(board, board->rank, bytes);
    return MPI_SUCCESS;
}

void pl_board_show(struct pl_board *board, int rank)
{
    int from = rank < 0 ? 0 : rank, to = rank < 0 ? board->size : rank + 1;
    struct said *said = &board->said[(board->newest - 1) % SETS];
    if (said->number == board->next)
        said->reader = rank;
    atomic_store_explicit(&cell(board, board->rank)->word, board->next + 1, memory_order_release);
    pl_engine_enter(board->engine);
    for (int i = from; i < to; i++)
        if (i != board->rank)
            board->ops->ring(pl_comm_peer(board->comm, i)->endpoint);
    pl_engine_leave(board->engine);
}

/* Ranks that mean different amounts of data. Others' memory is not believed: no more than a cell is read. */
static int __attribute__((cold)) fail_amount(int rank, size_t said, size_t expected)
{
    return pl_fail(MPI_ERR_TRUNCATE,
                   "rank %d gives %zu bytes where this rank expects %zu: all ranks have to call "
                   "the same collective with sizes that fit",
                   rank, said, expected);
}

int pl_board_wait(struct pl_board *board, int rank, size_t *bytes, const void **data)
{
    const struct line *line = cell(board, rank);
    int rc = wait_for(board, line, board->next + 1);
    size_t said = line->bytes;
    if (rc)
        return rc;
    if (said > *bytes)
        return fail_amount(rank, said, *bytes);
    *bytes = said;
    *data = data_of(board, rank, said);
    return MPI_SUCCESS;
}

int pl_board_wait_all(struct pl_board *board, size_t bytes)
{
    int wrong = -1;
    for (int i = 0; i < board->size; i++) {
        int rc = i == board->rank ? MPI_SUCCESS : wait_for(board, cell(board, i), board->next + 1);
        if (rc)
            return rc;
        if (__builtin_expect(cell(board, i)->bytes != bytes, 0))
            wrong = i;
    }
    board->seen = board->next;
    return wrong < 0 ? MPI_SUCCESS : fail_amount(wrong, cell(board, wrong)->bytes, bytes);
}

const void *pl_board_read(const struct pl_board *board, int rank, size_t bytes)
{
    return data_of(board, rank, bytes);
}
