/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same calls from C and from each Fortran interface, for callgrind to count (check_interfaces).
 *
 *     valgrind --tool=callgrind ... interfaces
 *
 * One process that sends to itself: what is counted is the code outside the C library, which is the same for any number
 * of ranks. Names are those of a call, the interface, and the communicator: predefined, or made by the program.
 */
#include <mpi.h>

enum { WARM = 3, ROUNDS = 6, TAG = 3, WORLD = 0, OWN = 1 };

/* Each calls one procedure, on the communicator that begin() has chosen. */
#define STEPS(interface)                                                                                               \
    void step_##interface##_send(void), step_##interface##_recv(void), step_##interface##_isend(void);                 \
    void step_##interface##_irecv(void), step_##interface##_wait(void), step_##interface##_waitall(void);              \
    void step_##interface##_bcast(void), step_##interface##_allreduce(void), step_##interface##_barrier(void);         \
    void step_##interface##_allgather(void);
STEPS(c)
STEPS(f08)
STEPS(mpi)
STEPS(mpif)
void step_f08_send_array(void), step_f08_allreduce_array(void);
void step_floor_send(void), step_floor_allreduce(void), step_floor_send_array(void), step_floor_allreduce_array(void);

/* The state of interfaces.f90's steps, and of C's. */
extern MPI_Fint steps_f08_comm, steps_mpi_comm, steps_mpif_comm;
static double out = 1, in, all[1];
static MPI_Comm comm;
static MPI_Request requests[2];

void step_c_send(void)
{
    MPI_Send(&out, 1, MPI_DOUBLE, 0, TAG, comm);
}

void step_c_recv(void)
{
    MPI_Recv(&in, 1, MPI_DOUBLE, 0, TAG, comm, MPI_STATUS_IGNORE);
}

void step_c_isend(void)
{
    MPI_Isend(&out, 1, MPI_DOUBLE, 0, TAG, comm, &requests[0]);
}

void step_c_irecv(void)
{
    MPI_Irecv(&in, 1, MPI_DOUBLE, 0, TAG, comm, &requests[1]);
}

void step_c_wait(void)
{
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

void step_c_waitall(void)
{
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

void step_c_bcast(void)
{
    MPI_Bcast(&out, 1, MPI_DOUBLE, 0, comm);
}

void step_c_allreduce(void)
{
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, comm);
}

void step_c_allgather(void)
{
    MPI_Allgather(&out, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, comm);
}

void step_c_barrier(void)
{
    MPI_Barrier(comm);
}

/* Procedures with the interface of MPI's that do nothing: what a call costs before the library is entered. */
void floor_send(const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
                const MPI_Fint *tag, const MPI_Fint *c, const MPI_Fint *ierror);
void floor_send(const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
                const MPI_Fint *tag, const MPI_Fint *c, const MPI_Fint *ierror)
{
    (void)buf, (void)count, (void)datatype, (void)dest, (void)tag, (void)c, (void)ierror;
}

void floor_allreduce(const void *sendbuf, const void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
                     const MPI_Fint *op, const MPI_Fint *c, const MPI_Fint *ierror);
void floor_allreduce(const void *sendbuf, const void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
                     const MPI_Fint *op, const MPI_Fint *c, const MPI_Fint *ierror)
{
    (void)sendbuf, (void)recvbuf, (void)count, (void)datatype, (void)op, (void)c, (void)ierror;
}

/* Callgrind counts while one of these runs, and then writes the counts. The code behind prevents a tail call. */
__attribute__((noinline, noclone)) void counted_world(void (*step)(void));
__attribute__((noinline, noclone)) void counted_world(void (*step)(void))
{
    step();
    __asm__ volatile("");
}

__attribute__((noinline, noclone)) void counted_own(void (*step)(void));
__attribute__((noinline, noclone)) void counted_own(void (*step)(void))
{
    step();
    __asm__ volatile("" ::"r"(step));
}

static void (*counted)(void (*)(void));

static void begin(MPI_Comm chosen, int which)
{
    comm = chosen;
    steps_f08_comm = steps_mpi_comm = steps_mpif_comm = MPI_Comm_toint(chosen);
    counted = which == WORLD ? counted_world : counted_own;
}

/* Half a message, which is not counted. */
static void send_one(void)
{
    MPI_Send(&out, 1, MPI_DOUBLE, 0, TAG, comm);
}

static void receive_one(void)
{
    MPI_Recv(&in, 1, MPI_DOUBLE, 0, TAG, comm, MPI_STATUS_IGNORE);
}

struct interface {
    void (*send)(void), (*recv)(void), (*isend)(void), (*irecv)(void), (*wait)(void), (*waitall)(void), (*bcast)(void),
        (*allreduce)(void), (*allgather)(void), (*barrier)(void);
};

#define INTERFACE(name)                                                                                                \
    {                                                                                                                  \
        step_##name##_send, step_##name##_recv, step_##name##_isend, step_##name##_irecv, step_##name##_wait,          \
            step_##name##_waitall, step_##name##_bcast, step_##name##_allreduce, step_##name##_allgather,              \
            step_##name##_barrier                                                                                      \
    }
static const struct interface interfaces[] = { INTERFACE(c), INTERFACE(f08), INTERFACE(mpi), INTERFACE(mpif) };

static void measure(const struct interface *i)
{
    counted(i->send);
    receive_one();
    send_one();
    counted(i->recv);
    counted(i->isend);
    receive_one();
    counted(i->wait);
    counted(i->irecv);
    counted(i->isend);
    counted(i->waitall);
    counted(i->bcast);
    counted(i->allreduce);
    counted(i->allgather);
    counted(i->barrier);
}

int main(int argc, char **argv)
{
    MPI_Comm own;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    for (int round = 0; round < ROUNDS; round++)
        for (int which = WORLD; which <= OWN; which++) {
            begin(which == WORLD ? MPI_COMM_WORLD : own, which);
            for (unsigned i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++)
                measure(&interfaces[i]);
            counted(step_f08_send_array);
            receive_one();
            counted(step_f08_allreduce_array);
            counted(step_floor_send);
            counted(step_floor_allreduce);
            counted(step_floor_send_array);
            counted(step_floor_allreduce_array);
        }
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
