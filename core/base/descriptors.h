/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of descriptors of processes that hold the streams of many others. The others keep the limit of the user. */
#ifndef PLENUM_CORE_BASE_DESCRIPTORS_H
#define PLENUM_CORE_BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/resource.h>

enum { PL_DESCRIPTORS_MOST = 65536 };

/* Raises the limit of this process to its maximum, or to PL_DESCRIPTORS_MOST; never lowers it. `before` is what it was.
 * False: it still is. */
static inline bool pl_descriptors_raise(struct rlimit *before)
{
    if (getrlimit(RLIMIT_NOFILE, before) != 0)
        return false;
    struct rlimit raised = *before;
    raised.rlim_cur = before->rlim_max < PL_DESCRIPTORS_MOST ? before->rlim_max : PL_DESCRIPTORS_MOST;
    return raised.rlim_cur > before->rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

#endif
