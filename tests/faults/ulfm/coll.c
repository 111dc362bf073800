/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * Each collective of a communicator with a dead member fails with MPIX_ERR_PROC_FAILED on all living ones, in every
 * form: begun after the death, begun before it (nonblocking, persistent), and whatever is the root. Communicators
 * without the dead one work.
 */
#include "collectives.h"

static int dead;

/* The victim takes no part in these, which are begun before it dies. */
static void begin_each(MPI_Comm *comms, MPI_Request *begun, int form, int span)
{
    for (int which = 0; which < ALL; which++) {
        OK(coll_start(which, form, span, which % 2 ? dead : 0, comms[which], &begun[which]));
        if (form == PERSISTENT)
            OK(MPI_Start(&begun[which]));
    }
}

static void end_each(MPI_Request *begun)
{
    for (int which = 0; which < ALL; which++) {
        int class = class_of(MPI_Wait(&begun[which], MPI_STATUS_IGNORE));
        /* a rank that only sends may have done its part, and so may one that the dead has no edge to */
        int may_be_done = which == BCAST || which == GATHER || which == GATHERV || which == SCATTER ||
                          which == SCATTERV || which == REDUCE || which == SCAN || which == EXSCAN || which >= PLAIN;
        expect_at(__LINE__, class == MPIX_ERR_PROC_FAILED || (may_be_done && class == MPI_SUCCESS),
                  "collective %d that was begun before: class %d", which, class);
    }
}

static void after(MPI_Comm *comms, int spans, const int *span)
{
    for (int which = 0; which < ALL; which++)
        for (int form = 0; form < FORMS; form++)
            for (int i = 0; i < spans; i++)
                for (int root = 0; root < size; root += size - 1) {
                    coll_prepare(span[i]);
                    int class = class_of(coll_run(which, form, span[i], root, comms[which]));
                    expect_at(__LINE__, class == MPIX_ERR_PROC_FAILED,
                              "collective %d, form %d, %d elements, root %d: class %d", which, form, span[i], root,
                              class);
                }
}

/* A group without the dead one works in full. */
static void living(MPI_Comm comm)
{
    for (int which = 0; which < PLAIN; which++)
        for (int form = 0; form < FORMS; form++) {
            coll_prepare(3);
            OK(coll_run(which, form, 3, 0, comm));
        }
    expect_works(comm);
}

int main(int argc, char **argv)
{
    enum { SPANS = 2 };
    const int span[SPANS] = { 1, 5000 };
    MPI_Comm comms[2][ALL], part;
    MPI_Request begun[2][ALL];
    begin(&argc, &argv);
    dead = argc > 1 ? atoi(argv[1]) : size - 1;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == dead ? MPI_UNDEFINED : 0, 0, &part));
    for (int set = 0; set < 2; set++)
        for (int which = 0; which < ALL; which++)
            if (which < PLAIN)
                OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[set][which]));
            else
                OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){ 1 }, 0, &comms[set][which]));
    for (int which = 0; which < ALL; which++) { /* so that they have all that they need */
        coll_prepare(1);
        OK(coll_run(which, BLOCKING, 1, 0, comms[0][which]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    coll_prepare(1);
    for (int set = 0; set < 2 && rank != dead; set++)
        begin_each(comms[set], begun[set], NONBLOCKING + set, 1);
    kill_ranks(1u << dead);
    for (int set = 0; set < 2; set++) {
        end_each(begun[set]);
        for (int which = 0; which < ALL && set == 1; which++)
            OK(MPI_Request_free(&begun[set][which]));
        after(comms[set], SPANS, span);
    }
    living(part);
    OK(MPI_Comm_free(&part));
    for (int i = 0; i < 2 * ALL; i++)
        OK(MPI_Comm_free(&comms[0][i]));
    return end();
}
