/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints: those of rank 0 are in use on all; what is not a hint is ignored; they stay until others are given. */
#include "files.h"

static MPI_File fh;

static int is(const char *key, const char *want)
{
    char value[200] = "";
    int flag = 0, length = sizeof value;
    MPI_Info used;
    CHECK_OK(MPI_File_get_info(fh, &used));
    MPI_Info_get_string(used, key, &length, value, &flag);
    MPI_Info_free(&used);
    return want ? flag && strcmp(value, want) == 0 : !flag;
}

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    files_begin();
    MPI_Info info = info_of("cb_buffer_size", mtest_rank ? "8192" : "16384");
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "perhaps");
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "of_my_own", "kept to myself");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, files_name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    MPI_Info_free(&info);
    CHECK(is("cb_buffer_size", "16384") && is("romio_cb_write", "enable") && is("romio_cb_read", "automatic"));
    CHECK(is("cb_nodes", "1") && is("of_my_own", NULL) && is("romio_ds_write", "disable"));
    CHECK(is("mpi_memory_alloc_kinds", "mpi,system") || is("mpi_memory_alloc_kinds", "system,mpi"));
    info = info_of("cb_nodes", "100000");
    CHECK_OK(MPI_File_set_info(fh, info));
    MPI_Info_free(&info);
    char all[16];
    snprintf(all, sizeof all, "%d", mtest_size);
    CHECK(is("cb_nodes", all) && is("cb_buffer_size", "16384"));
    info = info_of("collective_buffering", "false");
    MPI_Info_set(info, "cb_buffer_size", "-5");
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", info));
    MPI_Info_free(&info);
    CHECK(is("romio_cb_write", "disable") && is("romio_cb_read", "disable") && is("cb_buffer_size", "16384"));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK(is("romio_cb_write", "disable"));
    CHECK_OK(MPI_File_set_info(fh, MPI_INFO_NULL));
    CHECK(is("romio_cb_write", "disable"));
    CHECK_OK(MPI_File_close(&fh));
    files_end();
    MTEST_END;
}
