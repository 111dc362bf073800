/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a file's next access happens: setting its view and its two pointers. Locking: see file.h. */
#ifndef PLENUM_CORE_FILE_POSITION_H
#define PLENUM_CORE_FILE_POSITION_H

#include "core/file/file.h"

/* Collective. An error on one process is an error on all, and the old view stays. `error` is one that the caller has
 * found (see pl_file_open()). */
int pl_file_set_view(struct pl_file *file, int error, MPI_Offset disp, struct pl_type *etype, struct pl_type *filetype,
                     const char *datarep, struct pl_info *info);

/* The individual pointer, not collective; and the shared one, collective. `whence`: MPI_SEEK_*. MPI_ERR_ARG. */
int pl_file_seek(struct pl_file *file, MPI_Offset offset, int whence);
int pl_file_seek_shared(struct pl_file *file, MPI_Offset offset, int whence);

#endif
