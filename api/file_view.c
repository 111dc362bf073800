/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: views, pointers, data representations (MPI-5.0 sections 14.3 to 14.5). */
#include <string.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/file/position.h"

/* --- views -------------------------------------------------------------------------------------------------------- */

static struct pl_type *arg_view_type(struct pl_call *call, MPI_Datatype datatype, const struct pl_arg_names *names)
{
    call->names = names;
    struct pl_type *type = pl_arg_type(call, datatype);
    call->names = NULL;
    return type;
}

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                      MPI_Info info)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_File_set_view);
    struct pl_file *file = pl_arg_file(&call, fh);
    static const struct pl_arg_names etype_names = { .type = "etype" }, filetype_names = { .type = "filetype" };
    struct pl_type *e = arg_view_type(&call, etype, &etype_names);
    struct pl_type *f = arg_view_type(&call, filetype, &filetype_names);
    pl_arg_output(&call, datarep, "datarep");
    struct pl_info *i = pl_arg_info_or_null(&call, info);
    if (file) /* the others wait for this process, even after an error */
        call.err = pl_file_set_view(file, call.err, disp, e, f, datarep, i);
    return pl_call_leave(&call);
}

/* Returns the user's types, with one more handle each. */
int MPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep)
{
    struct pl_call call = PL_CALL(MPI_File_get_view);
    struct pl_file *file = pl_arg_file(&call, fh);
    pl_arg_output(&call, disp, "disp");
    pl_arg_output(&call, etype, "etype");
    pl_arg_output(&call, filetype, "filetype");
    pl_arg_output(&call, datarep, "datarep");
    if (!call.err) {
        *disp = file->view.disp;
        *etype = pl_type_handle(pl_handle_share(file->view.etype));
        *filetype = pl_type_handle(pl_handle_share(file->view.filetype));
        strcpy(datarep, file->view.datarep->name);
    }
    return pl_call_leave(&call);
}

static int get_type_extent(struct pl_call *call, MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    struct pl_file *file = pl_arg_file(call, fh);
    struct pl_type *type = pl_arg_type_uncommitted(call, datatype), *in_file;
    pl_arg_output(call, extent, "extent");
    if (!call->err)
        call->err = pl_datarep_type(file->view.datarep, type, &in_file);
    if (!call->err) {
        *extent = in_file->extent;
        pl_object_release(in_file);
    }
    return pl_call_leave(call);
}

_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "one worker serves both forms");

int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    return get_type_extent(&(struct pl_call)PL_CALL(MPI_File_get_type_extent), fh, datatype, (MPI_Count *)extent);
}

int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    return get_type_extent(&(struct pl_call)PL_CALL(MPI_File_get_type_extent_c), fh, datatype, extent);
}

int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    struct pl_call call = PL_CALL(MPI_File_get_byte_offset);
    struct pl_file *file = pl_arg_file(&call, fh);
    pl_arg_output(&call, disp, "disp");
    if (offset < 0)
        pl_call_error(&call, MPI_ERR_ARG, "offset is %lld; it must not be negative", (long long)offset);
    if (!call.err)
        call.err = pl_file_check_random(file);
    if (!call.err)
        call.err = pl_view_byte(&file->view, offset, disp);
    return pl_call_leave(&call);
}

/* --- pointers ----------------------------------------------------------------------------------------------------- */

int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    struct pl_call call = PL_CALL(MPI_File_seek);
    struct pl_file *file = pl_arg_file(&call, fh);
    if (!call.err)
        call.err = pl_file_seek(file, offset, whence);
    return pl_call_leave(&call);
}

int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    struct pl_call call = PL_CALL_TOGETHER(MPI_File_seek_shared);
    struct pl_file *file = pl_arg_file(&call, fh);
    if (!call.err)
        call.err = pl_file_seek_shared(file, offset, whence);
    return pl_call_leave(&call);
}

int MPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    struct pl_call call = PL_CALL(MPI_File_get_position);
    struct pl_file *file = pl_arg_file(&call, fh);
    pl_arg_output(&call, offset, "offset");
    if (!call.err)
        call.err = pl_file_check_random(file);
    if (!call.err) {
        pl_lock_take(&file->lock);
        *offset = file->position;
        pl_lock_drop(&file->lock);
    }
    return pl_call_leave(&call);
}

int MPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    struct pl_call call = PL_CALL(MPI_File_get_position_shared);
    struct pl_file *file = pl_arg_file(&call, fh);
    int64_t position = 0;
    pl_arg_output(&call, offset, "offset");
    if (!call.err)
        call.err = pl_file_check_random(file);
    if (!call.err)
        call.err = pl_pointer_add(file, 0, &position);
    if (!call.err)
        *offset = position;
    return pl_call_leave(&call);
}

/* --- data representations ----------------------------------------------------------------------------------------- */

static int register_datarep(struct pl_call *call, const char *name, struct pl_datarep *datarep)
{
    call->kind = PL_FILE;
    pl_arg_output(call, name, "datarep");
    pl_arg_output(call, (const void *)(uintptr_t)datarep->extent, "dtype_file_extent_fn");
    if (!call->err && strlen(name) < sizeof datarep->name) /* else the name stays empty, which is an error */
        strcpy(datarep->name, name);
    if (!call->err)
        call->err = pl_datarep_register(datarep);
    return pl_call_leave(call);
}

int MPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                         MPI_Datarep_conversion_function *write_conversion_fn,
                         MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Register_datarep);
    struct pl_datarep made = { .user = true,
                               .read = read_conversion_fn,
                               .write = write_conversion_fn,
                               .extent = dtype_file_extent_fn,
                               .extra_state = extra_state };
    return register_datarep(&call, datarep, &made);
}

int MPI_Register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
                           MPI_Datarep_conversion_function_c *write_conversion_fn,
                           MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Register_datarep_c);
    struct pl_datarep made = { .user = true,
                               .read_c = read_conversion_fn,
                               .write_c = write_conversion_fn,
                               .extent = dtype_file_extent_fn,
                               .extra_state = extra_state };
    return register_datarep(&call, datarep, &made);
}

PL_NAMES_FILE_VIEW(PL_PMPI)
