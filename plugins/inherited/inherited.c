/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstrap by inheritance: the job segment that the embedded launcher left open for this process (core/job/segment.h).
 *
 * A rank has one owner. The first process that opens it sets the owner word to its pid. A child with the same
 * environment finds the rank taken and becomes a singleton. An owner that releases the rank leaves its pid negated: the
 * rank stays reserved while that process lives, whatever it starts between two sessions. A rank whose owner has ended
 * may be claimed again (`mpiexec sh -c "./a; ./b"`). Claims are numbered (the generation), and only processes with the
 * same number see each other's World.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/engine/transport.h"
#include "core/job/card.h"
#include "core/job/process.h"

enum { CLAIMS = 100 }; /* tries to claim a rank whose owner changes all the time */

static const struct pl_job_segment *job; /* mapped for reading */
static struct pl_job_shared *shared;
static size_t job_bytes, shared_bytes;
static struct pl_job_rank *own;
static uint32_t generation;

static int inherited_bad(const char *text, const char *why)
{
    return pl_fail(MPI_ERR_OTHER, "%s=%s does not name this process's job: %s; unset it to start alone", PL_JOB_ENV,
                   text, why);
}

/* NULL: an error, recorded. */
static void *inherited_map(int fd, int how, const char *text, size_t *bytes)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        inherited_bad(text, "the descriptor is not an open file");
        return NULL;
    }
    *bytes = (size_t)st.st_size;
    void *at = mmap(NULL, *bytes ? *bytes : 1, how, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED)
        return at;
    inherited_bad(text, strerror(errno));
    return NULL;
}

static void inherited_unmap(void)
{
    if (job)
        munmap((void *)job, job_bytes ? job_bytes : 1);
    if (shared)
        munmap(shared, shared_bytes ? shared_bytes : 1);
    job = NULL;
    shared = NULL;
}

/* Maps the part that processes write. The descriptor may mean something else by now: the length must be the stated one.
 */
static int inherited_map_shared(const char *text)
{
    shared = inherited_map(job->shared_fd, PROT_READ | PROT_WRITE, text, &shared_bytes);
    if (shared && shared_bytes != job->shared_bytes)
        return inherited_bad(text, "its shared part does not have the length that it states");
    return shared ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* The state letter of /proc/PID/stat: 'Z' for a zombie, 'X' for a process that does not exist, 'R' if unknown. */
static char inherited_process_state(pid_t pid)
{
    char path[32], state = 'R';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return kill(pid, 0) == 0 || errno != ESRCH ? 'R' : 'X';
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'R';
    fclose(file);
    return state;
}

/* A zombie has ended. */
static bool inherited_process_lives(pid_t pid)
{
    char state = inherited_process_state(pid);
    return state != 'X' && state != 'Z';
}

/* Does a rank with this owner word belong to another process? */
static bool inherited_taken(int32_t owner, int32_t self)
{
    int32_t pid = pl_job_owner_pid(owner);
    return pid != 0 && pid != self && inherited_process_lives(pid);
}

/* True if this process owns the rank now. False if it owned it before: then another copy of the library uses it. */
static bool inherited_claim(struct pl_job_rank *rank)
{
    static int32_t claimed_by; /* the pid that last claimed it: a process that claims it again keeps its number */
    int32_t self = (int32_t)getpid(), owner = 0;
    int tries = 0;
    while (!atomic_compare_exchange_strong(&rank->owner, &owner, self))
        if (owner == self || inherited_taken(owner, self) || ++tries == CLAIMS)
            return false;
    if (claimed_by != self) {
        uint32_t earlier = PL_PROCESS_FINALIZED; /* the program before it has */
        atomic_compare_exchange_strong(&rank->state, &earlier, PL_PROCESS_STARTED);
        generation = atomic_fetch_add(&rank->claims, 1) + 1;
    }
    claimed_by = self;
    return true;
}

/* Maps the job that the environment names. PL_UNREACHABLE: it names none. */
static int inherited_find_job(int *rank)
{
    const char *text = secure_getenv(PL_JOB_ENV);
    if (!text)
        return PL_UNREACHABLE;
    int fd, end = 0;
    unsigned long long cookie;
    if (sscanf(text, "%d:%16llx:%d%n", &fd, &cookie, rank, &end) != 3 || text[end] != '\0')
        return inherited_bad(text, "it is not <descriptor>:<cookie>:<rank>");
    job = inherited_map(fd, PROT_READ, text, &job_bytes);
    if (!job)
        return MPI_ERR_OTHER;
    const char *why = pl_job_segment_check(job, job_bytes, cookie, *rank);
    if (!why && !job->gone)
        why = "it is the memory of a pool";
    int rc = why ? inherited_bad(text, why) : inherited_map_shared(text);
    if (rc)
        inherited_unmap();
    return rc;
}

static int inherited_open(struct pl_identity *identity)
{
    int rank;
    int rc = inherited_find_job(&rank);
    if (rc)
        return rc;
    own = &shared->ranks[rank];
    if (!inherited_claim(own)) {
        pl_log("process", 1, "rank %d of %s belongs to process %d; starting alone", rank, job->nspace,
               (int)pl_job_owner_pid(atomic_load(&own->owner)));
        inherited_unmap();
        return PL_UNREACHABLE;
    }
    snprintf(identity->nspace, sizeof identity->nspace, "%s", job->nspace);
    identity->key = job->cookie;
    identity->rank = rank;
    identity->size = identity->local_size = (int)job->size;
    identity->appnum = job->appnum ? ((const int32_t *)((const char *)job + job->appnum))[rank] : -1;
    identity->universe = (int)job->universe;
    identity->slots = (int)job->slots;
    identity->generation = generation;
    identity->job = job;
    identity->shared = shared;
    identity->watched = job->survives_failures;
    return MPI_SUCCESS;
}

static void inherited_close(void)
{
    for (int i = 0; i < PL_CARD_SLOTS; i++)
        pl_job_card_withdraw(&own->card[i]);
    atomic_store(&own->owner, -(int32_t)getpid());
    inherited_unmap();
}

static int inherited_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    static uint32_t listeners;
    if (length == 0)
        pl_job_card_withdraw(&own->card[slot]);
    else
        pl_job_card_write(&own->card[slot],
                          slot == PL_CARD_LISTENER ? generation << 16 | (++listeners & 0xffff) : generation, card,
                          length);
    return MPI_SUCCESS;
}

