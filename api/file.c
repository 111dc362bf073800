/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: opening and closing, sizes, consistency (MPI-5.0 sections 14.2 and 14.6). Views and pointers: file_view.c. */
#include "api/call.h"
#include "api/info.h"
#include "api/pmpi.h"
#include "core/job/process.h"

/* --- opening and closing ------------------------------------------------------------------------------------------ */

/* Errors here are those of MPI_FILE_NULL: there is no file yet. */
int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    struct pl_call call = { .function = __func__, .kind = PL_FILE };
    struct pl_comm *c = pl_arg_intracomm(&call, comm);
    bool alone = call.err; /* otherwise the others wait for this process, even after an error */
    pl_arg_output(&call, filename, "filename");
    pl_arg_output(&call, fh, "fh");
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    struct pl_errhandler *chosen = pl_arg_info_errhandler(&call, i);
    struct pl_file *file = NULL;
    if (!alone)
        call.err = pl_file_open(c, call.err, filename, amode, i, &file);
    if (!call.err && chosen)
        pl_errhandler_attach(PL_FILE, file, chosen);
    if (!call.err)
        *fh = pl_object_handle(file);
    pl_object_release(chosen);
    return pl_call_leave(&call);
}

int MPI_File_close(MPI_File *fh)
{
    struct pl_call call = PL_CALL(MPI_File_close);
    pl_arg_output(&call, fh, "fh");
    struct pl_file *file = call.err ? NULL : pl_arg_file(&call, *fh);
    if (!call.err && file->split.active)
        pl_call_error(&call, MPI_ERR_IO, "a split collective is active on %s and has not been ended", file->name);
    int mistake = file ? pl_file_agree(file->comm, call.err) : call.err; /* the others wait for this process */
    if (call.err || mistake == MPI_ERR_IO) {
        call.err = mistake;
        return pl_call_leave(&call);
    }
    pl_object_retain(file);
    call.err = pl_file_close(file);
    pl_handle_drop(file);
    *fh = MPI_FILE_NULL;
    return pl_call_leave_kept(&call, file);
}

int MPI_File_delete(const char *filename, MPI_Info info)
{
    struct pl_call call = { .function = __func__, .kind = PL_FILE };
    pl_arg_output(&call, filename, "filename");
    pl_arg_info_or_null(&call, info);
    if (!call.err)
        call.err = pl_process_check_open();
    if (!call.err)
        call.err = pl_file_delete(filename);
    return pl_call_leave(&call);
}

/* --- size --------------------------------------------------------------------------------------------------------- */

int MPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_File_set_size);
    struct pl_file *file = pl_arg_file(&call, fh);
    if (!call.err)
        call.err = pl_file_set_size(file, size);
    return pl_call_leave(&call);
}

int MPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_File_preallocate);
    struct pl_file *file = pl_arg_file(&call, fh);
    if (!call.err)
        call.err = pl_file_preallocate(file, size);
    return pl_call_leave(&call);
}

int MPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    struct pl_call call = PL_CALL(MPI_File_get_size);
    struct pl_file *file = pl_arg_file(&call, fh);
    pl_arg_output(&call, size, "size");
    if (!call.err)
        call.err = pl_file_get_size(file, size);
    return pl_call_leave(&call);
}

/* --- queries and hints -------------------------------------------------------------------------------------------- */

int MPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    struct pl_call call = PL_CALL(MPI_File_get_group);
    struct pl_file *file = pl_arg_file(&call, fh);
    pl_arg_output(&call, group, "group");
    if (!call.err)
        *group = pl_object_handle(pl_handle_share(file->comm->group));
    return pl_call_leave(&call);
}

int MPI_File_get_amode(MPI_File fh, int *amode)
{
    struct pl_call call = PL_CALL(MPI_File_get_amode);
    struct pl_file *file = pl_arg_file(&call, fh);
    pl_arg_output(&call, amode, "amode");
    if (!call.err)
        *amode = file->amode;
    return pl_call_leave(&call);
}

int MPI_File_set_info(MPI_File fh, MPI_Info info)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_File_set_info);
    struct pl_file *file = pl_arg_file(&call, fh);
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    int rc = file ? pl_file_hints_set(file, i) : MPI_SUCCESS; /* the others wait for this process */
    call.err = call.err ? call.err : rc;
    return pl_call_leave(&call);
}

int MPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    struct pl_call call = PL_CALL(MPI_File_get_info);
    struct pl_file *file = pl_arg_file(&call, fh);
    pl_arg_output(&call, info_used, "info_used");
    struct pl_info *used = call.err ? NULL : pl_info_create();
    if (used)
        call.err = pl_file_hints_get(file, used);
    return pl_info_leave(&call, used, info_used);
}

/* --- consistency -------------------------------------------------------------------------------------------------- */

int MPI_File_set_atomicity(MPI_File fh, int flag)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_File_set_atomicity);
    struct pl_file *file = pl_arg_file(&call, fh);
    if (!call.err)
        call.err = pl_file_set_atomicity(file, flag != 0);
    return pl_call_leave(&call);
}

int MPI_File_get_atomicity(MPI_File fh, int *flag)
{
    struct pl_call call = PL_CALL(MPI_File_get_atomicity);
    struct pl_file *file = pl_arg_file(&call, fh);
    pl_arg_output(&call, flag, "flag");
    if (!call.err)
        *flag = file->atomic;
    return pl_call_leave(&call);
}

int MPI_File_sync(MPI_File fh)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_File_sync);
    struct pl_file *file = pl_arg_file(&call, fh);
    if (!call.err)
        call.err = pl_file_sync(file);
    return pl_call_leave(&call);
}

PL_NAMES_FILE(PL_PMPI)
