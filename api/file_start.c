/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing files, nonblocking and split collective (MPI-5.0 section 14.4). */
#include "api/file_io.h"

#include "api/pmpi.h"

int MPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iread), fh, PL_READ(PL_FILE_OWN, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_iread_all), fh, PL_READ_ALL(PL_FILE_OWN, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_iread_all_c), fh, PL_READ_ALL(PL_FILE_OWN, 0),
                      datatype, PL_FILE_ISSUE(request));
}

int MPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iread_at), fh, PL_READ(PL_FILE_AT, offset), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_iread_at_all), fh, PL_READ_ALL(PL_FILE_AT, offset),
                      datatype, PL_FILE_ISSUE(request));
}

int MPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_iread_at_all_c), fh, PL_READ_ALL(PL_FILE_AT, offset),
                      datatype, PL_FILE_ISSUE(request));
}

int MPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iread_at_c), fh, PL_READ(PL_FILE_AT, offset), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iread_c), fh, PL_READ(PL_FILE_OWN, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iread_shared), fh, PL_READ(PL_FILE_SHARED, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iread_shared_c), fh, PL_READ(PL_FILE_SHARED, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iwrite), fh, PL_WRITE(PL_FILE_OWN, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_iwrite_all), fh, PL_WRITE_ALL(PL_FILE_OWN, 0),
                      datatype, PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_iwrite_all_c), fh, PL_WRITE_ALL(PL_FILE_OWN, 0),
                      datatype, PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iwrite_at), fh, PL_WRITE(PL_FILE_AT, offset), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_iwrite_at_all), fh, PL_WRITE_ALL(PL_FILE_AT, offset),
                      datatype, PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_iwrite_at_all_c), fh, PL_WRITE_ALL(PL_FILE_AT, offset),
                      datatype, PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iwrite_at_c), fh, PL_WRITE(PL_FILE_AT, offset), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iwrite_c), fh, PL_WRITE(PL_FILE_OWN, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iwrite_shared), fh, PL_WRITE(PL_FILE_SHARED, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_iwrite_shared_c), fh, PL_WRITE(PL_FILE_SHARED, 0), datatype,
                      PL_FILE_ISSUE(request));
}

int MPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_all_begin), fh, PL_READ_ALL(PL_FILE_OWN, 0),
                      datatype, PL_FILE_SPLIT);
}

int MPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_all_begin_c), fh, PL_READ_ALL(PL_FILE_OWN, 0),
                      datatype, PL_FILE_SPLIT);
}

int MPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return pl_do_file_end(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_all_end), fh, false, PL_FILE_OWN, buf,
                          status);
}

int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_at_all_begin), fh,
                      PL_READ_ALL(PL_FILE_AT, offset), datatype, PL_FILE_SPLIT);
}

int MPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_at_all_begin_c), fh,
                      PL_READ_ALL(PL_FILE_AT, offset), datatype, PL_FILE_SPLIT);
}

int MPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return pl_do_file_end(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_at_all_end), fh, false, PL_FILE_AT, buf,
                          status);
}

int MPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_ordered_begin), fh,
                      PL_READ_ALL(PL_FILE_SHARED, 0), datatype, PL_FILE_SPLIT);
}

int MPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_ordered_begin_c), fh,
                      PL_READ_ALL(PL_FILE_SHARED, 0), datatype, PL_FILE_SPLIT);
}

int MPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return pl_do_file_end(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_ordered_end), fh, false, PL_FILE_SHARED, buf,
                          status);
}

int MPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_all_begin), fh, PL_WRITE_ALL(PL_FILE_OWN, 0),
                      datatype, PL_FILE_SPLIT);
}

int MPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_all_begin_c), fh, PL_WRITE_ALL(PL_FILE_OWN, 0),
                      datatype, PL_FILE_SPLIT);
}

int MPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return pl_do_file_end(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_all_end), fh, true, PL_FILE_OWN, buf,
                          status);
}

int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_at_all_begin), fh,
                      PL_WRITE_ALL(PL_FILE_AT, offset), datatype, PL_FILE_SPLIT);
}

int MPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_at_all_begin_c), fh,
                      PL_WRITE_ALL(PL_FILE_AT, offset), datatype, PL_FILE_SPLIT);
}

int MPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return pl_do_file_end(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_at_all_end), fh, true, PL_FILE_AT, buf,
                          status);
}

int MPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_ordered_begin), fh,
                      PL_WRITE_ALL(PL_FILE_SHARED, 0), datatype, PL_FILE_SPLIT);
}

int MPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_ordered_begin_c), fh,
                      PL_WRITE_ALL(PL_FILE_SHARED, 0), datatype, PL_FILE_SPLIT);
}

int MPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return pl_do_file_end(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_ordered_end), fh, true, PL_FILE_SHARED, buf,
                          status);
}

PL_NAMES_FILE_START(PL_PMPI)
