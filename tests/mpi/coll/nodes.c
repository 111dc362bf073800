/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that go by the nodes (MPI-5.0 chapter 6), blocking, nonblocking and persistent. With all roots, in place
 * or not, of many lengths, on communicators whose ranks are placed in several ways. tests/hosts runs this over several
 * nodes.
 */
#include <time.h>

#include "mtest.h"

enum { INTS = 1 << 19 /* ints */, RANKS_MAX = 64, LENGTHS = 10 };

static const int lengths[LENGTHS] = { 0, 1, 2, 13, 150, 1024, 1025, 8191, 50000, 100003 };
static int in[INTS], out[INTS], rank, size, turn;
static MPI_Comm comm;
static MPI_Datatype gapped; /* an int with a gap after it */
static enum form { BLOCKING, NONBLOCKING, PERSISTENT } form;
static MPI_Request request;

/* Ends a collective that this made or started. */
static int finish(int rc)
{
    if (rc == MPI_SUCCESS && form == PERSISTENT)
        rc = MPI_Start(&request);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return rc == MPI_SUCCESS && form == PERSISTENT ? MPI_Request_free(&request) : rc;
}

/* A collective in the form of this round. */
#define DO(blocking, nonblocking, ...)                                                                                 \
    CHECK_OK(form == BLOCKING                                                                                          \
                 ? MPI_##blocking(__VA_ARGS__, comm)                                                                   \
                 : finish(form == NONBLOCKING ? MPI_##nonblocking(__VA_ARGS__, comm, &request)                         \
                                              : MPI_##blocking##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request)))

/* The int at index i of a rank in this round; small, so that products do not overflow. */
static int word(int from, int i)
{
    return (int)(((unsigned)turn * 40503u + (unsigned)from * 977u + (unsigned)i * 31u) % 7);
}

static void fill(int *at, int count, int from)
{
    for (int i = 0; i < count; i++)
        at[i] = word(from, i);
}

static int wrong(const int *got, int count, int from, int stride)
{
    int bad = 0;
    for (int i = 0; i < count; i++)
        bad += got[i * stride] != word(from, i);
    return bad;
}

/* --- moving ------------------------------------------------------------------------------------------------------- */

/* Some ranks have gaps between the ints. */
static void bcast(int count, int root)
{
    int stride = rank % 2 ? 2 : 1;
    memset(out, -1, (size_t)count * 2 * sizeof *out);
    for (int i = 0; rank == root && i < count; i++)
        out[i * stride] = word(root, i);
    DO(Bcast, Ibcast, out, count, stride == 2 ? gapped : MPI_INT, root);
    CHECK(wrong(out, count, root, stride) == 0);
    CHECK(stride == 1 || count == 0 || out[1] == -1);
}

static void allgather(int count, int in_place)
{
    int stride = rank % 2 ? 2 : 1, bad = 0;
    memset(out, -1, (size_t)count * (size_t)size * 2 * sizeof *out);
    fill(in, count, rank);
    for (int i = 0; in_place && i < count; i++)
        out[(rank * count + i) * stride] = in[i];
    DO(Allgather, Iallgather, in_place ? MPI_IN_PLACE : in, count, MPI_INT, out, count, stride == 2 ? gapped : MPI_INT);
    for (int from = 0; from < size; from++)
        bad += wrong(out + from * count * stride, count, from, stride);
    CHECK(bad == 0);
}

/* The blocks of the v forms: in this round some are empty, some longer than others. In every other pair of rounds their
 * places are not in the order of the ranks, and a gap follows each. Returns the ints up to the last one. */
static int place_blocks(int count, int *counts, int *places)
{
    int at = 0, shift = turn % 4 < 2 ? 0 : turn;
    for (int i = 0; i < size; i++) {
        int from = (i + shift) % size;
        counts[from] = (from + turn) % 3 == 0 ? 0 : (from + turn) % 3 == 1 ? count : count / 2 + 1;
        places[from] = at;
        at += counts[from] + (shift > 0);
    }
    return at;
}

/* All blocks are there, and nothing between them was written. */
static int wrong_blocks(const int *counts, const int *places, int stride)
{
    int bad = 0;
    for (int from = 0; from < size; from++) {
        bad += wrong(out + places[from] * stride, counts[from], from, stride);
        bad += turn % 4 >= 2 && out[(places[from] + counts[from]) * stride] != -1;
    }
    return bad;
}

static void gather(int count, int root, int in_place)
{
    int stride = rank % 2 ? 2 : 1, bad = 0, stays = in_place && rank == root;
    memset(out, -1, (size_t)count * (size_t)size * 2 * sizeof *out);
    fill(in, count, rank);
    for (int i = 0; stays && i < count; i++)
        out[(rank * count + i) * stride] = in[i];
    DO(Gather, Igather, stays ? MPI_IN_PLACE : in, count, MPI_INT, rank == root ? out : NULL, count,
       stride == 2 ? gapped : MPI_INT, root);
    for (int from = 0; rank == root && from < size; from++)
        bad += wrong(out + from * count * stride, count, from, stride);
    CHECK(bad == 0);
    CHECK(rank != root || stride == 1 || count == 0 || out[1] == -1);
}

static void gatherv(int count, int root, int in_place)
{
    int counts[RANKS_MAX], places[RANKS_MAX], stride = rank % 2 ? 2 : 1, stays = in_place && rank == root,
                                              all = place_blocks(count, counts, places);
    memset(out, -1, (size_t)all * 2 * sizeof *out);
    fill(in, counts[rank], rank);
    for (int i = 0; stays && i < counts[rank]; i++)
        out[(places[rank] + i) * stride] = in[i];
    DO(Gatherv, Igatherv, stays ? MPI_IN_PLACE : in, counts[rank], MPI_INT, rank == root ? out : NULL,
       rank == root ? counts : NULL, rank == root ? places : NULL, stride == 2 ? gapped : MPI_INT, root);
    CHECK(rank != root || wrong_blocks(counts, places, stride) == 0);
}

static void allgatherv(int count, int in_place)
{
    int counts[RANKS_MAX], places[RANKS_MAX], stride = rank % 2 ? 2 : 1, all = place_blocks(count, counts, places);
    memset(out, -1, (size_t)all * 2 * sizeof *out);
    fill(in, counts[rank], rank);
    for (int i = 0; in_place && i < counts[rank]; i++)
        out[(places[rank] + i) * stride] = in[i];
    DO(Allgatherv, Iallgatherv, in_place ? MPI_IN_PLACE : in, counts[rank], MPI_INT, out, counts, places,
       stride == 2 ? gapped : MPI_INT);
    CHECK(wrong_blocks(counts, places, stride) == 0);
}

/* Each rank gets its own words. The root's blocks have gaps if it is odd. */
static void scatter(int count, int root, int in_place)
{
    int stride = root % 2 ? 2 : 1, stays = in_place && rank == root;
    memset(out, -1, (size_t)count * 2 * sizeof *out);
    for (int to = 0; rank == root && to < size; to++)
        for (int i = 0; i < count; i++)
            in[(to * count + i) * stride] = word(to, i);
    DO(Scatter, Iscatter, rank == root ? in : NULL, count, stride == 2 ? gapped : MPI_INT, stays ? MPI_IN_PLACE : out,
       count, rank % 2 ? gapped : MPI_INT, root);
    CHECK(stays || wrong(out, count, rank, rank % 2 ? 2 : 1) == 0);
    CHECK(!stays || wrong(in + root * count * stride, count, root, stride) == 0);
}

static void scatterv(int count, int root, int in_place)
{
    int counts[RANKS_MAX], places[RANKS_MAX], stride = root % 2 ? 2 : 1, stays = in_place && rank == root;
    place_blocks(count, counts, places);
    memset(out, -1, (size_t)(count + 2) * 2 * sizeof *out);
    for (int to = 0; rank == root && to < size; to++)
        for (int i = 0; i < counts[to]; i++)
            in[(places[to] + i) * stride] = word(to, i);
    DO(Scatterv, Iscatterv, rank == root ? in : NULL, rank == root ? counts : NULL, rank == root ? places : NULL,
       stride == 2 ? gapped : MPI_INT, stays ? MPI_IN_PLACE : out, counts[rank], rank % 2 ? gapped : MPI_INT, root);
    CHECK(stays || wrong(out, counts[rank], rank, rank % 2 ? 2 : 1) == 0);
    CHECK(stays || out[counts[rank] * (rank % 2 ? 2 : 1)] == -1);
}

/* The data from one rank to another begins at another word for each. */
static void alltoall(int count, int in_place)
{
    int stride = rank % 2 ? 2 : 1, bad = 0;
    memset(out, -1, (size_t)count * (size_t)size * 2 * sizeof *out);
    for (int i = 0; i < count * size; i++)
        in[i] = out[i * stride] = word(rank, i + i / (count ? count : 1));
    DO(Alltoall, Ialltoall, in_place ? MPI_IN_PLACE : in, count, MPI_INT, out, count, stride == 2 ? gapped : MPI_INT);
    for (int i = 0; i < count * size; i++)
        bad += out[i * stride] != word(i / count, rank * count + i % count + rank);
    CHECK(bad == 0);
}

/* The ints from one rank to another in this round: some blocks are empty, some longer than others. In place, as many go
 * the other way. */
static int length(int count, int from, int to, int in_place)
{
    int low = in_place && to < from ? to : from, high = low == from ? to : from, kind = (low + 2 * high + turn) % 3;
    return kind == 0 ? 0 : kind == 1 ? count : count / 2 + 1;
}

/* What goes from one rank to another begins at another word for each. A gap follows each block; in every other pair of
 * rounds they are not in the order of the ranks. `each`: an MPI_Alltoallw. */
static void alltoallv(int count, int in_place, int each)
{
    static int counts_out[RANKS_MAX], places_out[RANKS_MAX], counts_in[RANKS_MAX], places_in[RANKS_MAX];
    static MPI_Datatype types_out[RANKS_MAX], types_in[RANKS_MAX];
    int stride = rank % 2 ? 2 : 1, shift = turn % 4 < 2 ? 0 : turn, bad = 0, at_out = 0, at_in = 0;
    memset(out, -1, (size_t)(count + 2) * (size_t)size * 2 * sizeof *out);
    for (int i = 0; i < size; i++) {
        int peer = (i + shift) % size;
        counts_out[peer] = length(count, rank, peer, in_place);
        counts_in[peer] = length(count, peer, rank, in_place);
        places_out[peer] = at_out;
        places_in[peer] = at_in;
        for (int k = 0; k < counts_out[peer]; k++)
            in[at_out + k] = word(rank, peer * 7 + k);
        for (int k = 0; k < counts_in[peer] && in_place; k++)
            out[(at_in + k) * stride] = in[at_out + k];
        at_out += counts_out[peer] + 1;
        at_in += counts_in[peer] + 1;
        types_out[peer] = MPI_INT;
        types_in[peer] = stride == 2 ? gapped : MPI_INT;
    }
    for (int i = 0; i < size && each; i++) {
        places_out[i] *= (int)sizeof *in;
        places_in[i] *= (int)sizeof *out * stride;
    }
    if (each)
        DO(Alltoallw, Ialltoallw, in_place ? MPI_IN_PLACE : in, counts_out, places_out, types_out, out, counts_in,
           places_in, types_in);
    else
        DO(Alltoallv, Ialltoallv, in_place ? MPI_IN_PLACE : in, counts_out, places_out, MPI_INT, out, counts_in,
           places_in, *types_in);
    for (int i = 0; i < size; i++) {
        const int *block = out + (each ? places_in[i] / (int)sizeof *out : places_in[i] * stride);
        for (int k = 0; k < counts_in[i]; k++)
            bad += block[k * stride] != word(i, rank * 7 + k);
        bad += block[counts_in[i] * stride] != -1;
    }
    CHECK(bad == 0);
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

static int combine(MPI_Op op, int a, int b)
{
    return op == MPI_SUM    ? a + b
           : op == MPI_PROD ? (int)((unsigned)a * (unsigned)b)
           : op == MPI_MIN  ? (a < b ? a : b)
           : op == MPI_MAX  ? (a > b ? a : b)
           : op == MPI_BAND ? a & b
           : op == MPI_BOR  ? a | b
           : op == MPI_BXOR ? a ^ b
           : op == MPI_LAND ? a && b
           : op == MPI_LOR  ? a || b
                            : !a != !b;
}

/* The result for some elements, of the ranks up to `last`. */
static int wrong_part(const int *got, int first, int count, int last, MPI_Op op)
{
    int bad = 0;
    for (int i = first; i < first + count; i++) {
        int want = word(0, i);
        for (int from = 1; from <= last; from++)
            want = combine(op, want, word(from, i));
        bad += got[i - first] != want;
    }
    return bad;
}

static void reduce(int count, int root, MPI_Op op, int in_place)
{
    fill(in, count, rank);
    memset(out, -1, (size_t)count * sizeof *out);
    if (rank == root && in_place)
        fill(out, count, rank);
    DO(Reduce, Ireduce, rank == root && in_place ? MPI_IN_PLACE : in, rank == root ? out : NULL, count, MPI_INT, op,
       root);
    CHECK(rank != root || wrong_part(out, 0, count, size - 1, op) == 0);
    CHECK(rank == root || wrong(in, count, rank, 1) == 0);
}

static void allreduce(int count, MPI_Op op, int in_place)
{
    fill(in, count, rank);
    fill(out, count, rank);
    DO(Allreduce, Iallreduce, in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, op);
    CHECK(wrong_part(out, 0, count, size - 1, op) == 0);
}

static void scan(int count, MPI_Op op, int in_place)
{
    fill(in, count, rank);
    fill(out, count, rank);
    DO(Scan, Iscan, in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, op);
    CHECK(wrong_part(out, 0, count, rank, op) == 0);
    fill(out, count, rank);
    DO(Exscan, Iexscan, in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, op);
    CHECK(rank == 0 ? wrong(out, count, 0, 1) == 0 : wrong_part(out, 0, count, rank - 1, op) == 0);
}

/* Blocks of `count` ints; then some are longer, and some empty. */
static void reduce_scatter(int count, MPI_Op op, int in_place)
{
    int counts[RANKS_MAX], all = 0, first = 0;
    fill(in, count * size, rank);
    fill(out, count * size, rank);
    DO(Reduce_scatter_block, Ireduce_scatter_block, in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, op);
    CHECK(wrong_part(out, rank * count, count, size - 1, op) == 0);
    for (int uneven = 0; uneven < 2; uneven++) {
        for (int i = all = 0; i < size; all += counts[i++]) {
            counts[i] = uneven ? (i + turn) % 3 * (count / 2) : count;
            first = i == rank ? all : first;
        }
        fill(in, all, rank);
        fill(out, all, rank);
        DO(Reduce_scatter, Ireduce_scatter, in_place ? MPI_IN_PLACE : in, out, counts, MPI_INT, op);
        CHECK(wrong_part(out, first, counts[rank], size - 1, op) == 0);
    }
}

/* Pairs of value and index; the lowest index of the greatest value. */
static void maxloc(void)
{
    int mine[2] = { word(rank, 0), rank }, got[2] = { -1, -1 }, best = 0;
    for (int from = 1; from < size; from++)
        best = word(from, 0) > word(best, 0) ? from : best;
    DO(Allreduce, Iallreduce, mine, got, 1, MPI_2INT, MPI_MAXLOC);
    CHECK(got[0] == word(best, 0) && got[1] == best);
}

/* Sums that depend on the order of the operands: the same bits on all ranks, and each time. */
static void same_bits(int count)
{
    double *mine = (double *)in, *first = (double *)out, again[64];
    for (int i = 0; i < count; i++)
        mine[i] = 1.0 / (word(rank, i) + 3) * (i % 2 ? 1e10 : 1e-10);
    DO(Allreduce, Iallreduce, mine, first, count, MPI_DOUBLE, MPI_SUM);
    DO(Allreduce, Iallreduce, mine, again, count, MPI_DOUBLE, MPI_SUM);
    CHECK(memcmp(first, again, (size_t)count * sizeof *again) == 0);
    DO(Bcast, Ibcast, again, count, MPI_DOUBLE, 0);
    CHECK(memcmp(first, again, (size_t)count * sizeof *again) == 0);
}

/* A user's operation that does not commute: the second operand, unless it is 0. */
static void later(void *a, void *b, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)b)[i] = ((int *)b)[i] ? ((int *)b)[i] : ((int *)a)[i];
}

static void in_order(MPI_Op op)
{
    int mine = word(rank, 0), got = -1, want = 0;
    for (int from = 0; from < size; from++)
        want = word(from, 0) ? word(from, 0) : want;
    DO(Allreduce, Iallreduce, &mine, &got, 1, MPI_INT, op);
    CHECK(got == want);
}

static void barrier(void)
{
    CHECK_OK(form == BLOCKING      ? MPI_Barrier(comm)
             : form == NONBLOCKING ? finish(MPI_Ibarrier(comm, &request))
                                   : finish(MPI_Barrier_init(comm, MPI_INFO_NULL, &request)));
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* Long enough for several segments. */
static void vectors(void)
{
    enum { VECTOR = 200003 };
    form = BLOCKING;
    for (int in_place = 0; in_place < 2; in_place++, turn++) {
        bcast(VECTOR, turn % size);
        reduce(VECTOR, turn % size, MPI_BXOR, in_place);
        allreduce(VECTOR, MPI_SUM, in_place);
        scan(VECTOR, MPI_MAX, in_place);
    }
}

/* The forms take turns: on several communicators each length has all of them. */
static void all_kinds(void)
{
    static const int places[] = { 0, 1 };
    const MPI_Op ops[] = {
        MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR
    };
    enum { OPS = sizeof ops / sizeof *ops };
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int l = 0; l < LENGTHS; l++)
        for (int p = 0; p < 2; p++, turn++) {
            int count = lengths[l], root = turn % size;
            form = (enum form)(turn % 3);
            bcast(count, root);
            reduce(count, root, ops[turn % OPS], places[p]);
            reduce(count, (root + 1) % size, MPI_SUM, places[p]);
            allreduce(count, ops[(turn + 3) % OPS], places[p]);
            barrier();
            allgather(count / size, places[p]);
            alltoall(count / size, places[p]);
            alltoallv(count / size, places[p], 0);
            alltoallv(count / size, places[p], 1);
            gather(count / size, root, places[p]);
            gatherv(count / size, root, places[p]);
            scatter(count / size, root, places[p]);
            scatterv(count / size, root, places[p]);
            allgatherv(count / size, places[p]);
            scan(count, ops[(turn + 5) % OPS], places[p]);
            reduce_scatter(count / size, ops[(turn + 7) % OPS], places[p]);
        }
    vectors();
    for (int i = 0; i < 3 * OPS; i++, turn++) {
        form = (enum form)(turn % 3);
        allreduce(5, ops[i % OPS], i % 2);
        reduce(5, i % size, ops[i % OPS], i / OPS % 2);
        bcast(3, i % size);
    }
}

static double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The first rank leaves after the last has arrived, by the clock of the machine on which the tests make several
 * nodes. */
static void barriers(void)
{
    for (int n = 0; n < 10; n++) {
        double come = clock_now(), last, leave, first;
        barrier();
        leave = clock_now();
        CHECK_OK(MPI_Allreduce(&come, &last, 1, MPI_DOUBLE, MPI_MAX, comm));
        CHECK_OK(MPI_Allreduce(&leave, &first, 1, MPI_DOUBLE, MPI_MIN, comm));
        CHECK(last <= first);
    }
}

static void on(MPI_Comm with, MPI_Op users)
{
    comm = with;
    if (comm == MPI_COMM_NULL)
        return;
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    all_kinds();
    for (form = BLOCKING; form <= PERSISTENT; form++) {
        maxloc();
        same_bits(64);
        in_order(users);
        barriers();
    }
    if (comm != MPI_COMM_WORLD)
        CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    MPI_Comm other;
    MPI_Op users;
    CHECK_OK(MPI_Op_create(later, 0, &users));
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped));
    CHECK_OK(MPI_Type_commit(&gapped));
    on(MPI_COMM_WORLD, users);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -mtest_rank, &other));
    on(other, users);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, (mtest_rank + 1) % 2, &other)); /* odd ranks first */
    on(other, users);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, mtest_rank == 0 ? MPI_UNDEFINED : 0, 0, &other));
    on(other, users);
    for (int i = 0; i < 10; i++) { /* they come and go */
        int one = 1, all = 0;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
        CHECK_OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, other));
        CHECK(all == mtest_size);
        CHECK_OK(MPI_Comm_free(&other));
    }
    CHECK_OK(MPI_Type_free(&gapped));
    CHECK_OK(MPI_Op_free(&users));
    MTEST_END;
}
