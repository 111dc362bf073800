/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many cache lines collectives in the area move on machines of many cores, by the level that they reach (lines.h).
 * What runs is the area's own code, on the ranks of a model. LINES_SHOW=1 prints a table.
 */
#include "unit.h"

#include "core/base/cpu.h"
#include "core/base/far_copy.h"
#include "core/coll/schedule.h"
#include "core/datatype/op.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/peer.h"
#include "lines.h"

static pl_op_kernel *sum_loop(void);
static int note_amount(int rank, size_t given, size_t expected);
static struct pl_peer no_peer;

/* Everything that copies or combines data in the area is seen by the model. */
#define memcpy(to, from, bytes)      lines_copy(to, from, bytes)
#define pl_far_copy(to, from, bytes) lines_copy(to, from, bytes)
#define pl_op_loop(op, type)         sum_loop()
#define pl_prefetch_to_write(line)   ((void)(line))
#define pl_coll_fail_amount          note_amount
#define pl_engine_enter(engine)      ((void)(engine))
#define pl_engine_leave(engine)      ((void)(engine))
#define pl_comm_peer(comm, rank)     ((void)(comm), (void)(rank), &no_peer)
#include "core/coll/area/collectives.c"
#include "core/coll/area/copy.c"
#include "core/coll/area/move.c"
#include "core/coll/area/reduce.c"
#include "core/coll/area/slots.c"
#include "core/coll/area/tree.c"
#include "core/coll/area/tree_coll.c"
#undef memcpy
#undef pl_far_copy

enum { RANKS = LINES_CORES, WORDS = 1 << 13, ROUNDS = 4 };

static struct pl_comm comms[RANKS];
static struct pl_area *areas[RANKS];
static struct pl_coll colls[RANKS];
static int64_t *inputs[RANKS], *outputs[RANKS];
static int errors[RANKS];

/* --- what stands in for the library ------------------------------------------------------------------------------- */

static void sum_words(const void *in, const void *with, void *to, size_t count)
{
    const int64_t *a = in, *b = with;
    int64_t *sum = to;
    for (size_t i = 0; i < count; i++)
        sum[i] = a[i] + b[i];
}

static pl_op_kernel *sum_loop(void)
{
    return sum_words;
}

int pl_area_await_word(struct pl_area *area, const struct pl_coll *coll, int rank, int end,
                       const struct pl_awaited *awaited)
{
    (void)area, (void)coll, (void)rank, (void)end;
    do
        lines_await(awaited->word, awaited->value);
    while (!pl_awaited_is_there(awaited));
    return MPI_SUCCESS;
}

int pl_area_await(struct pl_area *area, const struct pl_area_call *call, int rank, int end)
{
    (void)call;
    return pl_area_await_word(area, NULL, rank, end, &(struct pl_awaited){ &area->slots[rank].word, area->next + 1 });
}

void pl_area_wake(struct pl_area *area, uint64_t asleep)
{
    (void)area, (void)asleep;
}

static void ring_for_nothing(struct pl_endpoint *endpoint)
{
    (void)endpoint;
}
static const struct pl_transport_ops silent = { .ring = ring_for_nothing };

/* What a rank says of another one that gives another amount. */
static struct {
    int rank;
    size_t given, expected;
} amounts[RANKS];

static int note_amount(int rank, size_t given, size_t expected)
{
    amounts[machine.current].rank = rank;
    amounts[machine.current].given = given;
    amounts[machine.current].expected = expected;
    return MPI_ERR_TRUNCATE;
}

/* --- machines ----------------------------------------------------------------------------------------------------- */

static bool machine_interleaved;

static void machine_open(int size, int packages, int caches, enum pl_area_trees trees)
{
    static struct pl_area_place places[RANKS];
    lines_open(size, packages, caches, pl_area_memory_bytes(size));
    machine.interleaved = machine_interleaved;
    for (int i = 0; i < size; i++) {
        areas[i] = calloc(1, sizeof *areas[i]);
        inputs[i] = calloc(WORDS, sizeof *inputs[i]);
        outputs[i] = calloc(WORDS, sizeof *outputs[i]);
        comms[i] = (struct pl_comm){ .rank = i, .size = size, .coll.area.open = areas[i] };
        *areas[i] = (struct pl_area){
            .comm = &comms[i], .ops = &silent, .size = size, .rank = i, .memory = (void *)machine.memory
        };
        pl_area_begin(areas[i]);
        int cache = lines_cache_of(i), package = cache / caches;
        places[i] = (struct pl_area_place){ package, package, cache, 0 };
    }
    for (int i = 0; i < size; i++) {
        areas[i]->trees = trees;
        pl_area_tree_make(&areas[i]->tree, i, size, places);
        area_choose_chunks(areas[i]);
        for (int kind = 0; kind < PL_COLL_KINDS && trees == PL_TREE_NONE; kind++)
            areas[i]->chunk[kind] = short_chunks[kind];
    }
}

