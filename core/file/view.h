/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views of files (MPI-5.0 section 14.3): where in the file the data of one process lies.
 *
 * A view sees the file as a stream of etypes: the bytes of one filetype after the other, from the displacement on. A
 * position in it is a number of etypes; the layout of the filetype turns a range of them into runs of bytes. The view
 * holds both types twice: as the user gave them, and as stored in the file in its data representation; these are mostly
 * the same. All numbers are checked here, so a walk of a span cannot overflow.
 *
 * Only the collective call that sets a view changes it, while nothing else uses the file.
 */
#ifndef PLENUM_CORE_FILE_VIEW_H
#define PLENUM_CORE_FILE_VIEW_H

#include "core/datatype/cursor.h"
#include "core/datatype/datatype.h"
#include "core/file/datarep.h"
#include "mpi.h"

struct pl_view {
    MPI_Offset disp;
    struct pl_type *etype, *filetype;           /* the user's; retained */
    struct pl_type *file_etype, *file_filetype; /* in the file; retained */
    const struct pl_datarep *datarep;
    bool single;    /* filetypes one after the other decrease, or overlap in a written file: no access has two */
    bool ascending; /* offsets in the file grow along the stream */
    size_t run;     /* average length of a run in bytes; SIZE_MAX: all is one run */
};

/* A part of the stream, in bytes of the file, and the range of the file in which it lies. */
struct pl_span {
    size_t at, bytes;
    MPI_Offset low, high; /* the first byte, and the end; equal: nothing */
};

/* Makes a view and retains the types. `written`: the file may be written to, so no byte may be in the filetype twice.
 * MPI_ERR_ARG, MPI_ERR_TYPE for unsuitable types, MPI_ERR_CONVERSION, MPI_ERR_NO_MEM. */
int pl_view_init(MPI_Offset disp, struct pl_type *etype, struct pl_type *filetype, const struct pl_datarep *datarep,
                 bool written, struct pl_view *view);
void pl_view_fini(struct pl_view *view);

/* The span of `etypes` etypes from `offset` on (not negative). MPI_ERR_ARG if the view has no data, if they extend
 * beyond the largest offset of a file, or if they are in several filetypes that must not be used together. */
int pl_view_span(const struct pl_view *view, MPI_Offset offset, MPI_Offset etypes, struct pl_span *span);

/* The offset of an etype in the file. Errors as above. */
int pl_view_byte(const struct pl_view *view, MPI_Offset offset, MPI_Offset *byte);

/* The first etype of the view that begins at this byte of the file or after it. */
MPI_Offset pl_view_etype_from(const struct pl_view *view, MPI_Offset byte);

/* The runs of a span: a cursor over offsets in the file. */
struct pl_runs {
    struct pl_cursor cursor;
};
void pl_runs_init(struct pl_runs *runs, const struct pl_view *view, const struct pl_span *span);

/* The next run, at most `max` bytes of it; adjacent runs are merged. 0: the end. */
size_t pl_runs_next(struct pl_runs *runs, size_t max, MPI_Offset *offset);

/* Copies the next `bytes` bytes out of memory that holds the file's bytes from `low` on. */
void pl_runs_take(struct pl_runs *runs, const char *window, MPI_Offset low, void *to, size_t bytes);

#endif
