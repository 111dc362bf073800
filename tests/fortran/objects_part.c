/* SPDX-License-Identifier: BSD-3-Clause */
/* The part in C. */
#include <mpi.h>
#include <stdint.h>

int c_reduce(int comm, int op, int rank, int ranks);
int c_fails(int comm, int errhandler);
int c_uses_type(int datatype, intptr_t address);
int c_completes(int *request, int *status);
int c_makes(int kind);
int c_starts(int comm, int peer, int *buffer);
void c_sends(int comm, int peer);
int c_calls(void);
void c_initializes(void);

static int calls;

void c_initializes(void)
{
    MPI_Init(NULL, NULL);
}

int c_reduce(int comm, int op, int rank, int ranks)
{
    int mine[2] = { rank, -rank }, result[2];
    /* The callback knows MPI_INTEGER alone. */
    MPI_Allreduce(mine, result, 2, MPI_INTEGER, MPI_Op_fromint(op), MPI_Comm_fromint(comm));
    return result[0] != ranks - 1 || result[1] != 0;
}

int c_fails(int comm, int errhandler)
{
    MPI_Comm c = MPI_Comm_fromint(comm);
    int class = 0;
    MPI_Comm_set_errhandler(c, MPI_Errhandler_fromint(errhandler));
    int code = MPI_Send(&class, 1, MPI_INT, 0, -7, c);
    MPI_Error_class(code, &class);
    return class != MPI_ERR_TAG;
}

/* Reads by the addresses of the datatype, and writes by them. */
int c_uses_type(int datatype, intptr_t address)
{
    MPI_Datatype type = MPI_Type_fromint(datatype);
    MPI_Aint same = 0;
    int *first = (int *)address, place = 0;
    char bytes[16];
    MPI_Get_address(first, &same);
    if (same != address)
        return 1;
    MPI_Pack(MPI_BOTTOM, 1, type, bytes, sizeof bytes, &place, MPI_COMM_SELF);
    if (place != 16 || *(int *)bytes != 11 || *(double *)(bytes + 8) != 0.5)
        return 2;
    ((int *)bytes)[0]++;
    ((int *)bytes)[1]++;
    place = 0;
    MPI_Unpack(bytes, sizeof bytes, &place, MPI_BOTTOM, 1, type, MPI_COMM_SELF);
    return first[0] != 12 ? 3 : 0;
}

int c_completes(int *request, int *status)
{
    MPI_Request r = MPI_Request_fromint(*request);
    MPI_Status s;
    int count = 0;
    MPI_Wait(&r, &s);
    *request = MPI_Request_toint(r);
    MPI_Get_count(&s, MPI_INT, &count);
    return MPI_Status_c2f(&s, status) != MPI_SUCCESS || count != 2;
}

static void add(void *in, void *inout, int *length, MPI_Datatype *datatype)
{
    for (int i = 0; i < *length && *datatype == MPI_INTEGER; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void count_call(MPI_Comm *comm, int *code, ...)
{
    calls += *comm != MPI_COMM_NULL && *code != MPI_SUCCESS;
}

int c_calls(void)
{
    return calls;
}

int c_makes(int kind)
{
    MPI_Op op;
    MPI_Errhandler errhandler;
    MPI_Datatype datatype;
    switch (kind) {
    case 1: MPI_Op_create(add, 1, &op); return MPI_Op_toint(op);
    case 2: MPI_Comm_create_errhandler(count_call, &errhandler); return MPI_Errhandler_toint(errhandler);
    default:
        MPI_Type_vector(2, 1, 2, MPI_INT, &datatype);
        MPI_Type_commit(&datatype);
        return MPI_Type_toint(datatype);
    }
}

int c_starts(int comm, int peer, int *buffer)
{
    MPI_Request request;
    MPI_Irecv(buffer, 1, MPI_INT, peer, 8, MPI_Comm_fromint(comm), &request);
    return MPI_Request_toint(request);
}

/* A LOGICAL has the value of the compiler, which the library knows. */
void c_sends(int comm, int peer)
{
    MPI_Comm c = MPI_Comm_fromint(comm);
    int number = -5, yes = 0, no = 0, known = 0;
    float x = 0.5F, z[2] = { 1, -1 };
    double d = 0.25;
    MPI_Abi_get_fortran_booleans((int)sizeof yes, &yes, &no, &known);
    MPI_Send(&number, 1, MPI_INT, peer, 20, c);
    MPI_Send(&x, 1, MPI_FLOAT, peer, 21, c);
    MPI_Send(&d, 1, MPI_DOUBLE, peer, 22, c);
    MPI_Send(z, 1, MPI_C_FLOAT_COMPLEX, peer, 23, c);
    MPI_Send(&yes, 1, MPI_LOGICAL, peer, 24, c);
    MPI_Send("hello", 5, MPI_CHAR, peer, 25, c);
}
