/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that limits the size of its files (RLIMIT_FSIZE) after initialization communicates as before, whichever
 * ranks do it: the first collective, long messages, a window.
 */
#include <sys/resource.h>

#include "mtest.h"

enum { LONG = 300000, WORDS = 5000 };

static MPI_Comm comm;

static void limit_files(int limited)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limited ? 4096 : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void collective(int which)
{
    int value = mtest_rank, sum = -1;
    if (which == 0)
        CHECK_OK(MPI_Barrier(comm));
    if (which == 1) {
        CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, mtest_size - 1, comm));
        CHECK(value == mtest_size - 1);
    }
    value = mtest_rank;
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == mtest_size * (mtest_size - 1) / 2);
}

static void long_messages(void)
{
    static int out[LONG], in[LONG];
    int right = (mtest_rank + 1) % mtest_size, left = (mtest_rank + mtest_size - 1) % mtest_size;
    for (int i = 0; i < LONG; i++)
        out[i] = mtest_rank + i;
    CHECK_OK(MPI_Sendrecv(out, LONG, MPI_INT, right, 0, in, LONG, MPI_INT, left, 0, comm, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (int i = 0; i < LONG; i++)
        wrong += in[i] != left + i;
    CHECK(wrong == 0);
}

static void window(void)
{
    MPI_Win win;
    int *memory, right = (mtest_rank + 1) % mtest_size;
    CHECK_OK(MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&mtest_rank, 1, MPI_INT, right, WORDS - 1, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK(memory[WORDS - 1] == (mtest_rank + mtest_size - 1) % mtest_size);
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    for (int i = 0; i < 9; i++) { /* each in an engine of its own that has not sent anything */
        MPI_Session session;
        MPI_Group group;
        int limited = i % 3 - 1; /* all ranks, the first, the second */
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        CHECK_OK(MPI_Comm_create_from_group(group, "limited", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        limit_files(limited < 0 || limited == mtest_rank);
        collective(i / 3);
        long_messages();
        window();
        limit_files(0);
        MPI_Group_free(&group);
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    MTEST_END;
}
