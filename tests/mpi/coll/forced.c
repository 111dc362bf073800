/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every algorithm of every collective, forced by its variable in a session of its own, against the expected result:
 * short and long, with the last rank as root. Reductions of floating-point numbers give the same bits in a second
 * session.
 */
/* ranks: 1 3 7 */
#include <stdlib.h>

#include "coll.h"

enum { LONGEST = 3000, RANKS = 16, INTS = LONGEST * RANKS };

static int size, rank, root;
static int in[INTS], out[INTS], counts[RANKS], displs[RANKS], bytes[RANKS];
static MPI_Datatype types[RANKS];

/* The int at index i from one rank to another. */
static int word(int from, int to, int i)
{
    return from * 1000003 + to * 10007 + i;
}

/* Is block `block` what `from` had for `to`? */
static int is(int block, int from, int to, int count)
{
    for (int i = 0; i < count; i++)
        if (out[block * count + i] != word(from, to, i))
            return 0;
    return 1;
}

/* `alike`: a rank sends the same to all. */
static void fill(int count, int alike)
{
    for (int to = 0; to < size; to++)
        for (int i = 0; i < count; i++)
            in[to * count + i] = word(rank, alike ? 0 : to, i);
    memset(out, 0x7f, sizeof out);
}

static void rooted(const char *name, MPI_Comm comm, int count)
{
    int own = rank == root;
    if (strcmp(name, "BCAST") == 0) {
        fill(count, 1);
        CHECK_OK(MPI_Bcast(own ? in : out, count, MPI_INT, root, comm));
        CHECK(own || is(0, root, 0, count));
    } else if (strncmp(name, "GATHER", 6) == 0) {
        fill(count, 1);
        if (name[6])
            CHECK_OK(MPI_Gatherv(in, count, MPI_INT, out, counts, displs, MPI_INT, root, comm));
        else
            CHECK_OK(MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm));
        for (int i = 0; own && i < size; i++)
            CHECK(is(i, i, 0, count));
    } else {
        fill(count, 0);
        if (name[7])
            CHECK_OK(MPI_Scatterv(in, counts, displs, MPI_INT, out, count, MPI_INT, root, comm));
        else
            CHECK_OK(MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm));
        CHECK(is(0, root, rank, count));
    }
}

static void to_all(const char *name, MPI_Comm comm, int count)
{
    int gather = strncmp(name, "ALLGATHER", 9) == 0;
    fill(count, gather);
    if (strcmp(name, "ALLGATHER") == 0)
        CHECK_OK(MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm));
    else if (gather)
        CHECK_OK(MPI_Allgatherv(in, count, MPI_INT, out, counts, displs, MPI_INT, comm));
    else if (strcmp(name, "ALLTOALL") == 0)
        CHECK_OK(MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm));
    else if (strcmp(name, "ALLTOALLV") == 0)
        CHECK_OK(MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, comm));
    else
        CHECK_OK(MPI_Alltoallw(in, counts, bytes, types, out, counts, bytes, types, comm));
    for (int i = 0; i < size; i++)
        CHECK(is(i, i, gather ? 0 : rank, count));
}

static void reduction(const char *name, MPI_Comm comm, const void *from, void *to, int count, MPI_Datatype type)
{
    if (strcmp(name, "REDUCE") == 0)
        CHECK_OK(MPI_Reduce(from, to, count, type, MPI_SUM, root, comm));
    else if (strcmp(name, "ALLREDUCE") == 0)
        CHECK_OK(MPI_Allreduce(from, to, count, type, MPI_SUM, comm));
    else if (strcmp(name, "REDUCE_SCATTER_BLOCK") == 0)
        CHECK_OK(MPI_Reduce_scatter_block(from, to, count, type, MPI_SUM, comm));
    else if (strcmp(name, "REDUCE_SCATTER") == 0)
        CHECK_OK(MPI_Reduce_scatter(from, to, counts, type, MPI_SUM, comm));
    else if (strcmp(name, "SCAN") == 0)
        CHECK_OK(MPI_Scan(from, to, count, type, MPI_SUM, comm));
    else
        CHECK_OK(MPI_Exscan(from, to, count, type, MPI_SUM, comm));
}

