/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication: not built. Each function checks its object, and says so through its error handler. */
#include <string.h>

#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Accumulate);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Accumulate_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Compare_and_swap);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Fetch_and_op);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Get);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                       int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Get_accumulate);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Get_accumulate_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Get_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Put);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Put_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Raccumulate);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                      MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Raccumulate_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Rget);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Rget_accumulate);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Rget_accumulate_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Rget_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Rput);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_Rput_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_allocate);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_allocate_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_allocate_shared);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                              MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_allocate_shared_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct pl_call call = PL_CALL(MPI_Win_attach);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_complete(MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_complete);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_create);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_create_c);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_create_dynamic);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_Win_detach(MPI_Win win, const void *base)
{
    struct pl_call call = PL_CALL(MPI_Win_detach);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_fence(int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_fence);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_flush);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_flush_all(MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_flush_all);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_flush_local(int rank, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_flush_local);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_flush_local_all(MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_flush_local_all);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_free(MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_free);

    pl_arg_output(&call, win, "win");
    if (!call.err)
        pl_arg_win(&call, *win);
    return pl_call_unsupported(&call);
}

int MPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    struct pl_call call = PL_CALL(MPI_Win_get_group);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    struct pl_call call = PL_CALL(MPI_Win_get_info);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
    struct pl_call call = PL_CALL(MPI_Win_get_name);

    if (win != MPI_WIN_NULL) {
        pl_arg_win(&call, win);
        return pl_call_unsupported(&call);
    }
    pl_arg_output(&call, win_name, "win_name");
    pl_arg_output(&call, resultlen, "resultlen");
    if (!call.err)
        *resultlen = (int)strlen(strcpy(win_name, "MPI_WIN_NULL"));
    return pl_call_leave(&call);
}

int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_lock);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_lock_all(int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_lock_all);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_post);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    struct pl_call call = PL_CALL(MPI_Win_set_info);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_set_name(MPI_Win win, const char *win_name)
{
    struct pl_call call = PL_CALL(MPI_Win_set_name);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    struct pl_call call = PL_CALL(MPI_Win_shared_query);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr)
{
    struct pl_call call = PL_CALL(MPI_Win_shared_query_c);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_start);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_sync(MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_sync);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_test(MPI_Win win, int *flag)
{
    struct pl_call call = PL_CALL(MPI_Win_test);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_unlock(int rank, MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_unlock);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_unlock_all(MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_unlock_all);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

int MPI_Win_wait(MPI_Win win)
{
    struct pl_call call = PL_CALL(MPI_Win_wait);

    pl_arg_win(&call, win);
    return pl_call_unsupported(&call);
}

PL_NAMES_WIN(PL_PMPI)
