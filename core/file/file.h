/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files (MPI-5.0 chapter 14). A file is a descriptor in each process and a communicator of its own. The
 * processes agree on it about what is collective; the user's communicator only serves to create it.
 *
 *     file.h            opening, closing, size, and what else concerns the whole file
 *     position.h        setting the view and the pointers
 *     shared_pointer.h  the shared file pointer
 *     hints.h           hints
 *     view.h            from numbers of etypes to bytes of the file
 *     datarep.h         representations of data in the file
 *     access.h          reading and writing: one worker for all forms
 *     two_phase.h       the same by several processes together
 *
 * Every access, also a nonblocking one, is complete when the call that starts it returns. So a file never has a pending
 * operation, and no process needs another one's progress except in collective calls.
 *
 * Locking: `lock` protects the error handler, the individual pointer and the split collective. `turn` is held during
 * accesses in atomic mode, since locks of ranges of a file do not separate the threads of a process. Only collective
 * calls change the view, the hints and the modes; during these the user must not use the file otherwise.
 */
#ifndef PLENUM_CORE_FILE_FILE_H
#define PLENUM_CORE_FILE_FILE_H

#include "core/base/compiler.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/file/hints.h"
#include "core/file/shared_pointer.h"
#include "core/file/view.h"
#include "core/object/object.h"

struct pl_errhandler;
struct pl_info;

/* Where an access begins: at an explicit offset, at the individual pointer, at the shared pointer. */
enum pl_file_position { PL_FILE_AT, PL_FILE_OWN, PL_FILE_SHARED };

/* A split collective between its two calls. */
struct pl_file_split {
    bool active, write;
    enum pl_file_position position;
    const void *buf;
    MPI_Count bytes; /* read or written */
};

struct pl_file {
    struct pl_object obj;
    struct pl_comm *comm;  /* its own; one handle */
    struct pl_child child; /* of the instance */
    struct pl_lock lock, turn;
    struct pl_errhandler *errhandler; /* retained */
    struct pl_info *info;             /* what the user asserted about kinds of memory; NULL: nothing */
    char *name;                       /* without a prefix */
    int fd;
    uint64_t limit; /* of the bytes in a file (ulimit -f), when it was opened */
    int amode;
    bool atomic;
    _Atomic bool dirty; /* written to since it was last synchronized */
    struct pl_view view;
    MPI_Offset position; /* the individual pointer, in etypes */
    struct pl_file_pointer pointer;
    struct pl_file_split split;
    struct pl_file_hints hints;
};

/* Collective, as all functions that follow unless they say otherwise. The arguments need not be valid: all processes
 * find that out together. `error` is an error that the caller has found and recorded: this process then takes part only
 * for the sake of the others, and its other arguments are not used. MPI_ERR_NOT_SAME, MPI_ERR_AMODE, and the classes of
 * pl_file_fail(). */
int pl_file_open(struct pl_comm *comm, int error, const char *name, int amode, struct pl_info *info,
                 struct pl_file **file);

/* Synchronizes and closes. The object stays until its handle is freed. */
int pl_file_close(struct pl_file *file);

/* The instance closes while the user still holds the file: returns its resources. Not collective. The caller holds a
 * reference. */
void pl_file_orphan(void *file);
void pl_file_destroy(void *file);
extern const struct pl_kind_errors pl_file_errors;

int pl_file_delete(const char *name); /* not collective */
int pl_file_set_size(struct pl_file *file, MPI_Offset size);
int pl_file_preallocate(struct pl_file *file, MPI_Offset size);
int pl_file_get_size(const struct pl_file *file, MPI_Offset *size); /* not collective */
int pl_file_sync(struct pl_file *file);
int pl_file_set_atomicity(struct pl_file *file, bool atomic);

/* MPI_ERR_UNSUPPORTED_OPERATION for a file with MPI_MODE_SEQUENTIAL, which has only a shared pointer. Not
 * collective. */
int pl_file_check_random(const struct pl_file *file);

/* Records a system error and returns its class. `what` ("open", "write to") and the file's name are for the message.
 * Not collective. */
PL_COLD int pl_file_fail(int error, const char *what, const char *name);

/* An error on one process becomes an error on all: each returns its own, or else the highest class. */
int pl_file_agree(struct pl_comm *comm, int error);

/* The same; and MPI_ERR_NOT_SAME on all if the processes' values differ. */
int pl_file_same(struct pl_comm *comm, int error, MPI_Offset value, const char *what);

/* Returns the first process's error, or its success, on all. */
int pl_file_tell(struct pl_comm *comm, int error);

#endif
