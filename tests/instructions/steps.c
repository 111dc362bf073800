/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast paths through the library, one call in a function of its own, for callgrind to count (check_instructions).
 *
 *     mpiexec -n 2 valgrind --tool=callgrind ... steps
 *
 * To make the counts reproducible, nothing that is counted waits: a message is there before its receive, and rank 1
 * enters a collective when rank 0 sleeps in it. The ranks signal each other through a file that both map.
 */
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WARM = 40, ROUNDS = 20, WINDOW = 64 };

static struct shared {
    _Atomic int turn[2]; /* how far each rank has come */
    _Atomic int pid;     /* rank 0's */
} * shared;
static int rank, turns;
static double out = 1, in, many[WINDOW], pair[2] = { 1, 2 }, both[2];
static MPI_Win win, open_win; /* `open_win`: with a shared lock on all ranks */

/* --- what is counted ------------------------------------------------------------------------------------------- */

static void step_send(void)
{
    MPI_Send(&out, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
}

static void step_recv(void)
{
    MPI_Recv(&in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void step_isend_wait(void)
{
    MPI_Request request;
    MPI_Isend(&out, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void step_window_send(void)
{
    MPI_Request request[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(&many[i], 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &request[i]);
    MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
}

static void step_window_recv(void)
{
    MPI_Request request[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(&many[i], 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request[i]);
    MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
}

static void step_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void step_allreduce(void)
{
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void step_allgather(void)
{
    MPI_Allgather(&out, 1, MPI_DOUBLE, both, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void step_alltoall(void)
{
    MPI_Alltoall(pair, 1, MPI_DOUBLE, both, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void step_reduce_scatter(void)
{
    static const int counts[2] = { 1, 1 };
    MPI_Reduce_scatter(pair, &in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void step_bcast(void)
{
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void step_bcast_root(void)
{
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void step_reduce(void)
{
    MPI_Reduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
}

static void step_reduce_other(void)
{
    MPI_Reduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
}

static void step_scan(void)
{
    MPI_Scan(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void step_scan_first(void)
{
    MPI_Scan(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void step_ibcast(void)
{
    MPI_Request request;
    MPI_Ibcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void step_ibcast_root(void)
{
    MPI_Request request;
    MPI_Ibcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void step_gatherv(void)
{
    static const int counts[2] = { 1, 1 }, displs[2] = { 0, 1 };
    MPI_Gatherv(&out, 1, MPI_DOUBLE, both, counts, displs, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}

static void step_gatherv_other(void)
{
    MPI_Gatherv(&out, 1, MPI_DOUBLE, NULL, NULL, NULL, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}

static void step_alltoallv(void)
{
    static const int counts[2] = { 1, 1 }, displs[2] = { 0, 1 };
    MPI_Alltoallv(pair, counts, displs, MPI_DOUBLE, both, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void step_put(void)
{
    MPI_Put(&out, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, open_win);
}

static void step_accumulate(void)
{
    MPI_Accumulate(&out, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, MPI_SUM, open_win);
}

static void step_flush(void)
{
    MPI_Win_flush(rank, open_win);
}

static void step_lock_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Win_unlock(rank, win);
}

/* Callgrind counts while this runs, and then writes the counts. The code behind the call prevents a tail call. */
__attribute__((noinline, noclone)) void counted(void (*step)(void));
__attribute__((noinline, noclone)) void counted(void (*step)(void))
{
    step();
    __asm__ volatile("");
}

/* --- taking turns ---------------------------------------------------------------------------------------------- */

static void fail(const char *what)
{
    fprintf(stderr, "steps: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void share(void)
{
    char name[64] = "";
    int file = rank == 0 ? memfd_create("steps", MFD_CLOEXEC) : -1;
    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)getpid(), file);
    if (file >= 0 && ftruncate(file, sizeof *shared) != 0)
        fail("cannot make a file of a page");
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1)
        file = open(name, O_RDWR);
    shared = file >= 0 ? mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (shared == MAP_FAILED)
        fail("cannot share a page");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        shared->pid = getpid();
    close(file);
}

static void come(int peer, int turn)
{
    while (atomic_load(&shared->turn[peer]) < turn)
        sched_yield();
}

static void advance(void)
{
    atomic_store(&shared->turn[rank], ++turns);
}

static void meet(void)
{
    advance();
    come(1 - rank, turns);
}

/* Waits until rank 0 seems to sleep: all that it does is counted. */
static void come_to_the_sleeper(void)
{
    char path[64], state;
    snprintf(path, sizeof path, "/proc/%d/stat", atomic_load(&shared->pid));
    for (int seen = 0; seen < 10; seen += state == 'S') {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            fail("cannot read the state of rank 0");
        fclose(file);
        sched_yield();
    }
}

/* Rank 0 sends, and rank 1 receives what has arrived. */
static void message(void (*send)(void), void (*receive)(void))
{
    meet();
    if (rank == 0)
        counted(send);
    meet();
    if (rank == 1)
        counted(receive);
    meet();
}

/* Rank 1 comes last. */
static void collective(void (*body)(void))
{
    meet();
    if (rank == 1)
        come_to_the_sleeper();
    counted(body);
    meet();
}

/* Rank 0 sends, and rank 1 receives what has arrived. */
static void given(void (*giving)(void), void (*taking)(void))
{
    meet();
    if (rank == 0)
        counted(giving);
    meet();
    if (rank == 1)
        counted(taking);
    meet();
}

/* Rank 1 alone acts, on its own part of a window. */
static void own(void (*body)(void))
{
    meet();
    if (rank == 1)
        counted(body);
    meet();
}

static void make_windows(void)
{
    void *memory;
    MPI_Win_allocate(sizeof out, sizeof out, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_allocate(sizeof out, sizeof out, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &open_win);
    MPI_Win_lock_all(0, open_win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WARM; i++) {
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, 1 - rank, 1, &in, 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    share();
    make_windows();
    for (int i = 0; i < ROUNDS; i++) {
        message(step_send, step_recv);
        message(step_isend_wait, step_recv);
        message(step_window_send, step_window_recv);
        collective(step_barrier);
        collective(step_allreduce);
        collective(step_allgather);
        collective(step_alltoall);
        collective(step_reduce_scatter);
        collective(step_alltoallv);
        given(step_bcast_root, step_bcast);
        given(step_reduce_other, step_reduce);
        given(step_scan_first, step_scan);
        given(step_ibcast_root, step_ibcast);
        given(step_gatherv_other, step_gatherv);
        own(step_put);
        own(step_accumulate);
        own(step_flush);
        own(step_lock_unlock);
    }
    MPI_Win_unlock_all(open_win);
    MPI_Win_free(&open_win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
