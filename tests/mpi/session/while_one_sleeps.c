/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No part of a session waits for a process that does not take part (MPI-5.0 section 11.3.1): while one rank does
 * nothing at all, the others open and close sessions, create communicators without it, and work. It wakes up only when
 * all of them are done: if one waited for it, the program would never end. Then all create a communicator.
 */
/* ranks: 2 3 4 7 */
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mtest.h"

/* Wakes the sleeper without MPI: by a socket whose name derives from that of the job, and is in no directory. */
static int open_socket(struct sockaddr_un *name)
{
    const char *job = getenv("PLENUM_JOB"), *cookie = job ? strchr(job, ':') : NULL;
    *name = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (cookie)
        snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "plenum-sleeps%.17s", cookie);
    return cookie ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
}

static void sleep_until_told(int words)
{
    struct sockaddr_un name;
    char word;
    int fd = open_socket(&name);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    while (words-- > 0)
        CHECK(recv(fd, &word, 1, 0) == 1);
    close(fd);
}

static void tell_sleeper(void)
{
    struct sockaddr_un name;
    int fd = open_socket(&name);
    CHECK(fd >= 0);
    while (sendto(fd, "", 1, 0, (struct sockaddr *)&name, sizeof name) != 1)
        usleep(1000); /* it has not come yet */
    close(fd);
}

static MPI_Comm create(MPI_Session session, const char *tag, int without)
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
    add_up(create(session, "without one", without), without);
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    const char *number = getenv("PLENUM_RANK"), *count = getenv("PLENUM_SIZE");
    MPI_Session session;
    if (!CHECK(number && count))
        MTEST_END;
    int rank = atoi(number), sleeper = atoi(count) - 1;
    (void)argc, (void)argv;
    if (rank == sleeper) {
        sleep_until_told(sleeper);
    } else {
        for (int round = 0; round < 3; round++)
            work(sleeper);
        tell_sleeper();
    }
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    add_up(create(session, "all", -1), -1);
    CHECK_OK(MPI_Session_finalize(&session));
    MTEST_END;
}
