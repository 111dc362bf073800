/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: creating and freeing, names, hints. The communicator's handler handles errors of creating them. */
#include <string.h>

#include "api/call.h"
#include "api/info.h"
#include "api/pmpi.h"

/* --- creating -------------------------------------------------------------------------------------------------- */

/* `baseptr`: receives the address of allocated memory; NULL with MPI_Win_create(). */
static int mpi_win_make(struct pl_call *call, MPI_Comm comm, struct pl_win_spec spec, MPI_Info info, bool allocates,
                        void *baseptr, MPI_Win *win)
{
    struct pl_comm *c = pl_arg_intracomm(call, comm);
    struct pl_win *made = NULL;
    spec.info = pl_arg_info_or_null(call, info);
    struct pl_errhandler *chosen = pl_arg_info_errhandler(call, spec.info);
    if (allocates)
        pl_arg_output(call, baseptr, "baseptr");
    pl_arg_output(call, win, "win");
    if (spec.size < 0)
        pl_call_error(call, MPI_ERR_SIZE, "size is %lld; it must not be negative", (long long)spec.size);
    if (spec.disp_unit <= 0)
        pl_call_error(call, MPI_ERR_DISP, "disp_unit is %lld; it must be positive", (long long)spec.disp_unit);
    if (spec.flavor == MPI_WIN_FLAVOR_CREATE && !spec.base && spec.size > 0)
        pl_call_error(call, MPI_ERR_BASE, "base is NULL, but size is %lld", (long long)spec.size);
    if (!call->err)
        call->err = pl_win_create(c, &spec, &made);
    if (made) {
        if (chosen)
            pl_errhandler_attach(PL_WIN, made, chosen);
        if (allocates)
            *(void **)baseptr = pl_win_address(made, made->base, made->size);
        made->comm->role.maker = call->function;
        *win = pl_object_handle(made);
    }
    pl_object_release(chosen);
    return pl_call_leave(call);
}

static int mpi_win_allocate(struct pl_call *call, int flavor, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                            MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct pl_win_spec spec = { .flavor = flavor, .size = size, .disp_unit = disp_unit };
    return mpi_win_make(call, comm, spec, info, true, baseptr, win);
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    return mpi_win_allocate(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_allocate), MPI_WIN_FLAVOR_ALLOCATE, size,
                            disp_unit, info, comm, baseptr, win);
}

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    return mpi_win_allocate(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_allocate_c), MPI_WIN_FLAVOR_ALLOCATE, size,
                            disp_unit, info, comm, baseptr, win);
}

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    return mpi_win_allocate(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_allocate_shared), MPI_WIN_FLAVOR_SHARED, size,
                            disp_unit, info, comm, baseptr, win);
}

int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                              MPI_Win *win)
{
    return mpi_win_allocate(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_allocate_shared_c), MPI_WIN_FLAVOR_SHARED, size,
                            disp_unit, info, comm, baseptr, win);
}

static int mpi_win_create(struct pl_call *call, void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                          MPI_Comm comm, MPI_Win *win)
{
    struct pl_win_spec spec = { .flavor = MPI_WIN_FLAVOR_CREATE, .base = base, .size = size, .disp_unit = disp_unit };
    return mpi_win_make(call, comm, spec, info, false, NULL, win);
}

int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    return mpi_win_create(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_create), base, size, disp_unit, info, comm, win);
}

int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    return mpi_win_create(&(struct pl_call)PL_CALL_TOGETHER(MPI_Win_create_c), base, size, disp_unit, info, comm, win);
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_Win_create_dynamic);
    struct pl_win_spec spec = { .flavor = MPI_WIN_FLAVOR_DYNAMIC, .disp_unit = 1 };
    return mpi_win_make(&call, comm, spec, info, false, NULL, win);
}

int MPI_Win_free(MPI_Win *win)
{
    struct pl_call call = PL_CALL(MPI_Win_free);
    pl_arg_output(&call, win, "win");
    struct pl_win *w = call.err ? NULL : pl_arg_win(&call, *win);
    if (w)
        pl_object_retain(w); /* its handler handles an error */
    if (!call.err)
        call.err = pl_win_free(w);
    if (!call.err || (w && atomic_load(&w->obj.handles) == 0)) /* also freed when a member has died */
        *win = MPI_WIN_NULL;
    return pl_call_leave_kept(&call, w);
}

