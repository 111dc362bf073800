/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: unreached WHAT FILE
 * Rank 0 has no descriptor left when it sends to the last rank for the first time, so it cannot connect: the link is
 * lost, and both live. Then there are descriptors again, and a session makes a communicator of all. Rank 0 broadcasts
 * in it (`bcast`), sends to the last rank (`send`), or all meet (`barrier`). All ranks get an error that names the
 * link. Rank 0 frees the communicator at once, and uses another one until the others have got theirs. Where members
 * that cannot be reached count as failed (`local`), the first message says so.
 *
 * FILE has a byte for each step that a rank has come to. Nothing connects to rank 0 while it has no descriptors: UCX
 * 1.13 may abort a process whose connection ends as it begins.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int wrong;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    printf("wrong: %s\n", what);
    wrong = 1;
}

static void expect_error(int code, int wanted, const char *words)
{
    char text[MPI_MAX_ERROR_STRING] = "no error";
    int length, class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    expect(class == wanted && strstr(text, words) != NULL, text);
}

static void expect_lost(int code)
{
    expect_error(code, MPI_ERR_OTHER, "rank 0 lost the connection to rank ");
}

static void expect_failed(int code)
{
    expect_error(code, MPI_ERR_PROC_ABORTED, "counts as failed: a connection to it is lost, and it may live");
}

static void send_without_descriptors(MPI_Comm comm, int local)
{
    struct rlimit limit, low;
    int value = 0, next = open("/dev/null", O_RDONLY);
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    low = limit;
    low.rlim_cur = (rlim_t)next;
    setrlimit(RLIMIT_NOFILE, &low);
    int code = MPI_Ssend(&value, 1, MPI_INT, 1, 1, comm);
    setrlimit(RLIMIT_NOFILE, &limit);
    if (local)
        expect_failed(code);
    else
        expect_lost(code);
}

static int use(const char *what, MPI_Comm comm, int rank, int size)
{
    int value = rank;
    if (strcmp(what, "bcast") == 0)
        return MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    if (strcmp(what, "barrier") == 0)
        return MPI_Barrier(comm);
    return rank == 0 ? MPI_Send(&value, 1, MPI_INT, size - 1, 3, comm)
                     : MPI_Recv(&value, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
}

static void step(int fd)
{
    expect(write(fd, "s", 1) == 1, "the file is written");
}

/* Makes progress until the ranks have come to this number of steps. */
static void await_steps(int fd, int steps, MPI_Comm self)
{
    struct stat st = { .st_size = 0 };
    int found = 0;
    while (fstat(fd, &st) == 0 && st.st_size < steps && !found)
        if (MPI_Iprobe(0, 1, self, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS)
            usleep(1000);
}

static void with_all(const char *what, int steps, MPI_Group every, MPI_Comm self)
{
    MPI_Comm all;
    int rank, size;
    int code = MPI_Comm_create_from_group(every, "org.example.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
    expect(code == MPI_SUCCESS, "the communicator of all is made");
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    expect_lost(use(what, all, rank, size));
    if (rank == 0) {
        MPI_Comm_free(&all);
        await_steps(steps, size + 1, self);
    } else {
        expect_lost(MPI_Barrier(all));
        step(steps);
        MPI_Comm_free(&all);
    }
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group every, two, alone;
    MPI_Comm first = MPI_COMM_NULL, self;
    int rank, size;
    if (argc != 3)
        return 2;
    int local = strcmp(argv[1], "local") == 0, steps = open(argv[2], O_CREAT | O_WRONLY | O_APPEND, 0600);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &every);
    MPI_Group_rank(every, &rank);
    MPI_Group_size(every, &size);
    MPI_Group_incl(every, 2, (int[]){ 0, size - 1 }, &two);
    MPI_Group_from_session_pset(session, "mpi://SELF", &alone);
    MPI_Comm_create_from_group(alone, "org.example.self", MPI_INFO_NULL, MPI_ERRORS_RETURN, &self);
    if (rank == 0 || rank == size - 1)
        MPI_Comm_create_from_group(two, "org.example.two", MPI_INFO_NULL, MPI_ERRORS_RETURN, &first);
    if (rank == size - 1)
        step(steps);
    await_steps(steps, rank == 0 ? 1 : 2, self);
    if (rank == 0) {
        send_without_descriptors(first, local);
        step(steps);
    }
    if (!local)
        with_all(argv[1], steps, every, self);
    MPI_Comm_free(&self);
    MPI_Group_free(&alone);
    if (first != MPI_COMM_NULL)
        MPI_Comm_free(&first);
    MPI_Group_free(&two);
    MPI_Group_free(&every);
    MPI_Session_finalize(&session);
    if (rank == 0 && !wrong)
        printf("all told\n");
    return wrong;
}
