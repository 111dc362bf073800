/* SPDX-License-Identifier: BSD-3-Clause */
/* Files, their views and attributes (MPI-5.0 chapter 14): not built. Each function checks its object, and says so through its error handler. */
#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int MPI_File_close(MPI_File *fh)
{
    struct pl_call call = PL_CALL(MPI_File_close);

    pl_arg_output(&call, fh, "fh");
    if (!call.err)
        pl_arg_file(&call, *fh);
    return pl_call_unsupported(&call);
}

int MPI_File_delete(const char *filename, MPI_Info info)
{
    struct pl_call call = PL_CALL(MPI_File_delete);

    call.kind = PL_FILE;
    return pl_call_unsupported(&call);
}

int MPI_File_get_amode(MPI_File fh, int *amode)
{
    struct pl_call call = PL_CALL(MPI_File_get_amode);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_atomicity(MPI_File fh, int *flag)
{
    struct pl_call call = PL_CALL(MPI_File_get_atomicity);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    struct pl_call call = PL_CALL(MPI_File_get_byte_offset);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    struct pl_call call = PL_CALL(MPI_File_get_group);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    struct pl_call call = PL_CALL(MPI_File_get_info);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    struct pl_call call = PL_CALL(MPI_File_get_position);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    struct pl_call call = PL_CALL(MPI_File_get_position_shared);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    struct pl_call call = PL_CALL(MPI_File_get_size);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    struct pl_call call = PL_CALL(MPI_File_get_type_extent);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    struct pl_call call = PL_CALL(MPI_File_get_type_extent_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep)
{
    struct pl_call call = PL_CALL(MPI_File_get_view);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    struct pl_call call = PL_CALL(MPI_File_open);

    pl_arg_intracomm(&call, comm);
    return pl_call_unsupported(&call);
}

int MPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    struct pl_call call = PL_CALL(MPI_File_preallocate);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    struct pl_call call = PL_CALL(MPI_File_seek);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    struct pl_call call = PL_CALL(MPI_File_seek_shared);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_set_atomicity(MPI_File fh, int flag)
{
    struct pl_call call = PL_CALL(MPI_File_set_atomicity);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_set_info(MPI_File fh, MPI_Info info)
{
    struct pl_call call = PL_CALL(MPI_File_set_info);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    struct pl_call call = PL_CALL(MPI_File_set_size);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                      MPI_Info info)
{
    struct pl_call call = PL_CALL(MPI_File_set_view);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_sync(MPI_File fh)
{
    struct pl_call call = PL_CALL(MPI_File_sync);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                         MPI_Datarep_conversion_function *write_conversion_fn,
                         MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Register_datarep);

    call.kind = PL_FILE;
    return pl_call_unsupported(&call);
}

int MPI_Register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
                           MPI_Datarep_conversion_function_c *write_conversion_fn,
                           MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct pl_call call = PL_CALL(MPI_Register_datarep_c);

    call.kind = PL_FILE;
    return pl_call_unsupported(&call);
}

PL_NAMES_FILE(PL_PMPI)
