/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 8 */
/*
 * Windows with a dead member: what needs it fails with MPIX_ERR_PROC_FAILED and waits for nothing; windows that the
 * living make afterwards work. Revoking a communicator does not concern a window made from it.
 */
#include "ulfm.h"

enum { COUNT = 1000 };
static int *base[2];
static MPI_Win win[2];

static int worked_or_failed(int code)
{
    int class = class_of(code);
    return class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED;
}

/* The first error of a passive epoch with `target`. */
static int put_to(MPI_Win one, int target)
{
    static int data[COUNT];
    int code = MPI_Win_lock(MPI_LOCK_SHARED, target, 0, one);
    if (code)
        return code;
    code = MPI_Put(data, COUNT, MPI_INT, target, 0, COUNT, MPI_INT, one);
    int flushed = MPI_Win_flush(target, one), unlocked = MPI_Win_unlock(target, one);
    return code ? code : flushed ? flushed : unlocked;
}

static void with_dead(MPI_Win one, int dead)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 1, result = 0;
    EXPECT(worked_or_failed(put_to(one, dead))); /* memory may outlive the process */
    FAILS(MPI_Win_fence(0, one));
    if (MPI_Win_lock_all(0, one) == MPI_SUCCESS) {
        EXPECT(worked_or_failed(MPI_Fetch_and_op(&value, &result, MPI_INT, dead, 0, MPI_SUM, one)));
        int code = MPI_Rget(&result, 1, MPI_INT, dead, 0, 1, MPI_INT, one, &request);
        EXPECT(worked_or_failed(code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE)));
        EXPECT(worked_or_failed(MPI_Win_unlock_all(one)));
    }
}

static void among_living(MPI_Comm left)
{
    MPI_Win one;
    int *memory, me, all, value = -1;
    OK(MPI_Comm_rank(left, &me));
    OK(MPI_Comm_size(left, &all));
    OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, left, &memory, &one));
    *memory = 100 + me;
    OK(MPI_Win_fence(0, one));
    OK(MPI_Get(&value, 1, MPI_INT, (me + 1) % all, 0, 1, MPI_INT, one));
    OK(MPI_Win_fence(0, one));
    EXPECT(value == 100 + (me + 1) % all);
    OK(MPI_Win_lock_all(0, one));
    OK(MPI_Fetch_and_op(&(int){ 1 }, &value, MPI_INT, 0, 0, MPI_SUM, one));
    OK(MPI_Win_unlock_all(one));
    OK(MPI_Barrier(left));
    EXPECT(me > 0 || *memory == 100 + all);
    OK(MPI_Win_free(&one));
}

/* The communicator is revoked; its window goes on. */
static void apart(MPI_Comm comm)
{
    MPI_Win one;
    int *memory, value = -1, flag = 0;
    OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &one));
    OK(MPI_Win_set_errhandler(one, MPI_ERRORS_RETURN));
    *memory = rank;
    OK(MPI_Win_fence(0, one));
    if (rank == 0)
        OK(MPIX_Comm_revoke(comm));
    while (!flag)
        OK(MPIX_Comm_is_revoked(comm, &flag));
    OK(MPI_Get(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, one));
    OK(MPI_Win_fence(0, one));
    EXPECT(value == (rank + 1) % size);
    OK(MPI_Win_free(&one));
}

int main(int argc, char **argv)
{
    static int memory[COUNT];
    MPI_Comm comm, left;
    begin(&argc, &argv);
    int dead = size - 1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    apart(comm);
    OK(MPI_Win_allocate(COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base[0], &win[0]));
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win[1]));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Win_set_errhandler(win[i], MPI_ERRORS_RETURN));
        OK(put_to(win[i], (rank + 1) % size));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    kill_ranks(1u << dead);
    for (int i = 0; i < 2; i++)
        with_dead(win[i], dead);
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
    OK(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
    among_living(left);
    for (int i = 0; i < 2; i++)
        EXPECT(worked_or_failed(MPI_Win_free(&win[i])));
    OK(MPI_Comm_free(&left));
    OK(MPI_Comm_free(&comm));
    return end();
}
