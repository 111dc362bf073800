/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of all kinds of synchronization, and files. */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 5000 };
static int own[WORDS], got[WORDS], value; /* static: what an error leaves under way still uses them */

static void with_window(MPI_Win win, int rank, int size)
{
    int to = (rank + 1) % size;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Request request;
    TRY(MPI_Win_get_group(win, &all)); /* first: an error in between is not one that other processes are told of */
    value = rank;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    TRY(MPI_Win_fence(0, win));
    TRY(MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, win));
    TRY(MPI_Accumulate(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win));
    TRY(MPI_Win_fence(0, win));
    TRY(MPI_Get(got, WORDS, MPI_INT, to, 0, WORDS, MPI_INT, win));
    TRY(MPI_Win_fence(0, win));
    work_expect(got[0] == rank, "MPI_Get");
    TRY(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    TRY(MPI_Fetch_and_op(&value, got, MPI_INT, 0, 2, MPI_SUM, win));
    TRY(MPI_Win_unlock(0, win));
    TRY(MPI_Win_lock_all(0, win));
    TRY(MPI_Rget(got, 10, MPI_INT, to, 0, 10, MPI_INT, win, &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TRY(MPI_Win_flush_all(win));
    TRY(MPI_Win_unlock_all(win));
    TRY(MPI_Win_post(all, 0, win));
    TRY(MPI_Win_start(all, 0, win));
    TRY(MPI_Put(&value, 1, MPI_INT, to, 3, 1, MPI_INT, win));
    TRY(MPI_Win_complete(win));
    TRY(MPI_Win_wait(win));
done:
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
}

void work_windows(MPI_Comm comm)
{
    int rank, size, *base = NULL;
    MPI_Win win[4] = { MPI_WIN_NULL, MPI_WIN_NULL, MPI_WIN_NULL, MPI_WIN_NULL };
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    TRY(MPI_Win_allocate(sizeof own, sizeof(int), MPI_INFO_NULL, comm, &base, &win[0]));
    with_window(win[0], rank, size);
    if (!work_is_well())
        goto done;
    TRY(MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, comm, &win[1]));
    with_window(win[1], rank, size);
    if (!work_is_well())
        goto done;
    TRY(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win[2]));
    MPI_Win_set_errhandler(win[2], MPI_ERRORS_RETURN);
    TRY(MPI_Win_attach(win[2], own, sizeof own));
    TRY(MPI_Win_fence(0, win[2]));
    TRY(MPI_Win_allocate_shared(sizeof own, sizeof(int), MPI_INFO_NULL, comm, &base, &win[3])); /* not over UCX */
    MPI_Win_set_errhandler(win[3], MPI_ERRORS_RETURN);
done:
    for (int i = 0; i < 4; i++)
        if (win[i] != MPI_WIN_NULL && work_is_well()) {
            MPI_Win_set_errhandler(win[i], MPI_ERRORS_RETURN);
            work_failed(MPI_Win_free(&win[i]));
        }
}

/* In the working directory, which the driver removes. */
void work_files(MPI_Comm comm)
{
    static int values[100];
    int rank, size;
    MPI_File file = MPI_FILE_NULL;
    MPI_Datatype mine = MPI_DATATYPE_NULL;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 100; i++)
        values[i] = rank * 100 + i;
    TRY(MPI_File_open(comm, "work.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    TRY(MPI_File_write_at_all(file, (MPI_Offset)(rank * sizeof values), values, 100, MPI_INT, MPI_STATUS_IGNORE));
    TRY(MPI_File_sync(file));
    TRY(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)(size * sizeof(int)), &mine));
    TRY(MPI_Type_commit(&mine));
    TRY(MPI_File_set_view(file, (MPI_Offset)(rank * sizeof(int)), MPI_INT, mine, "native", MPI_INFO_NULL));
    TRY(MPI_File_write_at_all(file, 0, values, 100, MPI_INT, MPI_STATUS_IGNORE));
    TRY(MPI_File_sync(file));
    TRY(MPI_Barrier(comm));
    TRY(MPI_File_read_at_all(file, 0, got, 100, MPI_INT, MPI_STATUS_IGNORE));
    work_expect(memcmp(got, values, sizeof values) == 0, "MPI_File_read_at_all");
    TRY(MPI_File_iread_at(file, 0, got, 10, MPI_INT, &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TRY(MPI_File_write_ordered(file, values, 1, MPI_INT, MPI_STATUS_IGNORE));
    TRY(MPI_File_read_all_begin(file, got, 10, MPI_INT));
    TRY(MPI_File_read_all_end(file, got, MPI_STATUS_IGNORE));
done:
    if (mine != MPI_DATATYPE_NULL)
        MPI_Type_free(&mine);
    if (file != MPI_FILE_NULL && work_is_well())
        work_failed(MPI_File_close(&file));
}
