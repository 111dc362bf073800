/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/inherited/rank_claim.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/proc_stat.h"
#include "core/job/process.h"
#include "core/job/tenant.h"
#include "plugins/inherited/job_map.h"

enum { CLAIMS = 100 }; /* tries to claim a rank whose owner changes all the time */

/* --- processes --------------------------------------------------------------------------------------------------- */

/* Without /proc, a zombie counts as alive. */
bool pl_inherited_process_lives(pid_t pid)
{
    struct pl_proc_stat stat;
    int error = pl_proc_stat_read(pid, &stat);
    return error ? kill(pid, 0) == 0 || errno != ESRCH : !pl_proc_stat_is_zombie(&stat);
}

/* Names the pid namespace and the user namespace of this process. 0: there is no /proc, or that of other processes. */
static uint64_t inherited_home(void)
{
    static const char *const names[] = { "/proc/self/ns/pid", "/proc/self/ns/user" };
    uint64_t home = 1;
    if (!pl_proc_is_own())
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat st;
        if (stat(names[i], &st) != 0)
            return 0;
        home = pl_hash_add(home, (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 32);
    }
    return home;
}

/* Is this process in other namespaces than the first of the job, or can it not know? */
static bool inherited_is_apart(void)
{
    uint64_t home = inherited_home(), first = 0;
    return !home || (!atomic_compare_exchange_strong(&pl_inherited.common->home, &first, home) && first != home);
}

/* Is this process in another namespace than the runtime, or is that unknown? */
static bool inherited_differs(const char *namespace, uint64_t of_runtime)
{
    struct stat st;
    return stat(namespace, &st) != 0 || (uint64_t)st.st_ino != of_runtime;
}

bool pl_inherited_pid_is_foreign(int rank)
{
    return pl_inherited.apart || atomic_load(&pl_inherited.common->ranks[rank].apart) & PL_APART_PROCESSES;
}

bool pl_inherited_is_taken(const struct pl_job_rank *rank, int32_t pid, int32_t self)
{
    if (pl_inherited.apart || atomic_load(&rank->apart) & PL_APART_PROCESSES)
        return pid != 0 && pid != self;
    return pid != 0 && pid != self && pl_inherited_process_lives(pid);
}

static int32_t inherited_claim_process(struct pl_job_rank *rank)
{
    int32_t self = (int32_t)getpid(), holder = 0;
    for (int i = 0; i < CLAIMS && !atomic_compare_exchange_strong(&rank->process, &holder, self); i++)
        if (holder == self || pl_inherited_is_taken(rank, holder, self))
            break;
    return holder == self || atomic_load(&rank->process) == self ? 0 : holder;
}

int32_t pl_inherited_claim(int rank)
{
    struct pl_job_rank *first = &pl_inherited.common->ranks[rank];
    pl_inherited.held = rank;
    pl_inherited.apart = inherited_is_apart();
    pl_inherited.hidden = !pl_proc_is_own() || inherited_differs("/proc/self/ns/pid", pl_inherited.job->runtime_pids);
    pl_inherited.confined = inherited_differs("/proc/self/ns/user", pl_inherited.job->runtime_users);
    uint32_t apart = (pl_inherited.apart ? PL_APART_PROCESSES : 0u) | (pl_inherited.hidden ? PL_APART_RUNTIME : 0u);
    if (apart && !atomic_load(&first->process))
        atomic_store(&first->apart, apart); /* before others see the pid */
    int32_t holder = inherited_claim_process(first);
    if (!holder)
        atomic_store(&first->apart, apart);
    return holder;
}

/* --- the copies of the library in this process -------------------------------------------------------------------- */

/* The program before it has finalized, or could not initialize MPI. */
static void inherited_begin_state(struct pl_job_rank *rank)
{
    static const uint32_t past[] = { PL_PROCESS_FINALIZED, PL_PROCESS_UNABLE, PL_PROCESS_GIVEN_UP };
    for (size_t i = 0; i < sizeof past / sizeof *past; i++) {
        uint32_t earlier = past[i];
        atomic_compare_exchange_strong(&rank->state, &earlier, PL_PROCESS_STARTED);
    }
}

/* Numbers the claim. If the claim before it in this program did not use the World, the number stays: a rank that loads
 * a library once more than the others remains in step with them. */
