/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files (MPI-5.0 chapter 14). A file is a descriptor in each process and a communicator of its own, on which the
 * processes agree about what is collective; what the user does on the communicator it was opened with is not touched.
 *
 *     file.c             opening, closing, size, and what else concerns the whole file
 *     pointer.c       setting the view and the pointers
 *     view.h        from numbers of etypes to bytes of the file
 *     datarep.h     how data looks in the file
 *     access.h      reading and writing: one worker for all forms
 *     collective.c  the same by several processes together
 *     shared.c      the shared file pointer
 *     hints.c       hints
 *
 * Every access has happened when the call that starts it returns, also a nonblocking one: a file never has anything
 * under way, and no process needs another one's progress but in collective calls.
 *
 * Locking: error handler, individual pointer and split collective by `lock`. `turn` is held during accesses in atomic
 * mode, since locks of ranges of a file do not part the threads of a process. View, hints and modes are changed only by
 * collective calls, during which the user must not use the file otherwise.
 */
#ifndef PLENUM_CORE_FILE_FILE_H
#define PLENUM_CORE_FILE_FILE_H

#include <sys/types.h>

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/file/view.h"
#include "core/job/locator.h"
#include "core/object/object.h"

struct pl_errhandler;
struct pl_info;

/* When a collective access goes through the buffers of some processes instead of being one of each by itself. */
enum pl_file_buffering { PL_FILE_AUTOMATIC, PL_FILE_ENABLE, PL_FILE_DISABLE };

/* Hints: the same on all processes. */
struct pl_file_hints {
    int nodes;                               /* cb_nodes: processes that access the file for the others */
    MPI_Offset buffer;                       /* cb_buffer_size: bytes that each of them holds at a time */
    enum pl_file_buffering reading, writing; /* romio_cb_read, romio_cb_write */
};

/* The shared pointer: a word in memory that all processes share, or where they cannot, in a file beside the file. */
struct pl_file_pointer {
    _Atomic int64_t *word; /* etypes; NULL: in the file beside */
    _Atomic int64_t own;   /* the word of a file that one process has opened alone */
    int64_t first;         /* what it is until somebody sets it, in the file beside */
    int fd;                /* of the memory, while others are to find it; else -1 */
};

/* Which accesses there are. */
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
    int amode;
    bool atomic;
    _Atomic bool dirty; /* written to since it was last synchronized */
    struct pl_view view;
    MPI_Offset position; /* the individual pointer, in etypes */
    struct pl_file_pointer pointer;
    struct pl_file_split split;
    struct pl_file_hints hints;
};

/* Collective, as all that follow unless said. The arguments need not be valid: all processes learn that together. What
 * the caller has found wrong with others is `error` (recorded): this process then takes part for the others' sake only,
 * and nothing else is looked at. MPI_ERR_NOT_SAME, MPI_ERR_AMODE, and what pl_file_fail() says. */
int pl_file_open(struct pl_comm *comm, int error, const char *name, int amode, struct pl_info *info,
                 struct pl_file **file);

/* Synchronizes and closes; the object stays until its handle goes. */
int pl_file_close(struct pl_file *file);

/* The instance closes while the user still holds the file: gives its resources back. Not collective. The caller holds
 * a reference. */
void pl_file_orphan(void *file);
void pl_file_destroy(void *file);
extern const struct pl_kind_errors pl_file_errors;

int pl_file_delete(const char *name); /* not collective */
int pl_file_set_size(struct pl_file *file, MPI_Offset size);
int pl_file_preallocate(struct pl_file *file, MPI_Offset size);
int pl_file_get_size(const struct pl_file *file, MPI_Offset *size); /* not collective */
int pl_file_sync(struct pl_file *file);
int pl_file_set_atomicity(struct pl_file *file, bool atomic);
int pl_file_set_view(struct pl_file *file, int error, MPI_Offset disp, struct pl_type *etype, struct pl_type *filetype,
                     const char *datarep, struct pl_info *info);

/* The individual pointer, not collective; and the shared one. `whence`: MPI_SEEK_*. MPI_ERR_ARG. */
int pl_file_seek(struct pl_file *file, MPI_Offset offset, int whence);
int pl_file_seek_shared(struct pl_file *file, MPI_Offset offset, int whence);

/* MPI_ERR_UNSUPPORTED_OPERATION for a file with MPI_MODE_SEQUENTIAL, which has only a shared pointer. */
int pl_file_check_random(const struct pl_file *file);

/* The class of an error of the system, with its text, about `what` ("open", "write to") and the file's name. */
int pl_file_fail(int error, const char *what, const char *name) __attribute__((cold));

/* Agreements. Has one an error? Then all have: the own one, or else the highest class. Has every process the same
 * value? MPI_ERR_NOT_SAME on all when not. */
int pl_file_same(struct pl_comm *comm, int error, MPI_Offset value, const char *what);
int pl_file_agree(struct pl_comm *comm, int error);
int pl_file_tell(struct pl_comm *comm, int error); /* the first process's error, or none, on all */

/* --- shared.c ------------------------------------------------------------------------------------------------ */

/* How the others find the memory of the first process. */
struct pl_file_notice {
    struct pl_locator where;
    uint64_t dev, ino;
    int32_t fd; /* -1: there is none */
};

/* The first process makes the memory; the others find it, if they can; when all know whether all could, it is taken,
 * or the pointer is kept in a file beside. */
void pl_pointer_offer(struct pl_file_pointer *pointer, struct pl_file_notice *notice);
bool pl_pointer_attach(struct pl_file_pointer *pointer, const struct pl_file_notice *notice);
void pl_pointer_settle(struct pl_file_pointer *pointer, bool shared, int64_t first);

/* Lets go of it; `last`: and removes the file beside, if there is one, which no other process uses any more. */
void pl_pointer_release(struct pl_file *file, bool last);

/* Atomic among all processes. None of them waits for another. Add: gives what it was before. MPI_ERR_ARG: it would
 * become too large. */
int pl_pointer_add(struct pl_file *file, int64_t etypes, int64_t *before);
int pl_pointer_set(struct pl_file *file, int64_t etypes);

/* For as many etypes as each process says, in the order of the ranks. Collective. */
int pl_pointer_add_ordered(struct pl_file *file, int64_t etypes, int64_t *before);

/* --- hints.c ------------------------------------------------------------------------------------------------- */

/* Takes over the hints of the first process (`info` may be NULL), and what this one asserts about kinds of memory.
 * Collective. */
int pl_file_hints_set(struct pl_file *file, struct pl_info *info);
void pl_file_hints_default(struct pl_file *file);

/* Puts those in use into `used`. Not collective. */
int pl_file_hints_get(struct pl_file *file, struct pl_info *used);

#endif
