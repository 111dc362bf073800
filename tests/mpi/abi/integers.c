/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles as integers: constants keep their value, other handles survive the conversion in both directions, and
 * functions refuse those of freed objects, of objects of another kind, and of none.
 */
/* ranks: 1 */
#include <assert.h>
#include <limits.h>
#include <mpi-ext.h>
#include <stdint.h>

enum { MANY = 5000 };

static void constants(void)
{
    assert(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
    assert(MPI_Type_toint(MPI_BYTE) == 0x247 && MPI_Type_fromint(0x247) == MPI_BYTE);
    assert(MPI_Errhandler_toint(MPI_ERRORS_RETURN) == 0x143);
    assert(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    assert(MPI_Group_fromint(MPI_Group_toint(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
    assert(MPI_Info_fromint(MPI_Info_toint(MPI_INFO_ENV)) == MPI_INFO_ENV);
    assert(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    assert(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    assert(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    assert(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    assert(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
}

/* The C side of a library that Fortran calls. */
static void fortran(void)
{
    MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_WORLD), group = MPI_Group_c2f(MPI_GROUP_EMPTY), type = MPI_Type_c2f(MPI_INT);
    assert(MPI_Comm_f2c(comm) == MPI_COMM_WORLD && MPI_Group_f2c(group) == MPI_GROUP_EMPTY);
    assert(MPI_Type_f2c(type) == MPI_INT && MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    assert(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    assert(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    assert(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    assert(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)) == MPI_INFO_ENV);
    assert(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    assert(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    assert(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
}

static void bad_ones(void)
{
    int here;

    assert(MPI_Comm_fromint(-1) == MPI_COMM_NULL && MPI_Comm_fromint(INT_MIN) == MPI_COMM_NULL);
    assert(MPI_Comm_toint((MPI_Comm)&here) == MPI_Comm_toint(MPI_COMM_NULL));
}

static void refused(void)
{
    int size;

    assert(MPI_Comm_size(MPI_Comm_fromint(INT_MAX), &size) == MPI_ERR_COMM);
    assert(MPI_Comm_size(MPI_Comm_fromint(0x1000), &size) == MPI_ERR_COMM);
    assert(MPI_Comm_size(MPI_Comm_fromint(0xfff), &size) == MPI_ERR_COMM);
}

static void there_and_back(void)
{
    static MPI_Datatype types[MANY];
    static int integers[MANY];
    int size;

    for (int i = 0; i < MANY; i++) {
        MPI_Type_contiguous(i, MPI_INT, &types[i]);
        integers[i] = MPI_Type_toint(types[i]);
        assert(integers[i] >= 0x1000 && integers[i] == MPI_Type_toint(types[i]));
    }
    for (int i = 0; i < MANY; i++) {
        assert(MPI_Type_fromint(integers[i]) == types[i]);
        assert(MPI_Comm_size(MPI_Comm_fromint(integers[i]), &size) == MPI_ERR_COMM); /* of another kind */
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Type_free(&types[i]);
        assert(MPI_Type_size(MPI_Type_fromint(integers[i]), &size) == MPI_ERR_TYPE);
    }
}

/* What a binding computes by itself is what the functions give. */
static void layout(void)
{
    const MPI_Aint *base;
    MPI_Info infos[100];
    int first, unit, ignored;

    assert(MPIX_Handle_layout(NULL, &first, &unit) == MPI_ERR_ARG);
    assert(MPIX_Handle_layout(&base, &first, &unit) == MPI_SUCCESS && *base != 0 && first == 0x1000);
    for (int i = 0; i < 100; i++) {
        MPI_Info_create(&infos[i]);
        int number = MPI_Info_toint(infos[i]);
        assert(number >= first && (MPI_Info)(intptr_t)(*base + (MPI_Aint)(number - first) * unit) == infos[i]);
    }
    for (int i = 0; i < 100; i++)
        MPI_Info_free(&infos[i]);
    for (int n = 1; n < first; n++) /* before the first object there is none */
        assert(MPI_Info_get_nkeys((MPI_Info)(intptr_t)(*base - (MPI_Aint)n * unit), &ignored) == MPI_ERR_INFO);
}

int main(int argc, char **argv)
{
    constants();
    fortran();
    bad_ones();
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    constants();
    bad_ones();
    refused();
    there_and_back();
    layout();
    refused();
    MPI_Finalize();
    return 0;
}
