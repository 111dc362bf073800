/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes started by processes. */
#include "work.h"

static void with_others(MPI_Comm others, bool high)
{
    MPI_Comm merged = MPI_COMM_NULL;
    int size = 0, sum = 0;
    TRY(MPI_Intercomm_merge(others, high, &merged));
    TRY(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, merged));
    MPI_Comm_size(merged, &size);
    work_expect(sum == size, "MPI_Allreduce with spawned processes");
done:
    if (merged != MPI_COMM_NULL)
        work_failed(MPI_Comm_free(&merged));
    if (work_is_well())
        work_failed(MPI_Comm_disconnect(&others));
}

static void spawned(void)
{
    MPI_Comm parent;
    if (work_failed(MPI_Init(NULL, NULL)))
        return;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
        with_others(parent, true);
    }
    work_failed(MPI_Finalize());
}

void work_spawn(MPI_Comm comm)
{
    char *words[] = { "spawned", NULL };
    MPI_Comm children = MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL) {
        spawned();
        return;
    }
    if (work_failed(MPI_Comm_spawn(work_program, words, 2, MPI_INFO_NULL, 0, comm, &children, MPI_ERRCODES_IGNORE)))
        return;
    with_others(children, false);
}