static void machine_close(void)
{
    for (int i = 0; i < machine.cores; i++) {
        free(areas[i]);
        free(inputs[i]);
        free(outputs[i]);
    }
    lines_close();
}

/* As after many operations: the next ones use the same slots and the same space as those before. */
static void machine_go_on(int round)
{
    for (int i = 0; i < machine.cores; i++) {
        struct pl_area *area = areas[i];
        area->next = area->seen = (uint32_t)(round * PL_AREA_SETS);
        area->slots = pl_area_slots_of(area, area->next);
        area->head[0] = area->head[1] = 0;
        area->oldest = area->newest;
        area->own->word = area->next;
        for (int j = 0; j < machine.cores; j++)
            area->completed[j] = area->next;
    }
}

/* --- one collective ----------------------------------------------------------------------------------------------- */

struct figures {
    long moved[LINES_LEVELS], most, ns[2]; /* at once; one after the other */
};

static int64_t word_of(int rank, int i)
{
    return (int64_t)(rank + 1) * 1009 + i;
}

static void run_rank(int rank)
{
    errors[rank] = pl_coll_run_in_area(&colls[rank], pl_area_bytes(&colls[rank]));
}

static void describe(enum pl_coll_kind kind, int rank, int words, int root)
{
    const struct pl_type *type = pl_type_predefined((uintptr_t)MPI_INT64_T);
    for (int i = 0; i < words; i++) {
        inputs[rank][i] = word_of(rank, i);
        outputs[rank][i] = kind == PL_COLL_BCAST && rank == root ? word_of(rank, i) : -1;
    }
    colls[rank] = (struct pl_coll){ .kind = kind,
                                    .comm = &comms[rank],
                                    .sendbuf = inputs[rank],
                                    .recvbuf = outputs[rank],
                                    .recvcount = words,
                                    .recvtype = type,
                                    .root = root,
                                    .op = pl_op_predefined((uintptr_t)MPI_SUM) };
}

static void check(enum pl_coll_kind kind, int rank, int words, int root)
{
    ck_assert_int_eq(errors[rank], MPI_SUCCESS);
    for (int i = 0; i < words && kind != PL_COLL_BARRIER && (kind != PL_COLL_REDUCE || rank == root); i++) {
        int64_t want = kind == PL_COLL_BCAST ? word_of(root, i) : 0;
        for (int from = 0; from < machine.cores && kind != PL_COLL_BCAST; from++)
            want += word_of(from, i);
        if (outputs[rank][i] != want)
            ck_abort_msg("collective %d: element %d of rank %d is wrong", kind, i, rank);
    }
}

