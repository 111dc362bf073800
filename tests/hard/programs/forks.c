/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose ranks fork() without exec() while they communicate: forks WAY ROUNDS END THREADS. The children
 * do not use MPI. END is how they end: "exit" runs the handlers of exit(), "_exit" none, "killed", "waits" outlives the
 * rank, "mixed" all of them. The data is checked; rank 0 prints "whole".
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG = 40000, WRONG = 70 };
static int rank, size;

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    _exit(WRONG);
}

static void child_end(const char *end, int round)
{
    static const char *const ends[] = { "exit", "_exit", "killed", "waits" };
    if (strcmp(end, "mixed") == 0)
        end = ends[round % 4];
    if (strcmp(end, "exit") == 0)
        exit(0);
    if (strcmp(end, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(end, "waits") == 0)
        for (;;)
            pause();
    _exit(0);
}

/* The child writes into its copy of what the rank uses. */
static void fork_one(const char *end, int round, int *memory)
{
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        for (int i = 0; i < LONG; i++)
            memory[i] = -1;
        child_end(end, round);
    }
    if (round % 3 == 0 && strcmp(end, "waits") != 0 && (strcmp(end, "mixed") != 0 || round % 4 != 3))
        must(waitpid(child, NULL, 0) == child, "waitpid");
}

/* A child is forked while messages are under way. */
static void communicate(MPI_Comm comm, const char *end, int round)
{
    static int out[LONG], in[LONG], sum[LONG];
    int next = (rank + 1) % size, before = (rank + size - 1) % size, count = round % 2 ? LONG : 10;
    MPI_Request requests[2], reduction;
    for (int i = 0; i < count; i++)
        out[i] = rank + i + round;
    MPI_Irecv(in, count, MPI_INT, before, round, comm, &requests[0]);
    MPI_Isend(out, count, MPI_INT, next, round, comm, &requests[1]);
    MPI_Iallreduce(out, sum, count, MPI_INT, MPI_SUM, comm, &reduction);
    if (round % size == rank)
        fork_one(end, round, in);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        must(in[i] == before + i + round, "a message");
        must(sum[i] == size * (i + round) + size * (size - 1) / 2, "a sum");
    }
}

static void in_session(const char *end, int round)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "forks", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    communicate(comm, end, round);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

static void in_window(const char *end, int round)
{
    int *base, got = -1, value = 1000 * round + rank, next = (rank + 1) % size;
    MPI_Win win;
    MPI_Win_allocate(LONG * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    MPI_Put(&value, 1, MPI_INT, next, 3, 1, MPI_INT, win);
    if (round % size == rank) {
        int *own = malloc(LONG * sizeof *own); /* shared memory is the child's, too */
        must(own != NULL, "malloc");
        fork_one(end, round, own);
        free(own);
    }
    MPI_Win_flush(next, win);
    MPI_Get(&got, 1, MPI_INT, next, 3, 1, MPI_INT, win);
    MPI_Win_flush(next, win);
    must(got == value, "a put and a get");
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    int sessions = strcmp(argv[1], "sessions") == 0, windows = strcmp(argv[1], "windows") == 0, provided;
    MPI_Init_thread(&argc, &argv, atoi(argv[4]) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0, rounds = atoi(argv[2]); round < rounds; round++)
        if (sessions)
            in_session(argv[3], round);
        else if (windows)
            in_window(argv[3], round);
        else
            communicate(MPI_COMM_WORLD, argv[3], round);
    MPI_Finalize();
    if (rank == 0)
        puts("whole");
    return 0;
}
