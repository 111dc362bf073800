/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split_type by resources (MPI-5.0 section 7.4.2), and the description of resources by
 * MPI_Get_hw_resource_info (10.1.2): types of hardware with their two names, process sets of one name and of several at
 * once, unknown names, errors.
 */
#include "mtest.h"

#include <stdbool.h>
#include <stdlib.h>

static bool shares; /* the transport shares memory: without it each process is alone */

static MPI_Info make(const char *key, const char *value)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    return info;
}

/* Splits by one key; returns the size of the new communicator, 0 for MPI_COMM_NULL. */
static int split(int type, const char *key, const char *value)
{
    MPI_Info info = make(key, value);
    MPI_Comm comm = MPI_COMM_WORLD;
    int size = 0, sum = 0;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, mtest_rank, info, &comm));
    CHECK_OK(MPI_Info_free(&info));
    if (comm == MPI_COMM_NULL)
        return 0;
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size);
    CHECK_OK(MPI_Comm_free(&comm));
    return size;
}

/* A process confined to one resource of a type is in a communicator of it; any other process is not. */
static void hardware(void)
{
    static const int guided[] = { MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED };
    MPI_Info resources;
    char key[MPI_MAX_INFO_KEY], value[8], name[MPI_MAX_INFO_KEY];
    int count = 0, machine = 0;
    CHECK_OK(MPI_Get_hw_resource_info(&resources));
    CHECK_OK(MPI_Info_get_nkeys(resources, &count));
    for (int i = 0; i < count; i++) {
        int length = sizeof value, flag = 0;
        CHECK_OK(MPI_Info_get_nthkey(resources, i, key));
        CHECK_OK(MPI_Info_get_string(resources, key, &length, value, &flag));
        CHECK(strncmp(key, "hwloc://", 8) == 0);
        CHECK(strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
        machine |= strcmp(key, "hwloc://Machine") == 0 && strcmp(value, "true") == 0;
        memcpy(name, key, sizeof name); /* all ask for the same, though each has a list of its own */
        CHECK_OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
        CHECK(strcmp(name, key) == 0);
        for (int j = 0; j < 2; j++)
            CHECK((split(guided[j], "mpi_hw_resource_type", name) > 0) == (strcmp(value, "true") == 0));
    }
    CHECK(count == 0 || machine);
    CHECK_OK(MPI_Info_free(&resources));
    for (int j = 0; j < 2; j++) {
        CHECK(split(guided[j], "mpi_hw_resource_type", "mpi_shared_memory") == (shares ? mtest_size : 1));
        CHECK(split(guided[j], "mpi_hw_resource_type", "hwloc://Teapot") == 0);
        CHECK(split(guided[j], "somebody_elses_key", "Machine") == 0);
    }
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD") == 0);
}

static void sets(void)
{
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD") == mtest_size);
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "app://nobody") == 0);
    /* The names differ, and one is unknown. */
    int odd = mtest_rank % 2;
    int size = split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", odd ? "mpi://WORLD" : "app://nobody");
    CHECK(size == (odd ? mtest_size / 2 : 0));
}

static void unguided(void)
{
    MPI_Comm comm = MPI_COMM_WORLD, old = MPI_COMM_WORLD;
    int before, size = 0, levels = 0;
    /* One rank does not take part: the rest is smaller than the World, and on one machine. */
    MPI_Info info = make("else", "where");
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, mtest_rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED, 0, info,
                                 &comm));
    CHECK((comm == MPI_COMM_NULL) == (mtest_rank == 0));
    if (comm != MPI_COMM_NULL) {
        char value[64] = "";
        int length = sizeof value, flag = 0;
        CHECK_OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &length, value, &flag));
        CHECK(flag && strcmp(value, "mpi_shared_memory") == 0);
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK(size == (shares ? mtest_size - 1 : 1));
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Info_free(&info));
    /* Splits until no smaller resource is left, each communicator a part of the one before. */
    for (; old != MPI_COMM_NULL && levels < 64; levels++) {
        CHECK_OK(MPI_Comm_size(old, &before));
        CHECK_OK(MPI_Comm_split_type(old, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &comm));
        if (comm != MPI_COMM_NULL) {
            CHECK_OK(MPI_Comm_size(comm, &size));
            CHECK(size < before);
        }
        if (old != MPI_COMM_WORLD)
            CHECK_OK(MPI_Comm_free(&old));
        old = comm;
    }
    CHECK(levels < 64);
}

static void both_keys(void)
{
    MPI_Info info = make("mpi_pset_name", "mpi://WORLD");
    MPI_Comm comm = MPI_COMM_WORLD;
    CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm), MPI_ERR_INFO);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    const char *transport = getenv("PLENUM_TRANSPORT");
    shares = !transport || strcmp(transport, "ucx") != 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    hardware();
    sets();
    unguided();
    both_keys();
    MTEST_END;
}