/* What one collective of `bytes` bytes costs once the lines are where earlier ones left them: the last two times. */
static struct figures measure(enum pl_coll_kind kind, size_t bytes, int root)
{
    struct figures figures;
    int words = (int)(bytes / sizeof(int64_t));
    for (int round = 0; round < ROUNDS; round++) {
        machine.queues = round == ROUNDS - 1;
        machine_go_on(round + 1);
        for (int rank = 0; rank < machine.cores; rank++)
            describe(kind, rank, words, root);
        ck_assert_int_eq(lines_run(run_rank), 0);
        for (int rank = 0; rank < machine.cores; rank++)
            check(kind, rank, words, root);
        figures.ns[machine.queues] = lines_end();
        if (!machine.queues)
            memcpy(figures.moved, machine.moved, sizeof figures.moved), figures.most = lines_most();
    }
    return figures;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static const struct call {
    const char *name;
    enum pl_coll_kind kind;
    size_t bytes;
} calls[] = { { "barrier", PL_COLL_BARRIER, 0 },
              { "bcast 8 B", PL_COLL_BCAST, 8 },
              { "bcast 4 KiB", PL_COLL_BCAST, 4096 },
              { "bcast 64 KiB", PL_COLL_BCAST, 65536 },
              { "reduce 8 B", PL_COLL_REDUCE, 8 },
              { "reduce 4 KiB", PL_COLL_REDUCE, 4096 },
              { "reduce 64 KiB", PL_COLL_REDUCE, 65536 },
              { "allreduce 8 B", PL_COLL_ALLREDUCE, 8 },
              { "allreduce 1 KiB", PL_COLL_ALLREDUCE, 1024 },
              { "allreduce 4 KiB", PL_COLL_ALLREDUCE, 4096 },
              { "allreduce 16 KiB", PL_COLL_ALLREDUCE, 16384 } };

static const struct shape {
    int size, caches; /* ranks; caches of each of two packages */
} shapes[] = { { 16, 2 }, { 32, 4 }, { 64, 4 }, { 64, 8 }, { 128, 8 }, { 192, 12 } };
enum { CALLS = sizeof calls / sizeof *calls, SHAPES = sizeof shapes / sizeof *shapes };

static long moved_in_all(const struct figures *f)
{
    return f->moved[LINES_CACHE] + f->moved[LINES_PACKAGE] + f->moved[LINES_MACHINE];
}

static void show(const struct call *call, const struct shape *shape, const char *how, const struct figures *f)
{
    if (getenv("LINES_SHOW"))
        printf("%-16s | %3d, 2x%-2d | %-8s | %6ld | %6ld | %6ld | %5ld | %6ld | %6ld\n", call->name, shape->size,
               shape->caches, how, f->moved[LINES_CACHE], f->moved[LINES_PACKAGE], f->moved[LINES_MACHINE], f->most,
               f->ns[0], f->ns[1]);
}

static struct figures measure_on(const struct shape *shape, const struct call *call, enum pl_area_trees trees,
                                 const char *how)
{
    machine_open(shape->size, 2, shape->caches, trees);
    struct figures figures = measure(call->kind, call->bytes, 0);
    machine_close();
    show(call, shape, how, &figures);
    return figures;
}

/* Can the area do it without a tree? */
static bool is_for_flat(const struct shape *shape, const struct call *call)
{
    return shape->size <= PL_AREA_FLAT || call->bytes <= PL_AREA_SMALL;
}

static bool is_chosen(const struct shape *shape, const struct call *call)
{
    const struct pl_area area = { .size = shape->size, .trees = PL_TREE_BY_SIZE };
    return goes_along_tree(&area, call->kind, call->bytes);
}

/* --- messages, as ranks without an area send them ----------------------------------------------------------------- */

/* Each line of a message moves to its reader, and is taken back when its ring is written again. */
static struct figures messages_of(const struct shape *shape, const struct call *call)
{
    enum { ENVELOPE = 48 };
    struct figures figures = { .most = 0 };
    struct pl_group group = { .size = shape->size, .stride = 1 };
    struct pl_schedule schedule;
    machine_open(shape->size, 2, shape->caches, PL_TREE_NONE);
    for (int rank = 0; rank < shape->size; rank++) {
        long own = 0;
        describe(call->kind, rank, (int)(call->bytes / sizeof(int64_t)), 0);
        comms[rank].obj.predefined = true;
        comms[rank].group = &group;
        pl_schedule_init(&schedule, &comms[rank], 0);
        pl_coll_append(&schedule, &colls[rank]);
        ck_assert_int_eq(schedule.broken, MPI_SUCCESS);
        for (int i = 0; i < schedule.count; i++) {
            const struct pl_step *step = &schedule.steps[i];
            bool sends = step->kind == PL_STEP_SEND, receives = step->kind == PL_STEP_RECV;
            long lines = sends || receives ? (long)(pl_block_size(step->data) + ENVELOPE + 63) / 64 : 0;
            if (sends)
                figures.moved[lines_distance(rank, step->peer)] += 2 * lines;
            own += lines;
        }
        figures.most = own > figures.most ? own : figures.most;
        pl_schedule_fini(&schedule);
    }
    machine_close();
    show(call, shape, "messages", &figures);
    return figures;
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* Where each rank reads what all others have written, the lines grow with the square of the ranks. */
START_TEST(test_flat)
{
    for (int i = 0; i < SHAPES; i++) {
        int size = shapes[i].size;
        struct figures f = measure_on(&shapes[i], &calls[_i], PL_TREE_NONE, "flat");
        ck_assert_int_eq(moved_in_all(&f), size * size);
        ck_assert_int_eq(f.moved[LINES_MACHINE], 2 * size); /* the first reader over there, and the next store */
        ck_assert_int_eq(f.most, size);
    }
}
END_TEST

/* The tree crosses to the other package once with the data, in each direction; and no rank moves many lines. */
START_TEST(test_tree)
{
    for (int i = 0; i < SHAPES; i++) {
        const struct shape *shape = &shapes[i];
        const struct call *call = &calls[_i];
        if (!goes_along_tree(&(struct pl_area){ .size = shape->size, .trees = PL_TREE_ALWAYS }, call->kind,
                             call->bytes))
            continue;
        struct figures tree = measure_on(shape, call, PL_TREE_ALWAYS, "tree");
        long data = (long)call->bytes / LINES_BYTES, ways = call->kind == PL_COLL_ALLREDUCE ? 4 : 2,
             chunks = shape->size > PL_AREA_FLAT ? (long)call->bytes / PL_AREA_SHORT : 0;
        ck_assert_int_le(tree.moved[LINES_MACHINE], ways * data + 6 + 64 * chunks);
        ck_assert_int_le(moved_in_all(&tree), (ways + 2) * shape->size * (data + 1));
        ck_assert_int_le(tree.most, (data + 2) * (2 * PL_TREE_PART + shape->caches + 2));
    }
}
END_TEST

/* The table takes the tree where the model does: by the mean of both times. */
START_TEST(test_choice)
{
    for (int i = 0; i < SHAPES; i++) {
        const struct shape *shape = &shapes[i];
        const struct call *call = &calls[_i];
        if (!is_for_flat(shape, call))
            continue;
        struct figures flat = measure_on(shape, call, PL_TREE_NONE, "flat"),
                       chosen = measure_on(shape, call, PL_TREE_BY_SIZE, is_chosen(shape, call) ? "chosen" : "flat");
        ck_assert_int_le(chosen.ns[0] + chosen.ns[1], flat.ns[0] + flat.ns[1]);
        ck_assert_int_le(chosen.moved[LINES_MACHINE], flat.moved[LINES_MACHINE] + 2);
    }
}
END_TEST

/* More ranks than can meet each other would use messages. Those of a reduce or a bcast are a tree, too: while the ranks
 * are in the order of the places it moves as many lines. */
START_TEST(test_messages)
{
    for (int i = 0; i < SHAPES; i++) {
        const struct shape *shape = &shapes[i];
        const struct call *call = &calls[_i];
        if (shape->size <= PL_AREA_FLAT || !is_chosen(shape, call))
            continue;
        struct figures messages = messages_of(shape, call), tree = measure_on(shape, call, PL_TREE_BY_SIZE, "tree");
        bool is_for_all = call->kind == PL_COLL_BARRIER || call->kind == PL_COLL_ALLREDUCE;
        ck_assert_int_le(moved_in_all(&tree), moved_in_all(&messages) * (is_for_all ? 50 : 105) / 100);
        ck_assert_int_le(tree.moved[LINES_MACHINE], messages.moved[LINES_MACHINE] * (is_for_all ? 5 : 150) / 100);
    }
}
END_TEST

/* Ranks that go round the caches: the tree follows the places, not the ranks. */
START_TEST(test_interleaved)
{
    const struct shape *shape = &shapes[SHAPES - 1];
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        machine_interleaved = interleaved;
        struct figures f = measure_on(shape, &calls[_i], PL_TREE_ALWAYS, interleaved ? "round" : "tree");
        machine_interleaved = false;
        ck_assert_int_le(f.moved[LINES_MACHINE], 6);
        ck_assert_int_le(f.moved[LINES_PACKAGE], 4 * 2 * shape->caches);
    }
}
END_TEST

/* One rank gives another amount than the others. All learn of it, with the numbers; and the next operation is right. */
START_TEST(test_amounts)
{
    enum { SIZE = 24 };
    enum pl_coll_kind kind = _i ? PL_COLL_BARRIER : PL_COLL_ALLREDUCE;
    machine_open(SIZE, 2, 3, PL_TREE_ALWAYS);
    for (int wrong = 0; wrong < SIZE; wrong++) {
        machine_go_on(wrong + 1);
        memset(amounts, 0, sizeof amounts);
        for (int rank = 0; rank < SIZE; rank++)
            describe(rank == wrong ? PL_COLL_ALLREDUCE : kind, rank, rank == wrong ? 2 : 1, 0);
        ck_assert_int_eq(lines_run(run_rank), 0);
        for (int rank = 0; rank < SIZE; rank++) {
            size_t own = rank == wrong ? 16 : kind == PL_COLL_BARRIER ? 0 : 8;
            ck_assert_int_eq(errors[rank], MPI_ERR_TRUNCATE);
            ck_assert_uint_eq(amounts[rank].expected, own);
            ck_assert_uint_ne(amounts[rank].given, own);
            ck_assert(rank == wrong ? amounts[rank].rank != rank : amounts[rank].rank == wrong);
        }
        for (int rank = 0; rank < SIZE; rank++)
            describe(PL_COLL_ALLREDUCE, rank, 1, 0);
        ck_assert_int_eq(lines_run(run_rank), 0);
        for (int rank = 0; rank < SIZE; rank++)
            check(PL_COLL_ALLREDUCE, rank, 1, 0);
    }
    machine_close();
}
END_TEST

int main(void)
{
#ifndef LINES_COUNTED
    puts("no code that is compiled for the model: another sanitizer has its place");
    return 77;
#else
    Suite *suite = suite_create("area_lines");
    TCase *tcase = unit_case(suite);
    tcase_add_loop_test(tcase, test_flat, 0, 1);
    tcase_add_loop_test(tcase, test_tree, 0, CALLS);
    tcase_add_loop_test(tcase, test_choice, 0, CALLS);
    tcase_add_loop_test(tcase, test_messages, 0, CALLS);
    tcase_add_loop_test(tcase, test_interleaved, 0, 1);
    tcase_add_loop_test(tcase, test_amounts, 0, 2);
    return unit_end(suite);
#endif
}
