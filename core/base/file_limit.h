/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of the length of files (ulimit -f). Memory files have it, too. A longer one raises SIGXFSZ, which ends the
 * process; so it is asked before. */
#ifndef PLENUM_CORE_BASE_FILE_LIMIT_H
#define PLENUM_CORE_BASE_FILE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

static inline bool pl_file_limit_allows(uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

#endif
