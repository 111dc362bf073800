/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A blocking call goes on with the datatypes and groups that it was given, although another thread frees them while it
 * waits, and makes others in their place. That thread knows that the call waits: the call is what makes progress in a
 * reduction, whose function is the user's.
 */
/* ranks: 2 3 */
#include "mtest.h"

#include <pthread.h>
#include <unistd.h>

enum { HELLO = 1, GO = 2, OTHERS = 8, MANY = 12, MOST = 3, EACH = 500 };

static MPI_Comm comm, side, made;
static MPI_Win win;
static MPI_Op seen;
static MPI_Group group;
static MPI_Datatype every[MOST];
static pthread_t caller;
static _Atomic int waits; /* 1: the call waits; 2: this has to be tried again */
static int *in, *out;

/* Rank 1 alone gives 1, when it is asked to. */
static void see(void *from, void *to, int *count, MPI_Datatype *datatype)
{
    (void)count;
    (void)datatype;
    *(int *)to += *(int *)from;
    if (mtest_rank == 0 && *(int *)to > 0)
        atomic_store(&waits, pthread_equal(pthread_self(), caller) ? 1 : 2);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static void make_types(void)
{
    for (int i = 0; i < mtest_size; i++) {
        CHECK_OK(MPI_Type_vector(EACH, 1, 2, MPI_INT, &every[i]));
        CHECK_OK(MPI_Type_commit(&every[i]));
    }
}

static void free_types(void)
{
    MPI_Datatype other[OTHERS];
    for (int i = 0; i < mtest_size; i++) {
        MPI_Datatype type = every[i]; /* the array is the call's */
        CHECK_OK(MPI_Type_free(&type));
    }
    for (int i = 0; i < OTHERS; i++)
        CHECK_OK(MPI_Type_contiguous(3, MPI_DOUBLE, &other[i]));
    for (int i = 0; i < OTHERS; i++)
        CHECK_OK(MPI_Type_free(&other[i]));
}

static void *alltoallw(void *nothing)
{
    int counts[MOST], places[MOST];
    for (int i = 0; i < mtest_size; i++) {
        counts[i] = 1;
        places[i] = i * 2 * EACH * (int)sizeof(int);
    }
    for (int i = 0; i < 2 * EACH * mtest_size; i++) {
        in[i] = i + mtest_rank;
        out[i] = -1;
    }
    CHECK_OK(MPI_Alltoallw(in, counts, places, every, out, counts, places, every, comm));
    int wrong = 0;
    for (int i = 0; i < 2 * EACH * mtest_size; i++)
        wrong += out[i] != (i % 2 ? -1 : i % (2 * EACH) + mtest_rank * 2 * EACH + i / (2 * EACH));
    CHECK(wrong == 0);
    return nothing;
}

/* Its first member does not wait: that is not rank 0. */
static void make_group(void)
{
    MPI_Group world;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_range_incl(world, 1, (int[][3]){ { mtest_size - 1, 0, -1 } }, &group));
    CHECK_OK(MPI_Group_free(&world));
}

static void free_group(void)
{
    MPI_Group own, other[OTHERS];
    CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &own));
    CHECK_OK(MPI_Group_free(&group));
    for (int i = 0; i < OTHERS; i++)
        CHECK_OK(MPI_Group_incl(own, 1, (int[]){ 0 }, &other[i]));
    for (int i = 0; i < OTHERS; i++)
        CHECK_OK(MPI_Group_free(&other[i]));
    CHECK_OK(MPI_Group_free(&own));
}

static void check_made(void)
{
    int size = 0, sum = 0, one = 1;
    CHECK_OK(MPI_Comm_size(made, &size));
    CHECK(size == mtest_size);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made));
    CHECK(sum == mtest_size);
    CHECK_OK(MPI_Comm_free(&made));
}

static void *create(void *nothing)
{
    CHECK_OK(MPI_Comm_create(comm, group, &made));
    check_made();
    return nothing;
}

static void *create_group(void *nothing)
{
    CHECK_OK(MPI_Comm_create_group(comm, group, 7, &made));
    check_made();
    return nothing;
}

static void *create_from_group(void *nothing)
{
    CHECK_OK(MPI_Comm_create_from_group(group, "freed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    check_made();
    return nothing;
}

/* Rank 0 puts into rank 1's memory; only rank 0 waits for rank 1. */
static void make_member(void)
{
    MPI_Group world;
    int other = mtest_rank == 0;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, &other, &group));
    CHECK_OK(MPI_Group_free(&world));
}

static void *start(void *nothing)
{
    if (mtest_rank == 0) {
        CHECK_OK(MPI_Win_start(group, 0, win));
        CHECK_OK(MPI_Put((int[1]){ 77 }, 1, MPI_INT, 1, 0, 1, MPI_INT, win));
        CHECK_OK(MPI_Win_complete(win));
    } else if (mtest_rank == 1) {
        out[0] = 0;
        CHECK_OK(MPI_Win_post(group, 0, win));
        CHECK_OK(MPI_Win_wait(win));
        CHECK(out[0] == 77);
    }
    return nothing;
}

/* --- trying them -------------------------------------------------------------------------------------------------- */

static void reduce(void)
{
    int one = mtest_rank == 1, sum = 0;
    MPI_Request request;
    CHECK_OK(MPI_Ireduce(&one, &sum, 1, MPI_INT, seen, 0, side, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void try_call_late(void *(*call)(void *), void (*free_given)(void))
{
    int zero = 0, sum = 0;
    MPI_Request request;
    CHECK_OK(MPI_Ireduce(&zero, &sum, 1, MPI_INT, seen, 0, side, &request));
    CHECK(pthread_create(&caller, NULL, call, NULL) == 0);
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, HELLO, MPI_COMM_WORLD));
    while (!atomic_load(&waits))
        usleep(1000);
    if (waits == 1)
        free_given();
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, GO, MPI_COMM_WORLD));
    CHECK(pthread_join(caller, NULL) == 0);
    if (waits == 2)
        free_given();
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(sum == 1);
}

/* On rank 0 another thread calls; rank 1 calls after what rank 0 has given is freed. */
static void try_call(void (*make)(void), void *(*call)(void *), void (*free_given)(void))
{
    atomic_store(&waits, 0);
    make();
    if (mtest_rank == 0) {
        try_call_late(call, free_given);
        return;
    }
    if (mtest_rank == 1)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, HELLO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    reduce();
    if (mtest_rank == 1)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    call(NULL);
    free_given();
}

int main(int argc, char **argv)
{
    CHECK(mtest_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE) == MPI_THREAD_MULTIPLE);
    size_t bytes = (size_t)mtest_size * 2 * EACH * sizeof *in;
    in = malloc(bytes);
    out = malloc(bytes);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &side));
    CHECK_OK(MPI_Op_create(see, 1, &seen));
    for (int i = 0; i < MANY; i++) /* by messages, then by shared memory */
        try_call(make_types, alltoallw, free_types);
    try_call(make_group, create, free_group);
    try_call(make_group, create_group, free_group);
    try_call(make_group, create_from_group, free_group);
    CHECK_OK(MPI_Win_create(out, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    try_call(make_member, start, free_group);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Op_free(&seen));
    CHECK_OK(MPI_Comm_free(&side));
    CHECK_OK(MPI_Comm_free(&comm));
    free(in);
    free(out);
    MTEST_END;
}
