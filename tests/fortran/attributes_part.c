/* SPDX-License-Identifier: BSD-3-Clause */
/* The part in C. */
#include <mpi.h>
#include <stdint.h>

int c_key(int numbers);
void c_set(int comm, int key, intptr_t address);
intptr_t c_get(int comm, int key, int numbers);
intptr_t c_get_type(int datatype, int key);
intptr_t c_get_win(int win, int key);
intptr_t c_deleted(void);

static intptr_t last_deleted;

static int delete_number(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    last_deleted = *(const MPI_Aint *)value;
    return MPI_SUCCESS;
}

/* A key of C whose delete callback takes values for pointers to numbers, or with the predefined callbacks. */
int c_key(int numbers)
{
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, numbers ? delete_number : MPI_COMM_NULL_DELETE_FN, &key, NULL);
    return key;
}

intptr_t c_deleted(void)
{
    return last_deleted;
}

void c_set(int comm, int key, intptr_t address)
{
    MPI_Comm_set_attr(MPI_Comm_fromint(comm), key, (void *)address);
}

static intptr_t number_at(const void *value, int found)
{
    return found ? *(const MPI_Aint *)value : -998;
}

intptr_t c_get(int comm, int key, int numbers)
{
    void *value = NULL;
    int found = 0;
    MPI_Comm_get_attr(MPI_Comm_fromint(comm), key, &value, &found);
    return numbers ? number_at(value, found) : (intptr_t)value;
}

intptr_t c_get_type(int datatype, int key)
{
    void *value = NULL;
    int found = 0;
    MPI_Type_get_attr(MPI_Type_fromint(datatype), key, &value, &found);
    return number_at(value, found);
}

intptr_t c_get_win(int win, int key)
{
    void *value = NULL;
    int found = 0;
    MPI_Win_get_attr(MPI_Win_fromint(win), key, &value, &found);
    return number_at(value, found);
}
