/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 8 */
/*
 * Communicators, windows and files cannot be made with a dead member, on any living rank; without it they can. So can
 * communicators of groups of living members, from one with a dead member.
 */
#include "ulfm.h"

static int dead;

static void copies(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;
    FAILS(MPI_Comm_dup(comm, &made));
    FAILS(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made));
    ENDS(MPI_Comm_idup(comm, &made, &request), MPIX_ERR_PROC_FAILED);
    ENDS(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &made, &request), MPIX_ERR_PROC_FAILED);
    FAILS(MPI_Comm_split(comm, rank % 2, 0, &made));
    FAILS(MPI_Comm_split(comm, MPI_UNDEFINED, 0, &made));
    FAILS(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
}

static void topologies(MPI_Comm comm)
{
    MPI_Comm made;
    int on = 1, next = (rank + 1) % size, last = (rank + size - 1) % size, index[MOST], edges[2 * MOST];
    FAILS(MPI_Cart_create(comm, 1, &size, &on, 0, &made));
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + 1) % size;
        edges[2 * i + 1] = (i + size - 1) % size;
    }
    FAILS(MPI_Graph_create(comm, size, index, edges, 0, &made));
    FAILS(MPI_Dist_graph_create_adjacent(comm, 1, &last, &on, 1, &next, &on, MPI_INFO_NULL, 0, &made));
    FAILS(MPI_Dist_graph_create(comm, 1, &rank, &on, &next, &on, MPI_INFO_NULL, 0, &made));
}

static void windows(MPI_Comm comm)
{
    static char memory[64];
    void *base;
    MPI_Win win;
    FAILS(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, &win));
    FAILS(MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &base, &win));
    FAILS(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, comm, &base, &win));
    FAILS(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
}

static void files(MPI_Comm comm, const char *path)
{
    MPI_File file;
    FAILS(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

/* Groups with and without the dead rank. */
static void groups(MPI_Comm comm)
{
    MPI_Group all, living;
    MPI_Comm made;
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Group_excl(all, 1, &dead, &living));
    FAILS(MPI_Comm_create(comm, living, &made)); /* collective over `comm` */
    FAILS(MPI_Comm_create_group(comm, all, 7, &made));
    OK(MPI_Comm_create_group(comm, living, 8, &made));
    expect_works(made);
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_create_from_group(living, "living", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    expect_works(made);
    OK(MPI_Comm_free(&made));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&living));
}

/* The living of even and of odd places, by leaders whose common communicator has the dead rank. */
static void halves(MPI_Comm comm)
{
    MPI_Group all, mine;
    MPI_Comm half, inter, merged;
    int count = 0, ranks[MOST], first[2] = { -1, -1 }, side = -1;
    for (int i = 0, place = 0; i < size; i++) {
        if (i == dead)
            continue;
        side = i == rank ? place % 2 : side;
        first[place % 2] = first[place % 2] < 0 ? i : first[place % 2];
        place++;
    }
    for (int i = 0, place = 0; i < size; i++)
        if (i != dead && place++ % 2 == side)
            ranks[count++] = i;
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Group_incl(all, count, ranks, &mine));
    OK(MPI_Comm_create_group(comm, mine, 9, &half));
    OK(MPI_Intercomm_create(half, 0, comm, first[!side], 4, &inter));
    OK(MPI_Intercomm_merge(inter, side, &merged));
    expect_works(merged);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    OK(MPI_Group_free(&mine));
    OK(MPI_Group_free(&all));
}

/* What is made of the living alone: windows, files, topologies and intercommunicators. */
static void without(MPI_Comm comm, const char *path)
{
    MPI_Comm left, half, inter, merged;
    MPI_File file;
    MPI_Win win;
    int *base, value = -1, place, all;
    OK(MPIX_Comm_shrink(comm, &left));
    OK(MPI_Comm_rank(left, &place));
    OK(MPI_Comm_size(left, &all));
    OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, left, &base, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&place, 1, MPI_INT, (place + 1) % all, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    EXPECT(*base == (place + all - 1) % all);
    OK(MPI_Win_free(&win));
    OK(MPI_File_open(left, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, place * (MPI_Offset)sizeof(int), &place, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(left));
    OK(MPI_File_read_at_all(file, (place + 1) % all * (MPI_Offset)sizeof(int), &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT(value == (place + 1) % all);
    OK(MPI_File_close(&file));
    OK(MPI_Comm_split(left, place % 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, left, 1 - place % 2, 3, &inter));
    OK(MPI_Intercomm_merge(inter, place % 2, &merged));
    expect_works(merged);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    begin(&argc, &argv);
    const char *path = argc > 1 ? argv[1] : "ulfm.file";
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    dead = size / 2;
    kill_ranks(1u << dead);
    for (int i = 0; i < 2; i++) {
        MPI_Comm one = i ? comm : MPI_COMM_WORLD;
        copies(one);
        topologies(one);
        windows(one);
        files(one, path);
        groups(one);
        halves(one);
        without(one, path);
    }
    OK(MPI_Comm_free(&comm));
    return end();
}