/* --- memory ---------------------------------------------------------------------------------------------------- */

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct pl_call call = PL_CALL(MPI_Win_attach);
    struct pl_win *w = pl_arg_win(&call, win);
    if (size < 0)
        pl_call_error(&call, MPI_ERR_SIZE, "size is %lld; it must not be negative", (long long)size);
    if (!call.err)
        call.err = pl_win_attach(w, base, size);
    return pl_call_leave(&call);
}

int MPI_Win_detach(MPI_Win win, const void *base)
{
    struct pl_call call = PL_CALL(MPI_Win_detach);
    struct pl_win *w = pl_arg_win(&call, win);
    if (!call.err)
        call.err = pl_win_detach(w, base);
    return pl_call_leave(&call);
}

static void mpi_win_query(struct pl_call *call, MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                          void *baseptr)
{
    struct pl_win *w = pl_arg_win(call, win);
    pl_arg_dest(call, w ? w->comm : NULL, rank);
    pl_arg_output(call, size, "size");
    pl_arg_output(call, disp_unit, "disp_unit");
    pl_arg_output(call, baseptr, "baseptr");
    if (!call->err)
        call->err = pl_win_query(w, rank, size, disp_unit, baseptr);
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    struct pl_call call = PL_CALL(MPI_Win_shared_query);
    MPI_Aint unit = 1;
    mpi_win_query(&call, win, rank, size, disp_unit ? &unit : NULL, baseptr);
    if (!call.err)
        *disp_unit = (int)(unit > INT32_MAX ? INT32_MAX : unit);
    return pl_call_leave(&call);
}

int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr)
{
    struct pl_call call = PL_CALL(MPI_Win_shared_query_c);
    mpi_win_query(&call, win, rank, size, disp_unit, baseptr);
    return pl_call_leave(&call);
}

/* --- properties ------------------------------------------------------------------------------------------------ */

int MPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    struct pl_call call = PL_CALL(MPI_Win_get_group);
    struct pl_win *w = pl_arg_win(&call, win);
    pl_arg_output(&call, group, "group");
    if (!call.err)
        *group = pl_object_handle(pl_handle_share(w->comm->group));
    return pl_call_leave(&call);
}

int MPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    struct pl_call call = PL_CALL(MPI_Win_get_info);
    struct pl_win *w = pl_arg_win(&call, win);
    pl_arg_output(&call, info_used, "info_used");
    struct pl_info *made = call.err ? NULL : pl_info_create();
    if (made)
        call.err = pl_win_info_get(w, made);
    return pl_info_leave(&call, made, info_used);
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    struct pl_call call = PL_CALL(MPI_Win_set_info);
    struct pl_win *w = pl_arg_win(&call, win);
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    if (!call.err)
        call.err = pl_win_info_set(w, i);
    return pl_call_leave(&call);
}

int MPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
    struct pl_call call = PL_CALL(MPI_Win_get_name);
    struct pl_win *w = win == MPI_WIN_NULL ? NULL : pl_arg_win(&call, win);
    pl_arg_output(&call, win_name, "win_name");
    pl_arg_output(&call, resultlen, "resultlen");
    if (call.err)
        return pl_call_leave(&call);
    if (w)
        pl_comm_name(w->comm, win_name, MPI_MAX_OBJECT_NAME);
    else
        strcpy(win_name, "MPI_WIN_NULL");
    *resultlen = (int)strlen(win_name);
    return MPI_SUCCESS;
}

int MPI_Win_set_name(MPI_Win win, const char *win_name)
{
    struct pl_call call = PL_CALL(MPI_Win_set_name);
    struct pl_win *w = pl_arg_win(&call, win);
    pl_arg_output(&call, win_name, "win_name");
    if (call.err)
        return pl_call_leave(&call);
    pl_comm_set_name(w->comm, win_name);
    return MPI_SUCCESS;
}

PL_NAMES_WIN(PL_PMPI)
