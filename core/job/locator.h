/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a process runs, as others can be told: so that those of the same node notice its end, whatever connects them.
 * */
#ifndef PLENUM_CORE_JOB_LOCATOR_H
#define PLENUM_CORE_JOB_LOCATOR_H

#include <stdbool.h>
#include <stdint.h>

struct pl_locator {
    uint64_t node;    /* the kernel and the pid namespace */
    uint64_t started; /* when it was, in ticks of this node; 0: not known */
    int32_t pid;
};

/* This process's. */
struct pl_locator pl_locator_self(void);

/* Has it ended? False also when that cannot be told from here. */
bool pl_locator_has_ended(const struct pl_locator *locator);

#endif
