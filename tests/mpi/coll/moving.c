/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that move data (MPI-5.0 sections 6.4 to 6.8): each algorithm, forced one by one, in the blocking,
 * nonblocking and persistent form, with random counts, roots, datatypes and MPI_IN_PLACE. Every byte of the buffers is
 * compared.
 */
/* seconds: 400 */
#include "coll.h"

enum { DRAWS = 6, ELEMENTS_MAX = 40000, RANKS_MAX = 64 };

static MPI_Datatype types[TYPES];
static uint64_t state = 20260101;
static int values[ELEMENTS_MAX * PER_TYPE];
static struct world world;

static int below(int n)
{
    return (int)(pattern_random(&state) % (uint32_t)n);
}

/* The same on all ranks: the data from one rank to another; `to` < 0: to all. */
static const int *data_of(int from, int to, int count)
{
    for (int i = 0; i < count * PER_TYPE; i++)
        values[i] = from * 1000003 + (to + 1) * 10007 + i;
    return values;
}

/* One call's choices. Drawn alike on all ranks, except the datatypes, which may differ between them. */
struct draw {
    enum form form;
    int count, root, in_place;
    MPI_Datatype sendtype, recvtype;
};

static MPI_Datatype any_type(void)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    for (int rank = 0; rank < world.size; rank++) {
        int choice = below(TYPES);
        if (rank == world.rank)
            type = types[choice];
    }
    return type;
}

static struct draw draw_call(enum form form, int big)
{
    struct draw draw = { .form = form };
    draw.count = big ? ELEMENTS_MAX - below(100) : below(30);
    draw.root = below(world.size);
    draw.in_place = below(2);
    draw.sendtype = any_type();
    draw.recvtype = any_type();
    return draw;
}

/* --- one block, or a block for each ------------------------------------------------------------------------------- */

static void test_bcast(const struct draw *draw)
{
    struct memory memory = memory_make(draw->recvtype, draw->count);
    memory_put(&memory, 0, data_of(draw->root, -1, draw->count), draw->count, world.rank == draw->root);
    COLL(draw->form, world.comm, Bcast, bcast, memory_at(&memory, 0), draw->count, draw->recvtype, draw->root);
    CHECK(memory_check(&memory));
}

static void test_gather(const struct draw *draw)
{
    int n = draw->count, root = world.rank == draw->root;
    struct memory send = memory_make(draw->sendtype, n), recv = memory_make(draw->recvtype, n * world.size);
    memory_put(&send, 0, data_of(world.rank, -1, n), n, 1);
    for (int i = 0; root && i < world.size; i++)
        memory_put(&recv, i * n, data_of(i, -1, n), n, draw->in_place && i == world.rank);
    COLL(draw->form, world.comm, Gather, gather, root && draw->in_place ? MPI_IN_PLACE : memory_at(&send, 0), n,
         draw->sendtype, memory_at(&recv, 0), n, draw->recvtype, draw->root);
    CHECK(memory_check(&send) & memory_check(&recv));
}

static void test_scatter(const struct draw *draw)
{
    int n = draw->count, root = world.rank == draw->root, in_place = root && draw->in_place;
    struct memory send = memory_make(draw->sendtype, n * world.size), recv = memory_make(draw->recvtype, n);
    for (int i = 0; root && i < world.size; i++)
        memory_put(&send, i * n, data_of(draw->root, i, n), n, 1);
    if (!in_place)
        memory_put(&recv, 0, data_of(draw->root, world.rank, n), n, 0);
    COLL(draw->form, world.comm, Scatter, scatter, memory_at(&send, 0), n, draw->sendtype,
         in_place ? MPI_IN_PLACE : memory_at(&recv, 0), n, draw->recvtype, draw->root);
    CHECK(memory_check(&send) & memory_check(&recv));
}

