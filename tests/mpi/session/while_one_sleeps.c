/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing of a session waits for a process that does not take part (MPI-5.0 section 11.3.1): while one rank does nothing at
 * all, the others open and close sessions, meet in groups without it, work, and part. It wakes up only when all of them
 * are done: had one of them waited for it, the program would never end. Then everybody meets.
 */
/* ranks: 2 3 4 7 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mtest.h"

/* Ranks of one job have one parent: its number names a page that they share, without any MPI. */
static _Atomic int *page(char name[64])
{
    snprintf(name, 64, "/plenum-sleeps-%d", (int)getppid());
    int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return NULL;
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static MPI_Comm meet(MPI_Session session, const char *tag, int without)
{
    MPI_Group world, group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Group_size(world, &mtest_size));
    CHECK_OK(MPI_Group_rank(world, &mtest_rank));
    if (without >= 0)
        CHECK_OK(MPI_Group_excl(world, 1, &without, &group));
    else
        CHECK_OK(MPI_Group_excl(world, 0, NULL, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&world));
    return comm;
}

static void add_up(MPI_Comm comm, int without)
{
    int all = mtest_size * (mtest_size - 1) / 2, sum = -1;
    CHECK_OK(MPI_Allreduce(&mtest_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == all - (without >= 0 ? without : 0));
    CHECK_OK(MPI_Comm_free(&comm));
}

static void work(int without)
{
    MPI_Session session;
    MPI_Group self;
    MPI_Comm alone;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_OK(MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone));
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Barrier(alone));
    CHECK_OK(MPI_Comm_free(&alone));
    add_up(meet(session, "without one", without), without);
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    const char *number = getenv("PLENUM_RANK"), *count = getenv("PLENUM_SIZE");
    char name[64];
    _Atomic int *done = page(name);
    MPI_Session session;
    if (!CHECK(number && count && done))
        MTEST_END;
    int rank = atoi(number), sleeper = atoi(count) - 1;
    (void)argc, (void)argv;
    if (rank == sleeper) {
        while (atomic_load(done) < sleeper)
            usleep(1000);
        shm_unlink(name);
    } else {
        for (int round = 0; round < 3; round++)
            work(sleeper);
        atomic_fetch_add(done, 1);
    }
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    add_up(meet(session, "all", -1), -1);
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
