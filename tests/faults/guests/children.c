/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: children          as a rank: starts children in many ways, in the middle of a World and between two sessions,
 *                          and must remain the rank that it was
 *        children child    as a child: is refused, and alone when it says so
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static const char *program;
#define CHECK(condition)                                                                                               \
    ((condition) ? 1 : (failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), 0))

/* The size of mpi://WORLD in a session of its own, after a message to oneself. */
static int session_size(void)
{
    MPI_Session session;
    MPI_Group group;
    int size = -1;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
        return -1;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Group_size(group, &size) == MPI_SUCCESS);
    CHECK(MPI_Group_free(&group) == MPI_SUCCESS);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
    return size;
}

static int child(int argc, char **argv)
{
    int size, sum = -1;
    CHECK(session_size() == (getenv("PLENUM_JOB") ? -1 : 1));
    setenv("PLENUM_ALONE", "1", 1);
    CHECK(session_size() == 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 1);
    CHECK(MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == 1);
    MPI_Finalize();
    return failures != 0;
}

/* A child that fails at once, under the handler that ends the whole job: it ends only itself. */
static int failing_child(void)
{
    setenv("PLENUM_TRANSPORT", "pigeons", 1);
    MPI_Init(NULL, NULL);
    return 0;
}

static int end_of(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(const char *what)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl(program, program, what, (char *)NULL);
        _exit(99);
    }
    return end_of(pid);
}

/*
 * A forked child that starts no program: its MPI calls fail, and its exit(), with all handlers that run then, ends only
 * itself. `session` is its parent's.
 */
static void forked_children(MPI_Session session)
{
    for (int way = 0; way < 4; way++) {
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            MPI_Session mine;
            MPI_Session parents = session;
            if (way == 1 && MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &mine) == MPI_SUCCESS)
                _exit(1);
            if (way == 2 && MPI_Session_finalize(&parents) == MPI_SUCCESS)
                _exit(2);
            if (way == 3)
                _exit(0);
            exit(0);
        }
        CHECK(end_of(pid) == 0);
    }
}

static void open_session(MPI_Session *session, MPI_Comm *comm)
{
    MPI_Group group;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(*session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "family", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm) == MPI_SUCCESS);
    CHECK(MPI_Group_free(&group) == MPI_SUCCESS);
}

static void add_up(MPI_Comm comm, int wanted)
{
    int rank, size, sum = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(size == wanted);
    CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size * (size - 1) / 2);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1)
        return strcmp(argv[1], "child") == 0 ? child(argc, argv) : failing_child();
    const char *count = getenv("PLENUM_SIZE");
    int size = count ? atoi(count) : 1;
    char command[4200];
    snprintf(command, sizeof command, "'%s' child", program);

    MPI_Session session;
    MPI_Comm comm;
    for (int round = 0; round < 3; round++) {
        open_session(&session, &comm);
        add_up(comm, size);
        CHECK(run("child") == 0);
        forked_children(session);
        add_up(comm, size);
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && MPI_Session_finalize(&session) == MPI_SUCCESS);
        /* No process uses the rank now, but it is still reserved for this one. */
        CHECK(system(command) == 0);
        CHECK(run("child") == 0);
        CHECK(run("fail") != 0);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            exit(session_size() == (getenv("PLENUM_JOB") ? -1 : 1) ? 0 : 1);
        CHECK(end_of(pid) == 0);
    }
    MPI_Init(&argc, &argv);
    add_up(MPI_COMM_WORLD, size);
    CHECK(system(command) == 0);
    CHECK(run("fail") != 0);
    open_session(&session, &comm);
    forked_children(session);
    add_up(comm, size);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && MPI_Session_finalize(&session) == MPI_SUCCESS);
    add_up(MPI_COMM_WORLD, size);
    MPI_Finalize();
    CHECK(system(command) == 0);
    return failures != 0;
}
