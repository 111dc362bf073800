/* SPDX-License-Identifier: BSD-3-Clause */
/* The part in C. */
#include <mpi.h>

int with_c(int comm, int datatype, int *status, int key);

int with_c(int comm, int datatype, int *status, int key)
{
    MPI_Comm c = MPI_Comm_fromint(comm);
    MPI_Status *s = (MPI_Status *)status;
    int bytes = 0, count = 0, found = 0;
    MPI_Aint *value = NULL;
    MPI_Type_size(MPI_Type_fromint(datatype), &bytes);
    MPI_Get_count(s, MPI_Type_fromint(datatype), &count);
    MPI_Comm_get_attr(c, key, &value, &found);
    if (bytes != 8 || count != 1 || s->MPI_TAG != 9 || !found || *value != 1234567890123)
        return 1;
    MPI_Comm_set_attr(c, key, (void *)4096);
    s->MPI_TAG = 77;
    MPI_Status_set_elements(s, MPI_INT, 5);
    return 0;
}
