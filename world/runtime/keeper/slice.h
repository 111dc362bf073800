/* SPDX-License-Identifier: BSD-3-Clause */
/* Time slices of processes, by sched_getattr() and sched_setattr(). Older C libraries lack both, and the kernel's
 * header of the structure cannot be used beside <sched.h>. */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_SLICE_H
#define PLENUM_WORLD_RUNTIME_KEEPER_SLICE_H

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's struct sched_attr, as in its first version. */
struct pl_sched_attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* ns. With an ordinary policy `runtime` is the slice; 0: the kernel has none */
};

/* Of this process. 0 or -1 and errno. */
static inline int pl_sched_get(struct pl_sched_attr *attr)
{
    return (int)syscall(SYS_sched_getattr, 0, attr, (unsigned)sizeof *attr, 0);
}

static inline int pl_sched_set(struct pl_sched_attr *attr)
{
    attr->size = sizeof *attr;
    return (int)syscall(SYS_sched_setattr, 0, attr, 0);
}

#endif
