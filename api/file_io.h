/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker of the 62 functions that read and write files. Each function states position, data and form. In their
 * bodies the arguments have the names of the standard: buf, count, datatype.
 */
#ifndef PLENUM_API_FILE_IO_H
#define PLENUM_API_FILE_IO_H

#include "api/call.h"
#include "core/file/access.h"

/* Position and data. The offset is that of the explicit forms. */
#define PL_FILE_IO(write_, collective_, position_, offset_)                                                            \
    ((struct pl_file_io){ .write = (write_),                                                                           \
                          .collective = (collective_),                                                                 \
                          .position = (position_),                                                                     \
                          .offset = (offset_),                                                                         \
                          .buf = (void *)(uintptr_t)buf,                                                               \
                          .count = count })
#define PL_READ(position, offset)      PL_FILE_IO(false, false, position, offset)
#define PL_READ_ALL(position, offset)  PL_FILE_IO(false, true, position, offset)
#define PL_WRITE(position, offset)     PL_FILE_IO(true, false, position, offset)
#define PL_WRITE_ALL(position, offset) PL_FILE_IO(true, true, position, offset)

/* The form: blocking, nonblocking, or the first half of a split collective. */
struct pl_file_form {
    enum { PL_FILE_RUN, PL_FILE_START, PL_FILE_BEGIN } kind;
    MPI_Status *status;   /* to run */
    MPI_Request *request; /* to start */
};
#define PL_FILE_WAIT(status_)   ((struct pl_file_form){ .kind = PL_FILE_RUN, .status = (status_) })
#define PL_FILE_ISSUE(request_) ((struct pl_file_form){ .kind = PL_FILE_START, .request = (request_) })
#define PL_FILE_SPLIT           ((struct pl_file_form){ .kind = PL_FILE_BEGIN })

int pl_do_file(struct pl_call *call, MPI_File fh, struct pl_file_io io, MPI_Datatype datatype,
               struct pl_file_form form);

/* The second half of a split collective. */
int pl_do_file_end(struct pl_call *call, MPI_File fh, bool write, enum pl_file_position position, const void *buf,
                   MPI_Status *status);

#endif
