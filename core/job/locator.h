/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies a process to other processes, so that those on the same node notice its end, whatever connects them. No
 * locks. */
#ifndef PLENUM_CORE_JOB_LOCATOR_H
#define PLENUM_CORE_JOB_LOCATOR_H

#include <stdbool.h>
#include <stdint.h>

struct pl_locator {
    uint64_t node;    /* hash of the running kernel and the pid namespace */
    uint64_t started; /* its start time, in ticks of this node; 0: unknown */
    int32_t pid;
};

/* This process's, and its node alone, which takes one call of the kernel instead of six. */
struct pl_locator pl_locator_self(void);
uint64_t pl_locator_node(void);

/* Has it ended? False also when this process cannot tell. */
bool pl_locator_has_ended(const struct pl_locator *locator);

#endif