static void test_allgather(const struct draw *draw)
{
    int n = draw->count;
    struct memory send = memory_make(draw->sendtype, n), recv = memory_make(draw->recvtype, n * world.size);
    memory_put(&send, 0, data_of(world.rank, -1, n), n, 1);
    for (int i = 0; i < world.size; i++)
        memory_put(&recv, i * n, data_of(i, -1, n), n, draw->in_place && i == world.rank);
    COLL(draw->form, world.comm, Allgather, allgather, draw->in_place ? MPI_IN_PLACE : memory_at(&send, 0), n,
         draw->sendtype, memory_at(&recv, 0), n, draw->recvtype);
    CHECK(memory_check(&send) & memory_check(&recv));
}

static void test_alltoall(const struct draw *draw)
{
    int n = draw->count;
    struct memory send = memory_make(draw->sendtype, n * world.size),
                  recv = memory_make(draw->recvtype, n * world.size);
    for (int i = 0; i < world.size; i++) {
        memory_put(draw->in_place ? &recv : &send, i * n, data_of(world.rank, i, n), n, 1);
        memory_put(&recv, i * n, data_of(i, world.rank, n), n, 0);
    }
    COLL(draw->form, world.comm, Alltoall, alltoall, draw->in_place ? MPI_IN_PLACE : memory_at(&send, 0), n,
         draw->sendtype, memory_at(&recv, 0), n, draw->recvtype);
    CHECK(memory_check(&send) & memory_check(&recv));
}

/* --- blocks of any length, with gaps between them, from the last to the first ---------------------------------------
 */

struct layout {
    int count[RANKS_MAX], displ[RANKS_MAX], bytes[RANKS_MAX], total;
    MPI_Datatype type[RANKS_MAX];
};

/* The elements from one rank to another. */
static int length(const struct draw *draw, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    return (draw->count + low * 7 + high * 3) % (draw->count / 2 + 5);
}

static struct layout layout_make(const struct draw *draw, MPI_Datatype type, int from_each, int other)
{
    struct layout layout = { .total = 0 };
    MPI_Aint lb, extent;
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    for (int i = world.size - 1; i >= 0; i--) {
        layout.count[i] = from_each ? length(draw, i, other) : length(draw, other, i);
        layout.displ[i] = layout.total;
        layout.bytes[i] = layout.total * (int)extent;
        layout.type[i] = type;
        layout.total += layout.count[i] + i % 2;
    }
    return layout;
}

static void test_gatherv(const struct draw *draw)
{
    int root = world.rank == draw->root, n = length(draw, world.rank, draw->root);
    struct layout from = layout_make(draw, draw->recvtype, 1, draw->root);
    struct memory send = memory_make(draw->sendtype, n), recv = memory_make(draw->recvtype, from.total);
    memory_put(&send, 0, data_of(world.rank, -1, n), n, 1);
    for (int i = 0; root && i < world.size; i++)
        memory_put(&recv, from.displ[i], data_of(i, -1, from.count[i]), from.count[i],
                   draw->in_place && i == world.rank);
    COLL(draw->form, world.comm, Gatherv, gatherv, root && draw->in_place ? MPI_IN_PLACE : memory_at(&send, 0), n,
         draw->sendtype, memory_at(&recv, 0), from.count, from.displ, draw->recvtype, draw->root);
    CHECK(memory_check(&send) & memory_check(&recv));
}

static void test_scatterv(const struct draw *draw)
{
    int root = world.rank == draw->root, in_place = root && draw->in_place, n = length(draw, draw->root, world.rank);
    struct layout to = layout_make(draw, draw->sendtype, 0, draw->root);
    struct memory send = memory_make(draw->sendtype, to.total), recv = memory_make(draw->recvtype, n);
    for (int i = 0; root && i < world.size; i++)
        memory_put(&send, to.displ[i], data_of(draw->root, i, to.count[i]), to.count[i], 1);
    if (!in_place)
        memory_put(&recv, 0, data_of(draw->root, world.rank, n), n, 0);
    COLL(draw->form, world.comm, Scatterv, scatterv, memory_at(&send, 0), to.count, to.displ, draw->sendtype,
         in_place ? MPI_IN_PLACE : memory_at(&recv, 0), n, draw->recvtype, draw->root);
    CHECK(memory_check(&send) & memory_check(&recv));
}

