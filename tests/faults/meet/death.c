/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member of a group ends before or during the creation of a communicator: all waiting members get
 * MPI_ERR_PROC_ABORTED and its name; the others continue, with the same tag. Arguments: the rank that ends, when
 * ("before" or "inside"), what is created ("group", or "inter": two halves, each led by its last member).
 *
 * One living rank, not a leader, takes no part in the first attempt, so that it cannot succeed.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Group world;
static int rank, size, failed;

static void check(int good, const char *what, const char *text)
{
    if (good)
        return;
    failed = 1;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, text);
}

static void *end_soon(void *unused)
{
    usleep(100000);
    kill(getpid(), SIGKILL);
    return unused;
}

static int make(int inter, const char *tag)
{
    MPI_Comm comm;
    MPI_Group low, high;
    int rc, half = size / 2, first = rank < half;
    if (!inter)
        return MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_range_incl(world, 1, (int[][3]){ { 0, half - 1, 1 } }, &low);
    MPI_Group_range_incl(world, 1, (int[][3]){ { half, size - 1, 1 } }, &high);
    rc = MPI_Intercomm_create_from_groups(first ? low : high, first ? half - 1 : size - half - 1, first ? high : low,
                                          first ? size - half - 1 : half - 1, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                          &comm);
    MPI_Group_free(&low);
    MPI_Group_free(&high);
    return rc;
}

static void go_on(int victim, const char *tag)
{
    MPI_Group rest;
    MPI_Comm comm;
    int sum = -1, rc;
    MPI_Group_excl(world, 1, &victim, &rest);
    rc = MPI_Comm_create_from_group(rest, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    check(rc == MPI_SUCCESS, "the rest", "cannot create a communicator");
    if (rc == MPI_SUCCESS) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        check(sum == size * (size - 1) / 2 - victim, "the rest", "do not add up");
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&rest);
}

int main(int argc, char **argv)
{
    MPI_Session session;
    pthread_t thread;
    char text[MPI_MAX_ERROR_STRING] = "", name[64];
    int class, length, victim = atoi(argv[1]), inside = strcmp(argv[2], "inside") == 0,
                       inter = argc > 3 && strcmp(argv[3], "inter") == 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_rank(world, &rank);
    MPI_Group_size(world, &size);
    int absent = inter ? (victim < size / 2 ? size / 2 : 0) : victim == 1 ? 2 : 1;
    if (rank == victim && !inside)
        kill(getpid(), SIGKILL);
    if (rank == victim)
        pthread_create(&thread, NULL, end_soon, NULL);
    if (rank != absent) {
        int rc = make(inter, "meeting");
        MPI_Error_class(rc, &class);
        MPI_Error_string(rc, text, &length);
        snprintf(name, sizeof name, inter ? "%d in the job" : "rank %d (%d in the job)", victim, victim);
        check(rc != MPI_SUCCESS && class == MPI_ERR_PROC_ABORTED, "wrong class", text);
        check(strstr(text, name) != NULL && strstr(text, "have ended") != NULL, "it does not name the ended process",
              text);
    }
    go_on(victim, "meeting");
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
    if (!failed)
        printf("good %d\n", rank);
    return failed;
}
