/* SPDX-License-Identifier: BSD-3-Clause */
/* The part in C. */
#include <mpi.h>
#include <string.h>

/* What a program calls that was compiled with a header without macros. */
#undef MPI_Comm_c2f
#undef MPI_Comm_f2c
#undef MPI_Type_f2c
#undef MPI_Request_c2f
MPI_Fint MPI_Comm_c2f(MPI_Comm comm);
MPI_Comm MPI_Comm_f2c(MPI_Fint comm);
MPI_Datatype MPI_Type_f2c(MPI_Fint datatype);
MPI_Fint MPI_Request_c2f(MPI_Request request);
MPI_Fint PMPI_Comm_c2f(MPI_Comm comm);

/* A status goes through all three forms and comes back the same; the sentinels are refused. */
static int statuses_convert(const int *fortran)
{
    MPI_Status c, back;
    MPI_F08_status f08;
    MPI_Fint f[MPI_F_STATUS_SIZE];
    memset(&back, 0, sizeof back);
    if (MPI_Status_f2c(fortran, &c) || c.MPI_TAG != fortran[MPI_F_TAG] || c.MPI_SOURCE != fortran[MPI_F_SOURCE])
        return 0;
    if (MPI_Status_c2f08(&c, &f08) || f08.MPI_TAG != c.MPI_TAG || MPI_Status_f082f(&f08, f) ||
        memcmp(f, fortran, sizeof f) != 0)
        return 0;
    if (MPI_Status_f2f08(f, &f08) || MPI_Status_f082c(&f08, &back) || MPI_Status_c2f(&back, f) ||
        memcmp(&back, &c, sizeof c) != 0 || memcmp(f, fortran, sizeof f) != 0)
        return 0;
    return MPI_Status_f2c(MPI_F_STATUS_IGNORE, &c) == MPI_ERR_ARG &&
           MPI_Status_f2c(MPI_F_STATUSES_IGNORE, &c) == MPI_ERR_ARG &&
           MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &c) == MPI_ERR_ARG && PMPI_Status_c2f(&c, f) == MPI_SUCCESS;
}

int with_c(int comm, int datatype, int *status, int key);

int with_c(int comm, int datatype, int *status, int key)
{
    MPI_Comm c = MPI_Comm_f2c(comm);
    MPI_Status *s = (MPI_Status *)status;
    int bytes = 0, count = 0, found = 0;
    MPI_Aint *value = NULL;
    MPI_Type_size(MPI_Type_fromint(datatype), &bytes);
    MPI_Get_count(s, MPI_Type_fromint(datatype), &count);
    MPI_Comm_get_attr(c, key, &value, &found);
    if (bytes != 8 || count != 1 || s->MPI_TAG != 9 || !found || *value != 1234567890123)
        return 1;
    if (MPI_Comm_c2f(c) != comm || PMPI_Comm_c2f(c) != comm || MPI_Type_f2c(datatype) != MPI_Type_fromint(datatype) ||
        MPI_Request_c2f(MPI_REQUEST_NULL) != MPI_Request_toint(MPI_REQUEST_NULL) || !statuses_convert(status))
        return 2;
    MPI_Comm_set_attr(c, key, (void *)4096);
    s->MPI_TAG = 77;
    MPI_Status_set_elements(s, MPI_INT, 5);
    return 0;
}