static void inherited_number_claim(struct pl_job_rank *rank, bool same_program)
{
    static int32_t claimed_by; /* the process that this copy last claimed it for */
    bool again = claimed_by == (int32_t)getpid() && atomic_load(&rank->claims) > 0;
    if (again || (same_program && atomic_load(&rank->state) == PL_PROCESS_STARTED)) {
        pl_inherited.generation = atomic_load(&rank->claims);
    } else {
        inherited_begin_state(rank);
        pl_inherited.generation = atomic_fetch_add(&rank->claims, 1) + 1;
    }
    claimed_by = (int32_t)getpid();
}

/* Makes this copy the owner of a rank of this process. False: another copy is. */
static bool inherited_own(struct pl_job_rank *rank)
{
    int32_t self = (int32_t)getpid(), owner = atomic_load(&rank->owner);
    uint64_t copy = atomic_load(&rank->copy);
    bool ours = pl_job_owner_pid(owner) == self;
    if (ours && pl_tenant_is_other(copy))
        return false;
    if (!atomic_compare_exchange_strong(&rank->copy, &copy, pl_tenant_copy()))
        return false;
    inherited_number_claim(rank, ours && pl_tenant_same_program(copy));
    atomic_store(&rank->dead, 0); /* an earlier owner may have had this pid */
    atomic_store(&rank->owner, self);
    return true;
}

/* Makes the place of a tenant like new, unless a copy has MPI open there. A copy of this process that was unloaded in
 * the middle of a session has not. */
static bool inherited_empty_place(int tenant)
{
    struct pl_job_shared *part = pl_inherited_map_part(tenant, secure_getenv(PL_JOB_ENV));
    int32_t self = (int32_t)getpid();
    bool idle = part != NULL;
    for (uint32_t r = 0; idle && r < pl_inherited.job->size; r++) {
        struct pl_job_rank *rank = &part->ranks[r];
        int32_t owner = atomic_load(&rank->owner);
        idle = owner <= 0 ||
               (owner == self && (int)r == pl_inherited.held && !pl_tenant_is_loaded(atomic_load(&rank->copy)));
    }
    idle = idle && madvise(part, pl_inherited.job->tenant_bytes, MADV_REMOVE) == 0;
    if (part)
        munmap(part, pl_inherited.job->tenant_bytes);
    return idle;
}

/* Takes the place with this name for this copy. PL_AGAIN: it is another copy's. In a job over several hosts a place
 * keeps its name: the other hosts would number the claims of the next tenant otherwise, and what they still say of the
 * one before would be lost. */
static int inherited_take_place(const char *name, const char *text)
{
    int tenant = pl_tenant_find(pl_inherited.common, pl_inherited.job->tenants, name);
    if (tenant < 0 && pl_inherited.job->hosts <= 1)
        tenant = pl_tenant_replace(pl_inherited.common, pl_inherited.job->tenants, name, inherited_empty_place);
    if (tenant < 0)
        return pl_fail(MPI_ERR_OTHER,
                       "there is no place for \"%.100s\", since %u other libraries of this job %s: "
                       "let libraries share a copy (mpicc --private=shared), or set PLENUM_ALONE=1",
                       name, (unsigned)pl_inherited.job->tenants - 1,
                       pl_inherited.job->hosts > 1 ? "have had a copy of MPI, and it is on several hosts"
                                                   : "have a copy of MPI open");
    pl_inherited.shared = tenant == 0 ? pl_inherited.common : pl_inherited_map_part(tenant, text);
    if (!pl_inherited.shared)
        return MPI_ERR_OTHER;
    pl_inherited.own = &pl_inherited.shared->ranks[pl_inherited.held];
    if (inherited_own(pl_inherited.own))
        return MPI_SUCCESS;
    if (pl_inherited.shared != pl_inherited.common)
        munmap(pl_inherited.shared, pl_inherited.job->tenant_bytes);
    pl_inherited.shared = NULL;
    return PL_AGAIN;
}

int pl_inherited_settle(const char *text)
{
    int rc = PL_AGAIN;
    char name[PL_TENANT_NAME];
    bool locked = false;
    for (uint32_t number = 1; rc == PL_AGAIN && number <= PL_JOB_TENANTS; number++) {
        pl_tenant_name(number, name);
        if (name[0] && !locked)
            pl_tenant_lock(pl_inherited.common);
        locked = name[0] != '\0';
        rc = inherited_take_place(name, text);
    }
    if (locked)
        pl_tenant_unlock(pl_inherited.common);
    return rc == PL_AGAIN ? pl_fail(MPI_ERR_OTHER, "%d copies of the MPI library in this process have the name %.100s",
                                    PL_JOB_TENANTS, name)
                          : rc;
}
