/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the Fortran interfaces cost: 8 bytes, two ranks, the same calls from C, mpi_f08, mpi and mpif.h in turn.
 * On MPI_COMM_WORLD and on a communicator of the program. Prints the time of each and its ratio to that of C. The times
 * are those of the quickest twentieth of the turns, which are short, so other work of the machine changes them little.
 * With one rank, MPI_Allreduce alone. `least` has the procedures of mpi_f08 in a form that checks nothing and works for
 * these calls alone: what the compiler's descriptors and arguments by reference cost any library.
 */
#include <ISO_Fortran_binding.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi.h"

enum { ROUNDS = 2001, TURNS = 200, SHAPES = 3, INTERFACES = 5 };

void block_f08(int shape, int turns, int rank, int comm);
void block_mpi(int shape, int turns, int rank, int comm);
void block_mpif(int shape, int turns, int rank, int comm);
void block_least(int shape, int turns, int rank, int comm);

/* The communicator of the current calls, as no conversion of a handle is counted. */
static MPI_Comm least_comm;

void least_send(const CFI_cdesc_t *buf, const int *count, const int *datatype, const int *dest, const int *tag,
                const int *comm, int *ierror);
void least_send(const CFI_cdesc_t *buf, const int *count, const int *datatype, const int *dest, const int *tag,
                const int *comm, int *ierror)
{
    (void)comm, (void)ierror;
    MPI_Send(buf->base_addr, *count, (MPI_Datatype)(uintptr_t)(unsigned)*datatype, *dest, *tag, least_comm);
}

void least_recv(const CFI_cdesc_t *buf, const int *count, const int *datatype, const int *source, const int *tag,
                const int *comm, MPI_Status *status, int *ierror);
void least_recv(const CFI_cdesc_t *buf, const int *count, const int *datatype, const int *source, const int *tag,
                const int *comm, MPI_Status *status, int *ierror)
{
    (void)comm, (void)status, (void)ierror;
    MPI_Recv(buf->base_addr, *count, (MPI_Datatype)(uintptr_t)(unsigned)*datatype, *source, *tag, least_comm,
             MPI_STATUS_IGNORE);
}

void least_allreduce(const CFI_cdesc_t *sendbuf, const CFI_cdesc_t *recvbuf, const int *count, const int *datatype,
                     const int *op, const int *comm, int *ierror);
void least_allreduce(const CFI_cdesc_t *sendbuf, const CFI_cdesc_t *recvbuf, const int *count, const int *datatype,
                     const int *op, const int *comm, int *ierror)
{
    (void)comm, (void)ierror;
    MPI_Allreduce(sendbuf->base_addr, recvbuf->base_addr, *count, (MPI_Datatype)(uintptr_t)(unsigned)*datatype,
                  (MPI_Op)(uintptr_t)(unsigned)*op, least_comm);
}

static void block_c(int shape, int turns, int rank, int comm)
{
    MPI_Aint one = rank, other;
    MPI_Comm c_comm = MPI_Comm_fromint(comm);
    MPI_Request requests[2];
    for (int i = 0; i < turns; i++) {
        if (shape == 2) {
            MPI_Allreduce(&one, &other, 1, MPI_AINT, MPI_MAX, c_comm);
        } else if (shape == 1) {
            MPI_Irecv(&other, 1, MPI_AINT, 1 - rank, 3, c_comm, &requests[0]);
            MPI_Isend(&one, 1, MPI_AINT, 1 - rank, 3, c_comm, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else if (rank == 0) {
            MPI_Send(&one, 1, MPI_AINT, 1, 3, c_comm);
            MPI_Recv(&other, 1, MPI_AINT, 1, 3, c_comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&other, 1, MPI_AINT, 0, 3, c_comm, MPI_STATUS_IGNORE);
            MPI_Send(&one, 1, MPI_AINT, 0, 3, c_comm);
        }
    }
}

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double undisturbed(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 20];
}

static const struct {
    const char *name;
    void (*block)(int shape, int turns, int rank, int comm);
} interfaces[INTERFACES] = {
    { "C", block_c }, { "mpi_f08", block_f08 }, { "mpi", block_mpi }, { "mpif.h", block_mpif }, { "least", block_least }
};

static void measure(int shape, int rank, MPI_Comm comm, const char *which)
{
    static const char *const shapes[SHAPES] = { "MPI_Send + MPI_Recv", "MPI_Isend + MPI_Irecv + MPI_Waitall",
                                                "MPI_Allreduce" };
    static double time[INTERFACES][ROUNDS];
    double each[INTERFACES];
    least_comm = comm;
    for (int round = 0; round < ROUNDS; round++) {
        for (int turn = 0; turn < INTERFACES; turn++) {
            int i = (round + turn) % INTERFACES;
            MPI_Barrier(comm);
            double began = MPI_Wtime();
            if (shape != 1 || interfaces[i].block != block_least)
                interfaces[i].block(shape, TURNS, rank, MPI_Comm_toint(comm));
            time[i][round] = (MPI_Wtime() - began) / TURNS;
        }
    }
    for (int i = 0; i < INTERFACES; i++)
        each[i] = undisturbed(time[i]);
    for (int i = 0; i < INTERFACES - (shape == 1) && rank == 0; i++)
        printf("%-36s %-16s %-8s %7.1f ns  %.3f\n", shapes[shape], which, interfaces[i].name, each[i] * 1e9,
               each[i] / each[0]);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 2) {
        fprintf(stderr, "interfaces: start 1 or 2 ranks, not %d\n", size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    for (int shape = size == 1 ? 2 : 0; shape < SHAPES; shape++) {
        measure(shape, rank, MPI_COMM_WORLD, "predefined");
        measure(shape, rank, own, "of the program");
    }
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
