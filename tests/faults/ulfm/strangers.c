/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/*
 * Communicators of several jobs, each of which the World spawns as one process: the death of such a process is known by
 * the connection to it alone. Each job that dies has sent a first message to one rank at most.
 *
 * - One dies after the communicator was revoked: the others agree all the same.
 * - One dies while another communicator is made of the same processes.
 * - One dies while the others wait for a message of any source, and while they probe for one.
 */
#include "ulfm.h"

#include <time.h>

enum { TAG_GO = 7, TAG_NONE = 8 };

static char **arguments;

/* All processes of `*all`, and one more job of one process, which is the last. */
static void join_one(MPI_Comm *all)
{
    MPI_Comm inter, merged;
    OK(MPI_Comm_spawn(arguments[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, *all, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Intercomm_merge(inter, 0, &merged));
    OK(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    OK(MPI_Comm_free(&inter));
    if (*all != MPI_COMM_WORLD)
        OK(MPI_Comm_free(all));
    *all = merged;
}

static int last_of(MPI_Comm comm)
{
    int of = 0;
    OK(MPI_Comm_size(comm, &of));
    return of - 1;
}

/* What is left of `*all`, without its last process, which has died. */
static void leave_behind(MPI_Comm *all)
{
    MPI_Comm left;
    OK(MPIX_Comm_shrink(*all, &left));
    expect_living(*all, left, 1u << last_of(*all));
    OK(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
    expect_works(left);
    OK(MPI_Comm_free(all));
    *all = left;
}

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L }, NULL);
}

/* The last process dies, once all of the World have come here. Only the first one tells it so. */
static void last_dies(MPI_Comm all, int me)
{
    int last = last_of(all);
    if (me != last)
        OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0)
        OK(MPI_Send(NULL, 0, MPI_INT, last, TAG_GO, all));
    if (me == last) {
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, TAG_GO, all, MPI_STATUS_IGNORE));
        die();
    }
}

static void after_revocation(MPI_Comm *all, int me)
{
    MPI_Comm other;
    int revoked = 0, flag = 7;
    OK(MPI_Comm_dup(*all, &other));
    OK(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    if (me == 0)
        OK(MPIX_Comm_revoke(other));
    while (!revoked)
        OK(MPIX_Comm_is_revoked(other, &revoked));
    last_dies(*all, me);
    FAILS(MPIX_Comm_agree(other, &flag));
    EXPECT(flag == 7);
    EXPECT(failures_of(other) == 1);
    OK(MPI_Comm_free(&other));
    leave_behind(all);
}

/* The last process gives its part to a communicator that is started, and dies. */
static void before_making(MPI_Comm *all, int me)
{
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Request request;
    int flag = 5;
    if (me != last_of(*all))
        OK(MPI_Barrier(MPI_COMM_WORLD));
    int made = MPI_Comm_idup(*all, &other, &request) == MPI_SUCCESS;
    if (me == last_of(*all))
        die();
    pause_ms(200);
    made = made && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    int every = made;
    FAILS(MPIX_Comm_agree(*all, &every));
    EXPECT(acknowledge(*all) == 1);
    if (every) {
        OK(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
        FAILS(MPIX_Comm_agree(other, &flag));
        EXPECT(flag == 5);
        FAILS(MPI_Barrier(other));
    }
    if (made)
        OK(MPI_Comm_free(&other));
    leave_behind(all);
}

static void any_source(MPI_Comm *all, int me, int polls)
{
    int found = 0, code = MPI_SUCCESS;
    last_dies(*all, me);
    if (polls)
        while (code == MPI_SUCCESS && !found)
            code = MPI_Iprobe(MPI_ANY_SOURCE, TAG_NONE, *all, &found, MPI_STATUS_IGNORE);
    else
        code = MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, TAG_NONE, *all, MPI_STATUS_IGNORE);
    FAILS(code);
    EXPECT(failures_of(*all) == 1);
    leave_behind(all);
}

/* A job that stays takes part in all that follows, and one that dies in what kills it: `step` is the next. */
static void go_through(MPI_Comm all, int step)
{
    enum { STEPS = 6 };
    int me;
    OK(MPI_Comm_rank(all, &me));
    for (; step < STEPS; step++) {
        OK(MPI_Bcast(&step, 1, MPI_INT, 0, all)); /* one that joins learns where the others are */
        switch (step) {
        case 1: after_revocation(&all, me); break;
        case 2: before_making(&all, me); break;
        case 3: any_source(&all, me, 0); break;
        case 4: any_source(&all, me, 1); break;
        default: break; /* the job that has joined stays */
        }
        OK(MPI_Comm_rank(all, &me));
        if (step < STEPS - 1)
            join_one(&all);
    }
    OK(MPI_Reduce(me == 0 ? MPI_IN_PLACE : &failed, &failed, 1, MPI_INT, MPI_MAX, 0, all)); /* the World tells */
    if (all != MPI_COMM_WORLD)
        OK(MPI_Comm_disconnect(&all));
}

int main(int argc, char **argv)
{
    MPI_Comm parent, all = MPI_COMM_WORLD;
    begin(&argc, &argv);
    arguments = argv;
    MPI_Comm_get_parent(&parent);
    int child = parent != MPI_COMM_NULL;
    if (child) {
        OK(MPI_Intercomm_merge(parent, 1, &all));
        OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
        OK(MPI_Comm_free(&parent));
    }
    go_through(all, 0);
    if (!child)
        return end();
    MPI_Finalize();
    return failed;
}