/* The bits of reductions of doubles, of every algorithm in turn, for the second session. */
static double reals[LONGEST * RANKS], sums[LONGEST];
enum { KEPT = 32 };
static double kept[KEPT][2 * LONGEST];

static void reducing(const char *name, MPI_Comm comm, int count, int algorithm, int again)
{
    int last = strcmp(name, "SCAN") == 0 ? rank + 1 : strcmp(name, "EXSCAN") == 0 ? rank : size;
    int part = strncmp(name, "REDUCE_SCATTER", 14) == 0 ? rank : 0, wrong = 0;
    fill(count, 0);
    reduction(name, comm, in, out, count, MPI_INT);
    for (int i = 0; i < count && last > 0 && (strcmp(name, "REDUCE") != 0 || rank == root); i++) {
        int sum = 0;
        for (int from = 0; from < last; from++)
            sum += word(from, part, i);
        wrong += out[i] != sum;
    }
    CHECK(wrong == 0);
    memset(sums, 0, sizeof sums);
    reduction(name, comm, reals, sums, count, MPI_DOUBLE);
    double *place = kept[algorithm] + (count == LONGEST ? LONGEST : 0);
    if (!again)
        memcpy(place, sums, (size_t)count * sizeof *sums);
    CHECK(memcmp(place, sums, (size_t)count * sizeof *sums) == 0);
}

static void run(const char *name, MPI_Comm comm, int algorithm, int again)
{
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    root = size - 1;
    for (int count = 3; count <= LONGEST; count += LONGEST - 3) {
        for (int i = 0; i < size; i++) {
            counts[i] = count;
            displs[i] = i * count;
            bytes[i] = displs[i] * (int)sizeof(int);
            types[i] = MPI_INT;
        }
        if (strcmp(name, "BARRIER") == 0)
            CHECK_OK(MPI_Barrier(comm));
        else if (strncmp(name, "ALLREDUCE", 9) == 0 || strstr(name, "SCAN") || strncmp(name, "REDUCE", 6) == 0)
            reducing(name, comm, count, algorithm, again);
        else if (strncmp(name, "ALL", 3) == 0)
            to_all(name, comm, count);
        else
            rooted(name, comm, count);
    }
}

/* One algorithm in a session of its own. */
static void force(const char *name, const char *algorithm, int number, int again)
{
    char variable[64];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    snprintf(variable, sizeof variable, "PLENUM_COLL_%s", name);
    setenv(variable, algorithm, 1);
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "forced", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    run(name, comm, number, again);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
    unsetenv(variable);
}

/* Those that reduce come first. */
static const char *const collectives[] = {
    "REDUCE",    "ALLREDUCE",  "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK",
    "SCAN",      "EXSCAN",     "BARRIER",        "BCAST",
    "GATHER",    "GATHERV",    "SCATTER",        "SCATTERV",
    "ALLGATHER", "ALLGATHERV", "ALLTOALL",       "ALLTOALLV",
    "ALLTOALLW",
};
enum { KINDS = sizeof collectives / sizeof *collectives, REDUCING = 6 };

/* Numbers whose sum depends on the order: of very different sizes. */
static void make_reals(int seed)
{
    uint64_t state = 88172645463325252u + (unsigned)seed * 7919u;
    for (int i = 0; i < LONGEST * RANKS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        reals[i] = (double)(int32_t)(state >> 32) / (double)(1u << (state >> 20 & 31));
    }
}

int main(void)
{
    MPI_Session session; /* keeps nothing of what follows: the configuration is read when the first one opens */
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    MPI_Group group;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Group_rank(group, &mtest_rank));
    CHECK_OK(MPI_Group_size(group, &mtest_size));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
    make_reals(mtest_rank);
    for (int again = 0; again < 2; again++) {
        int number = 0;
        char algorithm[64];
        for (int kind = 0; kind < (again ? REDUCING : KINDS); kind++)
            for (int i = 1; algorithm_nth(collectives[kind], i, algorithm); i++)
                force(collectives[kind], algorithm, kind < REDUCING ? number++ : 0, again);
        CHECK(number <= KEPT);
    }
    MTEST_END;
}