/* Did the program of this claim finalize, or has a later one claimed the rank? */
static bool inherited_finalized(int rank)
{
    const struct pl_job_rank *peer = &shared->ranks[rank];
    uint32_t claims = atomic_load(&peer->claims);
    return claims > generation || (claims == generation && atomic_load(&peer->state) == PL_PROCESS_FINALIZED);
}

static int inherited_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    const struct pl_job_rank *peer = &shared->ranks[rank];
    uint32_t number = pl_job_card_read(&peer->card[slot], card, length);
    if (slot == PL_CARD_LISTENER ? number != 0 : number == generation)
        return MPI_SUCCESS;
    if (atomic_load(pl_job_gone(job, rank)))
        return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has ended", rank);
    if (slot == PL_CARD_WORLD && inherited_finalized(rank))
        return pl_fail(MPI_ERR_PROC_ABORTED, "rank %d has finalized", rank);
    return PL_AGAIN;
}

/* Called often, so it does not read /proc. A rank that its owner has released is not dead: the next program of a script
 * may claim it. */
static int inherited_alive(int rank)
{
    const struct pl_job_rank *peer = &shared->ranks[rank];
    int32_t owner = atomic_load(&peer->owner);
    bool ended = atomic_load(pl_job_gone(job, rank)) || (owner > 0 && !inherited_process_lives(owner));
    return ended ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

/* A process that has released its rank has not died: it departed. */
static bool inherited_died(int rank)
{
    return atomic_load(&shared->ranks[rank].owner) > 0 && inherited_alive(rank) != MPI_SUCCESS;
}

/* Has another rank's process ended without having finalized or aborted? */
static bool inherited_other_died(int own_rank)
{
    for (uint32_t i = 0; i < job->size; i++) {
        struct pl_job_rank *rank = &shared->ranks[i];
        int32_t pid = atomic_load(&rank->owner);
        uint32_t at = atomic_load(&rank->state);
        if ((int)i != own_rank && pid > 0 && at != PL_PROCESS_FINALIZED && at != PL_PROCESS_ABORTED &&
            !inherited_process_lives(pid))
            return true;
    }
    return false;
}

/* If this process aborts because another rank died, the user must see that death, not its consequence. So this process
 * waits, for up to a second, for the launcher to report the death and end the job. */
static void inherited_wait_for_launcher(int rank)
{
    for (int i = 0; i < 50 && inherited_other_died(rank); i++)
        pl_clock_sleep_ns(20 * PL_NS_PER_MS);
}

/* Marks a rank of this job as aborted with this process; the runtime reads that when this process has ended. */
static bool aborting_some;
static void inherited_mark_aborting(int rank)
{
    aborting_some = true;
    atomic_store(&shared->ranks[rank].must_end, 1);
}

static void inherited_tell(int rank, int code, const char *object, const char *message)
{
    struct pl_job_abort *record = &shared->abort;
    inherited_wait_for_launcher(rank);
    atomic_store(&shared->ranks[rank].state, PL_PROCESS_ABORTED);
    if (atomic_exchange(&record->claimed, 1) != 0)
        return; /* another rank was first: the job reports its reason */
    record->partial = aborting_some;
    record->rank = rank;
    record->code = code;
    snprintf(record->object, sizeof record->object, "%s", object ? object : "");
    snprintf(record->message, sizeof record->message, "%s", message ? message : "");
    atomic_store_explicit(&record->set, 1, memory_order_release);
}

static void inherited_abort(int code, const char *object, const char *message)
{
    inherited_tell(pl_process.identity.rank, code, object, message);
}

static bool inherited_abort_early(int code, const char *object, const char *message)
{
    int rank;
    if (inherited_find_job(&rank))
        return false;
    bool ours = !inherited_taken(atomic_load(&shared->ranks[rank].owner), (int32_t)getpid());
    if (ours)
        inherited_tell(rank, code, object, message);
    inherited_unmap();
    return ours;
}

static void inherited_state(enum pl_process_state state)
{
    atomic_store(&own->state, (uint32_t)state);
}

const struct pl_bootstrap_ops pl_bootstrap_inherited = {
    .abi = PL_BOOTSTRAP_ABI,
    .name = "inherited",
    .open = inherited_open,
    .close = inherited_close,
    .publish = inherited_publish,
    .lookup = inherited_lookup,
    .abort = inherited_abort,
    .abort_also = inherited_mark_aborting,
    .state = inherited_state,
    .alive = inherited_alive,
    .died = inherited_died,
    .finalized = inherited_finalized,
    .abort_early = inherited_abort_early,
};
