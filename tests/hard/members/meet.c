/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: meet SEED CREATIONS
 * Communicators are created from groups while allocations of some members fail, one of each. All members must agree
 * that the creation has succeeded or failed, and none may leave the others waiting: no process ends before the last.
 * All draw the same random numbers, so each knows which member fails when.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum { RANKS_MAX = 16, ALLOCATIONS = 60 };

static int rank, size, failures, wrong;

static unsigned draw(unsigned below)
{
    static unsigned long long state;
    if (below == 0) {
        state = strtoull(getenv("MEET_SEED"), NULL, 10) * 2 + 1;
        return 0;
    }
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}

static void expect(int condition, int creation, const char *what)
{
    if (condition)
        return;
    printf("wrong: creation %d, rank %d: %s\n", creation, rank, what);
    fflush(stdout);
    wrong = 1;
}

static MPI_Group part(MPI_Group whole, int odd)
{
    int ranks[RANKS_MAX], count = 0;
    MPI_Group group;
    for (int i = odd; i < size; i += 2)
        ranks[count++] = i;
    MPI_Group_incl(whole, count, ranks, &group);
    return group;
}

static int create(MPI_Group whole, int inter, int nth, MPI_Comm *comm)
{
    static const char tag[] = "org.example.meet";
    MPI_Group local = part(whole, rank % 2), remote = part(whole, !(rank % 2));
    pl_memory_fail_at(nth);
    int code = inter
                   ? MPI_Intercomm_create_from_groups(local, 0, remote, 0, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
                   : MPI_Comm_create_from_group(whole, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, comm);
    pl_memory_fail_at(0);
    MPI_Group_free(&local);
    MPI_Group_free(&remote);
    return code;
}

/* The sum of all ranks; of an intercommunicator, of the remote ones. */
static void use(MPI_Comm comm, int inter, int creation)
{
    int sum = -1, right = 0;
    for (int i = 0; i < size; i++)
        right += !inter || i % 2 != rank % 2 ? i : 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == right, creation, "a wrong sum");
    MPI_Comm_free(&comm);
}

/* What the members have got, compared over a communicator that is made without failures. */
static void compare(MPI_Group whole, int class, int creation)
{
    int classes[RANKS_MAX] = { 0 };
    MPI_Comm all;
    if (MPI_Comm_create_from_group(whole, "org.example.compare", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all)) {
        expect(0, creation, "no communicator afterwards");
        return;
    }
    MPI_Allgather(&class, 1, MPI_INT, classes, 1, MPI_INT, all);
    for (int i = 0; i < size; i++)
        expect(classes[i] == class, creation, "the members do not agree");
    MPI_Comm_free(&all);
}

static void one(MPI_Group whole, int creation)
{
    int inter = size > 1 && draw(2), chosen = 0, class = MPI_SUCCESS, length;
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI_Comm comm = MPI_COMM_NULL;
    for (int i = 0; i < size; i++) {
        unsigned often = draw(3), nth = draw(2) ? 1 : 1 + draw(ALLOCATIONS);
        if (i == rank && often == 0)
            chosen = (int)nth;
    }
    int code = create(whole, inter, chosen, &comm);
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
        expect(class == MPI_ERR_NO_MEM && strstr(text, "in the job) has failed: ") != NULL, creation, text);
        failures++;
    }
    compare(whole, class, creation);
    if (code == MPI_SUCCESS)
        use(comm, inter, creation);
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group whole;
    if (argc != 3)
        return 2;
    setenv("MEET_SEED", argv[1], 1);
    draw(0);
    for (int i = 0; i < atoi(argv[2]); i++) { /* the first of each session opens the listener */
        if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) ||
            MPI_Group_from_session_pset(session, "mpi://WORLD", &whole))
            return 1;
        MPI_Group_rank(whole, &rank);
        MPI_Group_size(whole, &size);
        for (int more = 0; more < 4; more++)
            one(whole, 4 * i + more);
        MPI_Group_free(&whole);
        MPI_Session_finalize(&session);
    }
    if (rank == 0)
        printf("%d creations failed\n", failures);
    return wrong;
}
