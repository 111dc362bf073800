/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The limit on the size of files (ulimit -f), which the kernel applies to memory files, too. A write beyond it would
 * raise SIGXFSZ, which ends the process, so this is asked before the library writes to a file of its own.
 */
#ifndef PLENUM_CORE_BASE_FILE_LIMIT_H
#define PLENUM_CORE_BASE_FILE_LIMIT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* Bytes in the longest file that this process may create. */
static inline uint64_t pl_file_limit(void)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? limit.rlim_cur : UINT64_MAX;
}

/* False: errno is EFBIG. */
static inline bool pl_file_may_have(uint64_t bytes)
{
    if (bytes <= pl_file_limit())
        return true;
    errno = EFBIG;
    return false;
}

#endif