static void test_allgatherv(const struct draw *draw)
{
    int n = length(draw, world.rank, 0);
    struct layout from = layout_make(draw, draw->recvtype, 1, 0);
    struct memory send = memory_make(draw->sendtype, n), recv = memory_make(draw->recvtype, from.total);
    memory_put(&send, 0, data_of(world.rank, -1, n), n, 1);
    for (int i = 0; i < world.size; i++)
        memory_put(&recv, from.displ[i], data_of(i, -1, from.count[i]), from.count[i],
                   draw->in_place && i == world.rank);
    COLL(draw->form, world.comm, Allgatherv, allgatherv, draw->in_place ? MPI_IN_PLACE : memory_at(&send, 0), n,
         draw->sendtype, memory_at(&recv, 0), from.count, from.displ, draw->recvtype);
    CHECK(memory_check(&send) & memory_check(&recv));
}

static void exchange(const struct draw *draw, int w)
{
    struct layout to = layout_make(draw, draw->sendtype, 0, world.rank),
                  from = layout_make(draw, draw->recvtype, 1, world.rank);
    struct memory send = memory_make(draw->sendtype, to.total), recv = memory_make(draw->recvtype, from.total);
    for (int i = 0; i < world.size; i++) {
        struct memory *out = draw->in_place ? &recv : &send;
        memory_put(out, draw->in_place ? from.displ[i] : to.displ[i], data_of(world.rank, i, to.count[i]), to.count[i],
                   1);
        memory_put(&recv, from.displ[i], data_of(i, world.rank, from.count[i]), from.count[i], 0);
    }
    const void *sendbuf = draw->in_place ? MPI_IN_PLACE : memory_at(&send, 0);
    if (w)
        COLL(draw->form, world.comm, Alltoallw, alltoallw, sendbuf, to.count, to.bytes, to.type, memory_at(&recv, 0),
             from.count, from.bytes, from.type);
    else
        COLL(draw->form, world.comm, Alltoallv, alltoallv, sendbuf, to.count, to.displ, draw->sendtype,
             memory_at(&recv, 0), from.count, from.displ, draw->recvtype);
    CHECK(memory_check(&send) & memory_check(&recv));
}

static void test_alltoallv(const struct draw *draw)
{
    exchange(draw, 0);
}

static void test_alltoallw(const struct draw *draw)
{
    exchange(draw, 1);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static const struct collective {
    const char *name;
    void (*test)(const struct draw *draw);
} kinds[] = {
    { "BCAST", test_bcast },         { "GATHER", test_gather },         { "SCATTER", test_scatter },
    { "ALLGATHER", test_allgather }, { "ALLTOALL", test_alltoall },     { "GATHERV", test_gatherv },
    { "SCATTERV", test_scatterv },   { "ALLGATHERV", test_allgatherv }, { "ALLTOALLV", test_alltoallv },
    { "ALLTOALLW", test_alltoallw },
};

static void test_algorithm(const struct collective *collective, const char *algorithm)
{
    world = world_open(collective->name, algorithm);
    int failures = mtest_failures;
    types_make(types);
    for (int form = 0; form < FORMS; form++)
        for (int i = 0; i < DRAWS + (world.size <= 4); i++) {
            struct draw draw = draw_call((enum form)form, i == DRAWS);
            collective->test(&draw);
        }
    types_free(types);
    world_close(&world);
    if (mtest_failures > failures)
        fprintf(stderr, "rank %d: %s by %s failed\n", mtest_rank, collective->name, algorithm);
}

int main(void)
{
    char algorithm[64];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (int k = 0; algorithm_nth(kinds[i].name, k, algorithm); k++)
            test_algorithm(&kinds[i], algorithm);
    MTEST_END;
}
