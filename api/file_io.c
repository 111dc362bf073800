/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing files (MPI-5.0 section 14.4): not built. Each function checks its object, and says so through its error handler. */
#include "api/call.h"
#include "api/pmpi.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int MPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_all);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_all_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_at);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_at_all);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_at_all_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_at_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_shared);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iread_shared_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_all);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_all_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_at);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_at_all);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_at_all_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_at_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_shared);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    struct pl_call call = PL_CALL(MPI_File_iwrite_shared_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_all);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_read_all_begin);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_read_all_begin_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_all_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_all_end);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_at);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_at_all);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_read_at_all_begin);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_read_at_all_begin_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_at_all_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_at_all_end);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_at_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_ordered);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_read_ordered_begin);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_read_ordered_begin_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_ordered_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_ordered_end);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_shared);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_read_shared_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_all);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_write_all_begin);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_write_all_begin_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_all_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_all_end);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_at);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_at_all);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_write_at_all_begin);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_write_at_all_begin_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_at_all_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_at_all_end);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_at_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_ordered);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_write_ordered_begin);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_File_write_ordered_begin_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_ordered_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_ordered_end);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_shared);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

int MPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    struct pl_call call = PL_CALL(MPI_File_write_shared_c);

    pl_arg_file(&call, fh);
    return pl_call_unsupported(&call);
}

PL_NAMES_FILE_IO(PL_PMPI)
