/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing files, blocking (MPI-5.0 section 14.4), and the worker of all forms. */
#include "api/file_io.h"

#include "api/pmpi.h"
#include "core/engine/status.h"

/* --- the worker --------------------------------------------------------------------------------------------------- */

static void mpi_file_io_check_access(struct pl_call *call, const struct pl_file *file, const struct pl_file_io *io)
{
    if (!call->err && io->position != PL_FILE_SHARED)
        call->err = pl_file_check_random(file);
    if (!call->err && io->write && (file->amode & MPI_MODE_RDONLY))
        pl_call_error(call, MPI_ERR_READ_ONLY, "%s is open with MPI_MODE_RDONLY", file->name);
    if (!call->err && !io->write && (file->amode & MPI_MODE_WRONLY))
        pl_call_error(call, MPI_ERR_ACCESS, "%s is open with MPI_MODE_WRONLY", file->name);
    if (io->position == PL_FILE_AT && io->offset < 0)
        pl_call_error(call, MPI_ERR_ARG, "offset is %lld; it must not be negative", (long long)io->offset);
}

/* Between the two halves of a split collective there must be no other collective access. */
static void check_split(struct pl_call *call, struct pl_file *file)
{
    if (call->err)
        return;
    pl_lock_take(&file->lock);
    bool active = file->split.active;
    pl_lock_drop(&file->lock);
    if (active)
        pl_call_error(call, MPI_ERR_IO, "a split collective is active on %s and has not been ended", file->name);
}

static void set_status(MPI_Status *status, MPI_Count bytes)
{
    struct pl_outcome outcome = PL_OUTCOME_OF_NOBODY;
    outcome.bytes = bytes;
    pl_status_set(status, &outcome);
}

/* The access is complete; this returns its result. */
static void mpi_file_io_give(struct pl_file *file, const struct pl_file_io *io, const struct pl_file_form *form,
                             struct pl_request *request, MPI_Count bytes)
{
    switch (form->kind) {
    case PL_FILE_RUN: set_status(form->status, bytes); break;
    case PL_FILE_START:
        request->outcome = (struct pl_outcome)PL_OUTCOME_OF_NOBODY;
        request->outcome.bytes = bytes;
        atomic_store_explicit(&request->done, 1, memory_order_release);
        *form->request = pl_object_handle(request);
        break;
    case PL_FILE_BEGIN:
        pl_lock_take(&file->lock);
        file->split = (struct pl_file_split){ true, io->write, io->position, io->buf, bytes };
        pl_lock_drop(&file->lock);
        break;
    }
}

/* In a nonblocking collective each process performs its own access, since it must not wait for the others. */
int pl_do_file(struct pl_call *call, MPI_File fh, struct pl_file_io io, MPI_Datatype datatype, struct pl_file_form form)
{
    struct pl_file *file = pl_arg_file(call, fh);
    pl_arg_count(call, io.count);
    io.type = pl_arg_type(call, datatype);
    pl_arg_buffer(call, io.buf, io.count, io.type);
    if (form.kind == PL_FILE_START)
        pl_arg_output(call, form.request, "request");
    mpi_file_io_check_access(call, file, &io);
    if (io.collective)
        check_split(call, file);
    struct pl_request *request = NULL;
    if (form.kind == PL_FILE_START)
        io.collective = false;
    if (!call->err && form.kind == PL_FILE_START) {
        request = pl_request_create(PL_REQ_COMPLETE, NULL, NULL, false);
        call->err = request ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    MPI_Count bytes = 0;
    if (!call->err || (file && io.collective)) /* the others may wait for this process */
        call->err = pl_file_access(file, &io, call->err, &bytes);
    if (!call->err)
        mpi_file_io_give(file, &io, &form, request, bytes);
    else if (request)
        pl_handle_drop(request);
    return pl_call_leave(call);
}

int pl_do_file_end(struct pl_call *call, MPI_File fh, bool write, enum pl_file_position position, const void *buf,
                   MPI_Status *status)
{
    struct pl_file *file = pl_arg_file(call, fh);
    if (call->err)
        return pl_call_leave(call);
    pl_lock_take(&file->lock);
    struct pl_file_split split = file->split;
    bool fits = split.active && split.write == write && split.position == position && split.buf == buf;
    file->split.active = split.active && !fits;
    pl_lock_drop(&file->lock);
    if (!split.active)
        pl_call_error(call, MPI_ERR_IO, "no split collective is active on %s", file->name);
    else if (!fits && split.buf != buf)
        pl_call_error(call, MPI_ERR_BUFFER, "buf is not the buffer of the first half of the split collective");
    else if (!fits)
        pl_call_error(call, MPI_ERR_IO, "another split collective is active on %s", file->name);
    else
        set_status(status, split.bytes);
    return pl_call_leave(call);
}

/* --- the functions ------------------------------------------------------------------------------------------------ */

int MPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_read), fh, PL_READ(PL_FILE_OWN, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_all), fh, PL_READ_ALL(PL_FILE_OWN, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_all_c), fh, PL_READ_ALL(PL_FILE_OWN, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_read_at), fh, PL_READ(PL_FILE_AT, offset), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_at_all), fh, PL_READ_ALL(PL_FILE_AT, offset),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_at_all_c), fh, PL_READ_ALL(PL_FILE_AT, offset),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_read_at_c), fh, PL_READ(PL_FILE_AT, offset), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_read_c), fh, PL_READ(PL_FILE_OWN, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_ordered), fh, PL_READ_ALL(PL_FILE_SHARED, 0),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_read_ordered_c), fh, PL_READ_ALL(PL_FILE_SHARED, 0),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_read_shared), fh, PL_READ(PL_FILE_SHARED, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_read_shared_c), fh, PL_READ(PL_FILE_SHARED, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_write), fh, PL_WRITE(PL_FILE_OWN, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_all), fh, PL_WRITE_ALL(PL_FILE_OWN, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_all_c), fh, PL_WRITE_ALL(PL_FILE_OWN, 0),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_write_at), fh, PL_WRITE(PL_FILE_AT, offset), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_at_all), fh, PL_WRITE_ALL(PL_FILE_AT, offset),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_at_all_c), fh, PL_WRITE_ALL(PL_FILE_AT, offset),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_write_at_c), fh, PL_WRITE(PL_FILE_AT, offset), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_write_c), fh, PL_WRITE(PL_FILE_OWN, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_ordered), fh, PL_WRITE_ALL(PL_FILE_SHARED, 0),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL_TOGETHER(MPI_File_write_ordered_c), fh, PL_WRITE_ALL(PL_FILE_SHARED, 0),
                      datatype, PL_FILE_WAIT(status));
}

int MPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_write_shared), fh, PL_WRITE(PL_FILE_SHARED, 0), datatype,
                      PL_FILE_WAIT(status));
}

int MPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return pl_do_file(&(struct pl_call)PL_CALL(MPI_File_write_shared_c), fh, PL_WRITE(PL_FILE_SHARED, 0), datatype,
                      PL_FILE_WAIT(status));
}

PL_NAMES_FILE_IO(PL_PMPI)
