/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the time slice of this process in nanoseconds; 0 where the kernel has none. */
#include "world/runtime/keeper/slice.h"

#include <stdio.h>

int main(void)
{
    struct pl_sched_attr attr;
    if (pl_sched_get(&attr) != 0)
        return 1;
    printf("%llu\n", (unsigned long long)attr.runtime);
    return 0;
}
