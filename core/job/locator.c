/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/job/locator.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/boot_id.h"
#include "core/base/hash.h"
#include "core/base/proc_stat.h"

uint64_t pl_locator_node(void)
{
    struct stat st = { .st_ino = 0 };
    if (stat("/proc/self/ns/pid", &st) != 0)
        st.st_ino = 0;
    return pl_hash_text(PL_HASH_BEGIN, pl_boot_id()) ^ st.st_ino;
}

struct pl_locator pl_locator_self(void)
{
    struct pl_proc_stat stat = { .started = 0 };
    if (pl_proc_is_own())
        pl_proc_stat_read(getpid(), &stat);
    return (struct pl_locator){ .node = pl_locator_node(), .pid = (int32_t)getpid(), .started = stat.started };
}

bool pl_locator_has_ended(const struct pl_locator *there)
{
    struct pl_proc_stat stat;
    if (there->pid <= 0 || there->started == 0 || there->node != pl_locator_node() || !pl_proc_is_own())
        return false;
    int error = pl_proc_stat_read((pid_t)there->pid, &stat);
    if (error)
        return pl_proc_stat_is_absent(error);
    return pl_proc_stat_is_zombie(&stat) || (stat.started != 0 && stat.started != there->started);
}
