/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of a window (MPI-5.0 section 12.2). */
#ifndef PLENUM_CORE_RMA_WINDOW_INFO_H
#define PLENUM_CORE_RMA_WINDOW_INFO_H

#include <stddef.h>

struct pl_info;
struct pl_win;

enum {
    PL_WIN_HINT = 24, /* bytes of a hint's text */
    PL_HINT_NO_LOCKS = 1,
    PL_HINT_SAME_SIZE = 2,
    PL_HINT_SAME_DISP_UNIT = 4,
    PL_HINT_NONCONTIGUOUS = 8,
};

/* comm->lock; what decides the memory's layout never changes. */
struct pl_win_hints {
    unsigned flags;
    size_t alignment; /* of the memory that the window allocates, beyond a page; 0: not asked for */
    char ordering[PL_WIN_HINT], ops[PL_WIN_HINT], granularity[PL_WIN_HINT];
};

/* Reads the hints of `info`; NULL: none. Ignores unknown keys and values. MPI_ERR_NO_MEM. */
int pl_win_info_set(struct pl_win *win, struct pl_info *info);

/* Adds the hints in use to `used`. MPI_ERR_NO_MEM. */
int pl_win_info_get(struct pl_win *win, struct pl_info *used);

#endif
