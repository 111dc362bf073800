/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/*
 * The messages of the blocking collectives for each wrong argument: the same with and without collectives before, after
 * which common short ones take the fast path (api/coll_fast.h). All ranks make the same mistake.
 */
#include <stdint.h>
#include <string.h>

#include "mtest.h"

static MPI_Comm comm, fresh, used;
static int in[64], out[64], counts[64], wrong[64], displs[64], roots[] = { -1, 64, MPI_ROOT, MPI_PROC_NULL };
static MPI_Datatype types[64], bad_type[64], uncommitted;
static MPI_Op freed_op;

static void say(int rc, char text[MPI_MAX_ERROR_STRING])
{
    int length;
    CHECK_OK(MPI_Error_string(rc, text, &length));
}

static void compare(int one, const char *first, int other, const char *second, const char *name, int line)
{
    char message[256];
    snprintf(message, sizeof message, "line %d: \"%.100s\" and \"%.100s\"", line, first, second);
    mtest_check(one != MPI_SUCCESS && one == other, __FILE__, line, "classes", message);
    mtest_check(strcmp(first, second) == 0 && strncmp(first, name, strlen(name)) == 0, __FILE__, line, "texts",
                message);
}

/* A call of `comm` that must be refused. */
#define WRONG(function, ...)                                                                                           \
    do {                                                                                                               \
        char first[MPI_MAX_ERROR_STRING], second[MPI_MAX_ERROR_STRING];                                                \
        comm = fresh;                                                                                                  \
        int one = function(__VA_ARGS__);                                                                               \
        say(one, first);                                                                                               \
        comm = used;                                                                                                   \
        int other = function(__VA_ARGS__);                                                                             \
        say(other, second);                                                                                            \
        compare(one, first, other, second, #function ": ", __LINE__);                                                  \
    } while (0)

static void test_bcast(void)
{
    for (int i = 0; i < 4; i++)
        WRONG(MPI_Bcast, in, 1, MPI_INT, roots[i], comm);
    WRONG(MPI_Bcast, in, -1, MPI_INT, 0, comm);
    WRONG(MPI_Bcast_c, in, INT64_MIN, MPI_INT, 0, comm);
    WRONG(MPI_Bcast, in, 1, MPI_DATATYPE_NULL, 0, comm);
    WRONG(MPI_Bcast, in, 1, uncommitted, 0, comm);
    WRONG(MPI_Bcast, in, 1, (MPI_Datatype)MPI_SUM, 0, comm);
    WRONG(MPI_Bcast, NULL, 1, MPI_INT, 0, comm);
    WRONG(MPI_Bcast, MPI_IN_PLACE, 1, MPI_INT, 0, comm);
}

/* gather and scatter, which are wrong in the same ways, except for the side of which the root has more. */
#define WRONG_ROOTED(function, many, few)                                                                              \
    do {                                                                                                               \
        for (int i = 0; i < 4; i++)                                                                                    \
            WRONG(function, in, 1, MPI_INT, out, 1, MPI_INT, roots[i], comm);                                          \
        for (int root = 0; root < mtest_size; root++) {                                                                \
            WRONG(function, in, -1, MPI_INT, out, -1, MPI_INT, root, comm);                                            \
            WRONG(function, in, 1, MPI_DATATYPE_NULL, out, 1, MPI_DATATYPE_NULL, root, comm);                          \
            WRONG(function, in, 1, uncommitted, out, 1, uncommitted, root, comm);                                      \
            WRONG(function, NULL, 1, MPI_INT, NULL, 1, MPI_INT, root, comm);                                           \
            if (mtest_rank == root) {                                                                                  \
                WRONG(function, in + 1, 1, MPI_INT, (char *)in + 1, 1, MPI_INT, root, comm);                           \
                WRONG(function, (char *)in + 1, 1, MPI_INT, in + 1, 1, MPI_INT, root, comm);                           \
                WRONG(function, in, 2, MPI_INT, out, 1, MPI_INT, root, comm);                                          \
                WRONG(function, in, 1, MPI_INT, out, 3, MPI_BYTE, root, comm);                                         \
                WRONG(function, many, 1, MPI_INT, few, 1, MPI_INT, root, comm);                                        \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

static void test_rooted(void)
{
    WRONG_ROOTED(MPI_Gather, in, MPI_IN_PLACE);
    WRONG_ROOTED(MPI_Scatter, MPI_IN_PLACE, out);
    for (int root = 0; root < mtest_size; root++) {
        if (mtest_rank != root) {
            WRONG(MPI_Gather, MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, root, comm);
            WRONG(MPI_Scatter, in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, root, comm);
        } else {
            WRONG(MPI_Gather, in + mtest_size - 1, 1, MPI_INT, in, 1, MPI_INT, root, comm);
            WRONG(MPI_Scatter, in, 1, MPI_INT, in + mtest_size - 1, 1, MPI_INT, root, comm);
            WRONG(MPI_Gatherv, in, 1, MPI_INT, out, wrong, displs, MPI_INT, root, comm);
            WRONG(MPI_Gatherv, in, 1, MPI_INT, out, counts, NULL, MPI_INT, root, comm);
            WRONG(MPI_Scatterv, in, wrong, displs, MPI_INT, out, 1, MPI_INT, root, comm);
            WRONG(MPI_Scatterv, in, NULL, displs, MPI_INT, out, 1, MPI_INT, root, comm);
        }
    }
}

/* allgather and alltoall. */
#define WRONG_EXCHANGE(function)                                                                                       \
    do {                                                                                                               \
        WRONG(function, in, -1, MPI_INT, out, 1, MPI_INT, comm);                                                       \
        WRONG(function, in, 1, MPI_INT, out, -1, MPI_INT, comm);                                                       \
        WRONG(function, in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm);                                              \
        WRONG(function, in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm);                                              \
        WRONG(function, in, 1, uncommitted, out, 1, MPI_INT, comm);                                                    \
        WRONG(function, in, 1, MPI_INT, out, 1, uncommitted, comm);                                                    \
        WRONG(function, NULL, 1, MPI_INT, out, 1, MPI_INT, comm);                                                      \
        WRONG(function, in, 1, MPI_INT, NULL, 1, MPI_INT, comm);                                                       \
        WRONG(function, in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm);                                               \
        WRONG(function, in, 2, MPI_INT, out, 1, MPI_INT, comm);                                                        \
        WRONG(function, in + 1, 1, MPI_INT, (char *)in + 1, 1, MPI_INT, comm);                                         \
        WRONG(function, (char *)in + 1, 1, MPI_INT, in + 1, 1, MPI_INT, comm);                                         \
        WRONG(function, in + mtest_size - 1, 1, MPI_INT, in, 1, MPI_INT, comm);                                        \
    } while (0)

static void test_exchange(void)
{
    WRONG_EXCHANGE(MPI_Allgather);
    WRONG_EXCHANGE(MPI_Alltoall);
    WRONG(MPI_Allgatherv, in, 1, MPI_INT, out, wrong, displs, MPI_INT, comm);
    WRONG(MPI_Allgatherv, in, 1, MPI_INT, out, counts, NULL, MPI_INT, comm);
    WRONG(MPI_Alltoallv, in, wrong, displs, MPI_INT, out, counts, displs, MPI_INT, comm);
    WRONG(MPI_Alltoallv, in, counts, displs, MPI_INT, out, NULL, displs, MPI_INT, comm);
    WRONG(MPI_Alltoallw, in, counts, displs, bad_type, out, counts, displs, types, comm);
    WRONG(MPI_Alltoallw, in, counts, displs, types, out, counts, displs, NULL, comm);
    WRONG(MPI_Alltoallw, NULL, counts, displs, types, out, counts, displs, types, comm);
    WRONG(MPI_Alltoallw, in, counts, displs, types, NULL, counts, displs, types, comm);
}

/* Common to all reductions; the count and the arguments after the operation differ. */
#define WRONG_REDUCTION(function, many, ...)                                                                           \
    do {                                                                                                               \
        WRONG(function, in, out, many, MPI_DATATYPE_NULL, MPI_SUM, __VA_ARGS__);                                       \
        WRONG(function, in, out, many, uncommitted, MPI_SUM, __VA_ARGS__);                                             \
        WRONG(function, in, out, many, MPI_INT, MPI_OP_NULL, __VA_ARGS__);                                             \
        WRONG(function, in, out, many, MPI_INT, freed_op, __VA_ARGS__);                                                \
        WRONG(function, in, out, many, MPI_INT, (MPI_Op)MPI_INT, __VA_ARGS__);                                         \
        WRONG(function, in, out, many, MPI_INT, (MPI_Op)((char *)MPI_SUM + 4), __VA_ARGS__);                           \
        WRONG(function, in, out, many, MPI_INT, MPI_REPLACE, __VA_ARGS__);                                             \
        WRONG(function, in, out, many, MPI_INT, MPI_NO_OP, __VA_ARGS__);                                               \
        WRONG(function, in, out, many, MPI_FLOAT, MPI_BAND, __VA_ARGS__);                                              \
        WRONG(function, in, out, many, MPI_BYTE, MPI_SUM, __VA_ARGS__);                                                \
        WRONG(function, in, out, many, MPI_INT, MPI_MAXLOC, __VA_ARGS__);                                              \
        WRONG(function, in, out, many, MPI_2INT, MPI_SUM, __VA_ARGS__);                                                \
        WRONG(function, NULL, out, many, MPI_INT, MPI_SUM, __VA_ARGS__);                                               \
    } while (0)

/* For ranks that have both vectors. */
#define WRONG_VECTORS(function, many, ...)                                                                             \
    do {                                                                                                               \
        WRONG(function, in, NULL, many, MPI_INT, MPI_SUM, __VA_ARGS__);                                                \
        WRONG(function, in, MPI_IN_PLACE, many, MPI_INT, MPI_SUM, __VA_ARGS__);                                        \
        WRONG(function, MPI_IN_PLACE, NULL, many, MPI_INT, MPI_SUM, __VA_ARGS__);                                      \
        WRONG(function, MPI_IN_PLACE, MPI_IN_PLACE, many, MPI_INT, MPI_SUM, __VA_ARGS__);                              \
        WRONG(function, in, in, many, MPI_INT, MPI_SUM, __VA_ARGS__);                                                  \
        WRONG(function, in, (char *)in + 3, many, MPI_INT, MPI_SUM, __VA_ARGS__);                                      \
        WRONG(function, (char *)in + 3, in, many, MPI_INT, MPI_SUM, __VA_ARGS__);                                      \
    } while (0)

static void test_reductions(void)
{
    WRONG_REDUCTION(MPI_Allreduce, 1, comm);
    WRONG_VECTORS(MPI_Allreduce, 1, comm);
    WRONG(MPI_Allreduce, in, out, -1, MPI_INT, MPI_SUM, comm);
    WRONG_REDUCTION(MPI_Scan, 1, comm);
    WRONG_VECTORS(MPI_Scan, 1, comm);
    WRONG(MPI_Scan_c, in, out, INT64_MIN, MPI_INT, MPI_SUM, comm);
    WRONG_REDUCTION(MPI_Exscan, 1, comm);
    WRONG(MPI_Exscan, in, out, -1, MPI_INT, MPI_SUM, comm);
    if (mtest_rank > 0)
        WRONG_VECTORS(MPI_Exscan, 1, comm);
    WRONG_REDUCTION(MPI_Reduce_scatter_block, 1, comm);
    WRONG_VECTORS(MPI_Reduce_scatter_block, 1, comm);
    WRONG(MPI_Reduce_scatter_block, in, out, -1, MPI_INT, MPI_SUM, comm);
    WRONG_REDUCTION(MPI_Reduce_scatter, counts, comm);
    WRONG_VECTORS(MPI_Reduce_scatter, counts, comm);
    WRONG(MPI_Reduce_scatter, in, out, wrong, MPI_INT, MPI_SUM, comm);
    WRONG(MPI_Reduce_scatter, in, out, NULL, MPI_INT, MPI_SUM, comm);
    WRONG(MPI_Reduce_scatter_c, in, out, NULL, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < 4; i++)
        WRONG(MPI_Reduce, in, out, 1, MPI_INT, MPI_SUM, roots[i], comm);
    for (int root = 0; root < mtest_size; root++) {
        WRONG_REDUCTION(MPI_Reduce, 1, root, comm);
        WRONG(MPI_Reduce, in, out, -1, MPI_INT, MPI_SUM, root, comm);
        if (mtest_rank == root)
            WRONG_VECTORS(MPI_Reduce, 1, root, comm);
        else
            WRONG(MPI_Reduce, MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, root, comm);
    }
}

/* Handles of other objects: the handler is that of MPI_COMM_SELF. */
static void test_communicators(void)
{
    const MPI_Comm bad[] = { MPI_COMM_NULL, (MPI_Comm)MPI_INT, (MPI_Comm)MPI_SUM, (MPI_Comm)in };
    for (int i = 0; i < 4; i++) {
        CHECK_CLASS(MPI_Barrier(bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, 0, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, bad[i]), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, bad[i]), MPI_ERR_COMM);
    }
}

/* Errors found during the operation name the function, too. With more ranks, one that fails passes nothing on where
 * the collective uses messages. */
static void test_truncation(void)
{
    char text[MPI_MAX_ERROR_STRING];
    if (mtest_size == 1)
        return;
    int rc = MPI_Bcast(out, mtest_rank == 0 ? 4 : 2, MPI_INT, 0, used);
    CHECK_CLASS(rc, mtest_rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
    say(rc, text);
    CHECK(mtest_rank == 0 || strstr(text, "MPI_Bcast: rank 0 gives 16 bytes where this rank expects 8") == text);
}

static MPI_Comm make(void)
{
    MPI_Comm made;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    CHECK_OK(MPI_Comm_set_name(made, "ocean"));
    CHECK_OK(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
    return made;
}

static void add(void *invec, void *inoutvec, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)inoutvec)[i] += ((int *)invec)[i];
}

static void check_sum(MPI_Comm where)
{
    int one = 1, sum = 0;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, where));
    CHECK(sum == mtest_size);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* of errors that belong to no communicator */
    for (int i = 0; i < 64; i++) {
        counts[i] = 1;
        wrong[i] = i == mtest_size - 1 ? -3 : 1;
        types[i] = MPI_INT;
        bad_type[i] = i == mtest_size - 1 ? MPI_DATATYPE_NULL : MPI_INT;
    }
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    MPI_Op op;
    CHECK_OK(MPI_Op_create(add, 1, &op));
    freed_op = op;
    CHECK_OK(MPI_Op_free(&op));
    fresh = make();
    used = make();
    for (int i = 0; i < 4; i++)
        check_sum(used);
    test_bcast();
    test_rooted();
    test_exchange();
    test_reductions();
    test_communicators();
    test_truncation();
    check_sum(used);
    check_sum(fresh);
    CHECK_OK(MPI_Type_free(&uncommitted));
    CHECK_OK(MPI_Comm_free(&fresh));
    CHECK_OK(MPI_Comm_free(&used));
    MTEST_END;
}
