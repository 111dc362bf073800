/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service that stays: rank 0 has one session all the time, and the others open one, meet it in a communicator, and
 * close. What rank 0 knows of the engines that have closed goes with them: after hundreds of these it holds no more
 * memory, mappings and descriptors than after the first ones. Each communicator is used; some messages to it are never
 * received, and one is matched before its sender closes and received after.
 */
/* ranks: 2 3 */
/* seconds: 600 */
#include <malloc.h>
#include <time.h>

#include "mtest.h"
#include "usage.h"

enum { WARM_UP = 50, LONG = 100000, HEAP_SETTLES = 64 << 10, MAPPINGS = 64, SETTLE_TRIES = 200 };

static MPI_Session stays;
static char data[LONG], got[LONG];

static long heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return USAGE_OF_MEMORY ? (long)(info.uordblks + info.hblkhd) : 0;
}

static void open_session(MPI_Session *session)
{
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session));
}

/* Messages of all lengths and ways, to rank 0 and back. */
static void use(MPI_Comm comm, int n)
{
    int sum, peers = mtest_rank ? 1 : mtest_size - 1;
    CHECK_OK(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == n * mtest_size);
    for (int i = 0; i < peers; i++) {
        int length = n % 2 ? LONG : 8, peer = mtest_rank ? 0 : i + 1;
        data[0] = (char)n;
        CHECK_OK(
            MPI_Sendrecv(data, length, MPI_CHAR, peer, 1, got, length, MPI_CHAR, peer, 1, comm, MPI_STATUS_IGNORE));
        CHECK(got[0] == (char)n);
    }
}

static void cycle(int n)
{
    MPI_Session session = stays;
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    MPI_Group group;
    MPI_Comm comm;
    if (mtest_rank)
        open_session(&session);
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "uneven", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    use(comm, n);
    if (mtest_rank) {
        CHECK_OK(MPI_Send(&n, 1, MPI_INT, 0, 2, comm)); /* is not received */
        CHECK_OK(MPI_Send(&n, 1, MPI_INT, 0, 3, comm));
    } else {
        CHECK_OK(MPI_Mprobe(1, 3, comm, &message, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    if (mtest_rank)
        CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mtest_rank == 0) {
        int last = -1;
        CHECK_OK(MPI_Mrecv(&last, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        CHECK(last == n);
    }
}

/* What the last ones leave goes when rank 0 has nothing else to do. */
static void rest(void)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    for (int i = 0; i < SETTLE_TRIES; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &(int){ 0 }, MPI_STATUS_IGNORE);
        nanosleep(&pause, NULL);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    const char *transport = getenv("PLENUM_TRANSPORT");
    int cycles = transport && strcmp(transport, "ucx") == 0 ? 50 : 500;
    if (mtest_rank == 0)
        open_session(&stays);
    for (int n = 0; n < WARM_UP; n++)
        cycle(n);
    rest();
    struct usage before = usage_now();
    long heap_before = heap();
    for (int n = 0; n < cycles; n++)
        cycle(n);
    rest();
    struct usage after = usage_now();
    long grown = heap() - heap_before;
    int shared_memory_of_ucx = cycles == 50; /* connections that UCX ends with its worker */
    if (mtest_rank == 0 && !shared_memory_of_ucx) {
        CHECK(after.descriptors == before.descriptors);
        CHECK(after.mappings <= before.mappings + MAPPINGS);
        if (!CHECK(grown < HEAP_SETTLES))
            fprintf(stderr, "%ld bytes more in %d cycles\n", grown, cycles);
    }
    if (mtest_rank == 0)
        CHECK_OK(MPI_Session_finalize(&stays));
    MTEST_END;
}
