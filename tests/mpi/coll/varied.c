/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives whose blocks have different lengths (MPI-5.0 sections 6.5 to 6.8), in random sequences without
 * synchronization, so that ranks run ahead; most are blocking, and a rank waits at once for the others. Blocks are
 * empty, of few bytes, around the limit of short data and around that of a slot of the collective area, also in one
 * call. All roots, MPI_IN_PLACE, dense types and types with gaps that differ between ranks, int and _c forms,
 * communicators of several sizes. Every byte of the buffers is compared. And blocks that are longer than the receiver
 * expects.
 */
#include "coll.h"

enum { OPERATIONS = 400, RANKS_MAX = 16, LONGEST = 32900, KINDS = 5 };

/* Blocks in a buffer, one for each rank, with gaps between them and the last one first. */
struct blocks {
    struct memory memory;
    MPI_Datatype type, types[RANKS_MAX];
    int count[RANKS_MAX], displ[RANKS_MAX], bytes[RANKS_MAX];
    MPI_Count wide[RANKS_MAX];
    MPI_Aint place[RANKS_MAX], far[RANKS_MAX];
};

/* Operation `n`: every third one is nonblocking. */
#define DO(blocking, nonblocking, ...)                                                                                 \
    CHECK_OK(n % 3 < 2 ? MPI_##blocking(__VA_ARGS__) : finish(MPI_##nonblocking(__VA_ARGS__, &request)))

static MPI_Request request;
static MPI_Datatype types[TYPES];
static int rank, size, even; /* even: as many from one rank to another as back */
static int values[LONGEST * PER_TYPE];

static int finish(int rc)
{
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

/* Elements from one rank to another in call n; every rank knows all. */
static int length(int n, int from, int to)
{
    static const int few[] = { 0, 1, 2, 0, 5, 6, 7, 1 }, limit[] = { 510, 511, 512, 513, 0, 1, 170, 171 };
    int first = even && from > to ? to : from, second = from + to - first;
    uint64_t state = (uint64_t)n * 1000003 + (uint64_t)first * 131 + (uint64_t)second + 1;
    unsigned draw = pattern_random(&state) >> 5;
    switch (n % 4) {
    case 0: return limit[draw % 8];
    case 1: return draw % (n % 8 == 1 ? 5 : 50) == 0 ? LONGEST - (int)(draw % 300) : few[draw % 8];
    default: return few[draw % 8];
    }
}

static const int *data_of(int n, int from, int to, int count)
{
    for (int i = 0; i < count * PER_TYPE; i++)
        values[i] = n * 7919 + from * 1000003 + to * 10007 + i;
    return values;
}

/* `from_each`: the blocks from each rank to `other`; else from `other` to each. */
static struct blocks blocks_make(int n, MPI_Datatype type, int from_each, int other)
{
    struct blocks blocks = { .type = type };
    int total = 0;
    MPI_Aint lb, extent;
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    for (int i = size - 1; i >= 0; i--) {
        blocks.types[i] = type;
        blocks.wide[i] = blocks.count[i] = from_each ? length(n, i, other) : length(n, other, i);
        blocks.place[i] = blocks.displ[i] = total;
        blocks.far[i] = blocks.bytes[i] = total * (int)extent;
        total += blocks.count[i] + i % 2;
    }
    blocks.memory = memory_make(type, total);
    return blocks;
}

/* Block i holds, or is to hold, the data from one rank to another. */
static void blocks_put(struct blocks *blocks, int i, int n, int from, int to, int there)
{
    memory_put(&blocks->memory, blocks->displ[i], data_of(n, from, to, blocks->count[i]), blocks->count[i], there);
}

static int gatherv(MPI_Comm comm, int n, int root, int in_place, MPI_Datatype sent, MPI_Datatype received)
{
    int count = length(n, rank, root), is_root = rank == root;
    struct blocks to = blocks_make(n, received, 1, root);
    struct memory from = memory_make(sent, count);
    const void *send = is_root && in_place ? MPI_IN_PLACE : memory_at(&from, 0);
    void *recv = memory_at(&to.memory, 0);
    memory_put(&from, 0, data_of(n, rank, root, count), count, 1);
    for (int i = 0; is_root && i < size; i++)
        blocks_put(&to, i, n, i, root, in_place && i == rank);
    if (n & 8)
        DO(Gatherv_c, Igatherv_c, send, count, sent, recv, to.wide, to.place, received, root, comm);
    else
        DO(Gatherv, Igatherv, send, count, sent, recv, to.count, to.displ, received, root, comm);
    return memory_check(&from) & memory_check(&to.memory);
}

static int scatterv(MPI_Comm comm, int n, int root, int in_place, MPI_Datatype sent, MPI_Datatype received)
{
    int count = length(n, root, rank), is_root = rank == root;
    struct blocks from = blocks_make(n, sent, 0, root);
    struct memory to = memory_make(received, count);
    void *send = memory_at(&from.memory, 0), *recv = is_root && in_place ? MPI_IN_PLACE : memory_at(&to, 0);
    for (int i = 0; is_root && i < size; i++)
        blocks_put(&from, i, n, root, i, 1);
    if (!is_root || !in_place)
        memory_put(&to, 0, data_of(n, root, rank, count), count, 0);
    if (n & 8)
        DO(Scatterv_c, Iscatterv_c, send, from.wide, from.place, sent, recv, count, received, root, comm);
    else
        DO(Scatterv, Iscatterv, send, from.count, from.displ, sent, recv, count, received, root, comm);
    return memory_check(&to) & memory_check(&from.memory);
}

static int allgatherv(MPI_Comm comm, int n, int other, int in_place, MPI_Datatype sent, MPI_Datatype received)
{
    int count = length(n, rank, other);
    struct blocks to = blocks_make(n, received, 1, other);
    struct memory from = memory_make(sent, count);
    const void *send = in_place ? MPI_IN_PLACE : memory_at(&from, 0);
    void *recv = memory_at(&to.memory, 0);
    memory_put(&from, 0, data_of(n, rank, other, count), count, 1);
    for (int i = 0; i < size; i++)
        blocks_put(&to, i, n, i, other, in_place && i == rank);
    if (n & 8)
        DO(Allgatherv_c, Iallgatherv_c, send, count, sent, recv, to.wide, to.place, received, comm);
    else
        DO(Allgatherv, Iallgatherv, send, count, sent, recv, to.count, to.displ, received, comm);
    return memory_check(&from) & memory_check(&to.memory);
}

static int alltoallv(MPI_Comm comm, int n, int each, int in_place, MPI_Datatype sent, MPI_Datatype received)
{
    even = in_place;
    struct blocks from = blocks_make(n, sent, 0, rank), to = blocks_make(n, received, 1, rank);
    const void *send = in_place ? MPI_IN_PLACE : memory_at(&from.memory, 0);
    void *recv = memory_at(&to.memory, 0);
    for (int i = 0; i < size; i++) {
        blocks_put(in_place ? &to : &from, i, n, rank, i, 1);
        blocks_put(&to, i, n, i, rank, 0);
    }
    even = 0;
    if (each && n & 8)
        DO(Alltoallw_c, Ialltoallw_c, send, from.wide, from.far, from.types, recv, to.wide, to.far, to.types, comm);
    else if (each)
        DO(Alltoallw, Ialltoallw, send, from.count, from.bytes, from.types, recv, to.count, to.bytes, to.types, comm);
    else if (n & 8)
        DO(Alltoallv_c, Ialltoallv_c, send, from.wide, from.place, sent, recv, to.wide, to.place, received, comm);
    else
        DO(Alltoallv, Ialltoallv, send, from.count, from.displ, sent, recv, to.count, to.displ, received, comm);
    return memory_check(&from.memory) & memory_check(&to.memory);
}

static MPI_Datatype draw_type(uint64_t *state)
{
    unsigned choice = pattern_random(state) >> 7;
    return choice % 3 ? MPI_2INT : types[(choice + (unsigned)rank) % TYPES];
}

static void sequence(MPI_Comm comm, int operations)
{
    uint64_t state = 20261122;
    coll_comm = comm;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    for (int n = 0; n < operations; n++) {
        int kind = (int)(pattern_random(&state) % KINDS), root = (int)(pattern_random(&state) % (uint32_t)size);
        int in_place = pattern_random(&state) % 3 == 0, good = 0;
        MPI_Datatype sent = draw_type(&state), received = draw_type(&state);
        switch (kind) {
        case 0: good = gatherv(comm, n, root, in_place, sent, received); break;
        case 1: good = scatterv(comm, n, root, in_place, sent, received); break;
        case 2: good = allgatherv(comm, n, root, in_place, sent, received); break;
        default: good = alltoallv(comm, n, kind == 3, in_place, sent, received);
        }
        if (!CHECK(good))
            fprintf(stderr, "operation %d of kind %d, root %d of %d\n", n, kind, root, size);
    }
}

/* A rank receives more than it expects: the call fails, and the next one works. */
static void too_much(void)
{
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    int in[2 * RANKS_MAX] = { 0 }, out[2 * RANKS_MAX], ones[RANKS_MAX], twos[RANKS_MAX], displs[RANKS_MAX];
    for (int i = 0; i < size; i++)
        ones[i] = 1, twos[i] = 2, displs[i] = 2 * i;
    for (int n = 0; size > 1 && n < 6; n++) {
        int last = size - 1, root = rank == last;
        CHECK_CLASS(MPI_Gatherv(in, root ? 1 : 2, MPI_INT, out, ones, displs, MPI_INT, last, comm),
                    root ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK_CLASS(MPI_Scatterv(in, rank == 0 ? twos : ones, displs, MPI_INT, out, rank == 0 ? 2 : 1, MPI_INT, 0,
                                 comm),
                    rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        CHECK_CLASS(MPI_Alltoallv(in, rank == 0 ? twos : ones, displs, MPI_INT, out, rank == 0 ? twos : ones, displs,
                                  MPI_INT, comm),
                    rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        int *give = rank == 0 ? twos : ones, none = rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
        CHECK_OK(MPI_Ialltoallv(in, give, displs, MPI_INT, out, give, displs, MPI_INT, comm, &request));
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), none);
        CHECK_OK(MPI_Iscatterv(in, give, displs, MPI_INT, out, *give, MPI_INT, 0, comm, &request));
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), none);
        CHECK_OK(MPI_Igatherv(in, root ? 1 : 2, MPI_INT, out, ones, displs, MPI_INT, last, comm, &request));
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), root ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        in[2 * last] = n + rank;
        CHECK_OK(MPI_Alltoallv(in, twos, displs, MPI_INT, out, twos, displs, MPI_INT, comm));
        for (int i = 0; root && i < size; i++)
            CHECK(out[2 * i] == n + i);
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Comm part;
    MTEST_INIT(argc, argv);
    coll_comm = MPI_COMM_WORLD;
    types_make(types);
    sequence(MPI_COMM_WORLD, OPERATIONS / (mtest_size > 4 ? 4 : 1));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank % 2, -mtest_rank, &part));
    sequence(part, OPERATIONS / 4);
    CHECK_OK(MPI_Comm_free(&part));
    too_much();
    types_free(types);
    MTEST_END;
}
