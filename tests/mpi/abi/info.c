/* SPDX-License-Identifier: BSD-3-Clause */
/* The ABI's version and sizes, and what a Fortran binding registers once. */
/* ranks: 1 */
#include <assert.h>
#include <mpi.h>
#include <string.h>

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void holds(MPI_Info info, const char *key, const char *wanted)
{
    char value[64];
    int size = sizeof value, found;

    MPI_Info_get_string(info, key, &size, value, &found);
    assert(found && strcmp(value, wanted) == 0);
}

static void version_and_sizes(void)
{
    int major, minor;
    MPI_Info info;

    assert(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0);
    assert(MPI_Abi_get_info(&info) == MPI_SUCCESS);
    holds(info, "mpi_aint_size", sizeof(void *) == 8 ? "8" : "4");
    holds(info, "mpi_count_size", "8");
    holds(info, "mpi_offset_size", "8");
    MPI_Info_free(&info);
}

static void fortran_info(void)
{
    MPI_Info info;

    assert(MPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info == MPI_INFO_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", "8");
    assert(class_of(MPI_Abi_set_fortran_info(info)) == MPI_ERR_ABI); /* not the size of our MPI_INTEGER */
    MPI_Info_set(info, "mpi_integer_size", "4");
    MPI_Info_set(info, "mpi_real2_supported", "perhaps");
    assert(class_of(MPI_Abi_set_fortran_info(info)) == MPI_ERR_INFO_VALUE);
    MPI_Info_set(info, "mpi_real2_supported", "false");
    assert(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS);
    assert(class_of(MPI_Abi_set_fortran_info(info)) == MPI_ERR_ABI); /* only once */
    MPI_Info_free(&info);

    int keys;
    assert(MPI_Abi_get_fortran_info(&info) == MPI_SUCCESS);
    MPI_Info_get_nkeys(info, &keys);
    assert(keys == 2);
    holds(info, "mpi_integer_size", "4");
    holds(info, "mpi_real2_supported", "false");
    MPI_Info_free(&info);
}

static void fortran_booleans(void)
{
    int yes = -1, no = 0, got_yes = 7, got_no = 7, is_set;

    assert(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &is_set) == MPI_SUCCESS && !is_set && got_yes == 7);
    assert(MPI_Abi_set_fortran_booleans(4, &yes, &no) == MPI_SUCCESS);
    assert(class_of(MPI_Abi_set_fortran_booleans(4, &yes, &no)) == MPI_ERR_ABI);
    assert(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &is_set) == MPI_SUCCESS);
    assert(is_set && got_yes == -1 && got_no == 0);
    assert(MPI_Abi_get_fortran_booleans(8, &got_yes, &got_no, &is_set) == MPI_SUCCESS && !is_set);
    assert(class_of(MPI_Abi_set_fortran_booleans(3, &yes, &no)) == MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    version_and_sizes(); /* also before initialization */
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    version_and_sizes();
    fortran_info();
    fortran_booleans();
    MPI_Finalize();
    return 0;
}
