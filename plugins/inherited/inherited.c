/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstrap by inheritance: the job segment that the embedded launcher left open for this process (core/job/segment.h).
 *
 * A rank belongs to one process: the first one that opens it, until that process ends. Another one, such as a child
 * that inherits the environment, is refused. The copies of the library in that process are tenants
 * (core/job/tenant.h). A tenant has one owner: the copy that first takes the place of its name, as long as it is
 * loaded and has the place. When a process has ended, its rank may be claimed again (`mpiexec sh -c "./a; ./b"`).
 * Claims of a tenant are numbered (the generation), and only processes with the same number see each other's World.
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
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/engine/transport.h"
#include "core/job/card.h"
#include "core/job/note.h"
#include "core/job/process.h"
#include "core/job/tenant.h"
#include "core/job/unable.h"

enum {
    CLAIMS = 100,      /* tries to claim a rank whose owner changes all the time */
    NOTE_TRIES = 5000, /* a millisecond apart, to write a note into a pipe that is full */
};

static const struct pl_job_segment *job; /* mapped for reading */
static struct pl_job_shared *common;     /* the first tenant's part */
static struct pl_job_shared *shared;     /* this copy's part */
static size_t job_bytes;
static struct pl_job_rank *own;
static uint32_t generation;
static int held;         /* the rank */
static bool apart;       /* struct pl_identity.apart */
static char *neighbours; /* struct pl_identity.local_ranks */

static int inherited_bad(const char *text, const char *why)
{
    return pl_fail(MPI_ERR_OTHER, "%s=%s does not name this process's job: %s; unset it to start alone", PL_JOB_ENV,
                   text, why);
}

/* The bytes of a file; 0: an error, recorded. */
static uint64_t inherited_bytes_of(int fd, const char *text)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        return (uint64_t)st.st_size;
    inherited_bad(text, "the descriptor is not an open file");
    return 0;
}

/* NULL: an error, recorded. */
static void *inherited_map(int fd, int how, uint64_t from, size_t bytes, const char *text)
{
    void *at = mmap(NULL, bytes, how, MAP_SHARED, fd, (off_t)from);
    if (at != MAP_FAILED)
        return at;
    inherited_bad(text, strerror(errno));
    return NULL;
}

static void inherited_unmap(void)
{
    if (shared && shared != common)
        munmap(shared, job->tenant_bytes);
    if (common)
        munmap(common, job->tenant_bytes);
    if (job)
        munmap((void *)job, job_bytes);
    job = NULL;
    common = shared = NULL;
    free(neighbours);
    neighbours = NULL;
}

/* Maps a tenant's part of what processes write. The descriptor may mean something else by now: the length must be the
 * stated one. */
static struct pl_job_shared *inherited_map_part(int tenant, const char *text)
{
    uint64_t bytes = inherited_bytes_of(job->shared_fd, text);
    if (bytes && bytes != job->shared_bytes)
        inherited_bad(text, "its shared part does not have the length that it states");
    if (bytes != job->shared_bytes)
        return NULL;
    return inherited_map(job->shared_fd, PROT_READ | PROT_WRITE, (uint64_t)tenant * job->tenant_bytes,
                         job->tenant_bytes, text);
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

/* Names the pid namespace and the user namespace of this process. 0: there is no /proc, or that of other processes. */
static uint64_t inherited_home(void)
{
    static const char *const names[] = { "/proc/self/ns/pid", "/proc/self/ns/user" };
    uint64_t home = 1;
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
    return !home || (!atomic_compare_exchange_strong(&common->home, &first, home) && first != home);
}

/* Does the pid of this rank mean nothing here? */
static bool inherited_pid_is_foreign(int rank)
{
    return apart || atomic_load(&common->ranks[rank].apart);
}

/* Does this pid, if it is one, belong to another process that lives? One of other namespaces counts as alive. */
static bool inherited_taken(const struct pl_job_rank *rank, int32_t pid, int32_t self)
{
    if (apart || atomic_load(&rank->apart))
        return pid != 0 && pid != self;
    return pid != 0 && pid != self && inherited_process_lives(pid);
}

/* Makes the rank this process's. 0, or the pid of the process that has it. */
static int32_t inherited_claim_rank(struct pl_job_rank *rank)
{
    int32_t self = (int32_t)getpid(), holder = 0;
    for (int i = 0; i < CLAIMS && !atomic_compare_exchange_strong(&rank->process, &holder, self); i++)
        if (holder == self || inherited_taken(rank, holder, self))
            break;
    return holder == self || atomic_load(&rank->process) == self ? 0 : holder;
}

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
        generation = atomic_load(&rank->claims);
    } else {
        inherited_begin_state(rank);
        generation = atomic_fetch_add(&rank->claims, 1) + 1;
    }
    claimed_by = (int32_t)getpid();
}

/* Makes this copy the owner of a rank of this process. False: another copy is. */
static bool inherited_claim(struct pl_job_rank *rank)
{
    int32_t self = (int32_t)getpid(), owner = atomic_load(&rank->owner);
    uint64_t copy = atomic_load(&rank->copy);
    bool ours = pl_job_owner_pid(owner) == self;
    if (ours && pl_tenant_is_other(copy))
        return false;
    if (!atomic_compare_exchange_strong(&rank->copy, &copy, pl_tenant_copy()))
        return false;
    inherited_number_claim(rank, ours && pl_tenant_same_program(copy));
    atomic_store(&rank->owner, self);
    return true;
}

/* Makes the place of a tenant like new, unless a copy has MPI open there. A copy of this process that was unloaded in
 * the middle of a session has not. */
static bool inherited_empty_place(int tenant)
{
    struct pl_job_shared *part = inherited_map_part(tenant, secure_getenv(PL_JOB_ENV));
    int32_t self = (int32_t)getpid();
    bool idle = part != NULL;
    for (uint32_t r = 0; idle && r < job->size; r++) {
        struct pl_job_rank *rank = &part->ranks[r];
        int32_t owner = atomic_load(&rank->owner);
        idle = owner <= 0 || (owner == self && (int)r == held && !pl_tenant_is_loaded(atomic_load(&rank->copy)));
    }
    idle = idle && madvise(part, job->tenant_bytes, MADV_REMOVE) == 0;
    if (part)
        munmap(part, job->tenant_bytes);
    return idle;
}

/* Takes the place with this name for this copy. PL_AGAIN: it is another copy's. In a job over several hosts a place
 * keeps its name: the other hosts would number the claims of the next tenant otherwise, and what they still say of the
 * one before would be lost. */
static int inherited_take_place(const char *name, const char *text)
{
    int tenant = pl_tenant_find(common, job->tenants, name);
    if (tenant < 0 && job->hosts <= 1)
        tenant = pl_tenant_replace(common, job->tenants, name, inherited_empty_place);
    if (tenant < 0)
        return pl_fail(MPI_ERR_OTHER,
                       "there is no place for \"%.100s\", since %u other libraries of this job %s: "
                       "let libraries share a copy (mpicc --private=shared), or set PLENUM_ALONE=1",
                       name, (unsigned)job->tenants - 1,
                       job->hosts > 1 ? "have had a copy of MPI, and it is on several hosts"
                                      : "have a copy of MPI open");
    shared = tenant == 0 ? common : inherited_map_part(tenant, text);
    if (!shared)
        return MPI_ERR_OTHER;
    own = &shared->ranks[held];
    if (inherited_claim(own))
        return MPI_SUCCESS;
    if (shared != common)
        munmap(shared, job->tenant_bytes);
    shared = NULL;
    return PL_AGAIN;
}

/* Takes the place of this copy's name, or if another copy of this process has it, the one with the next number. */
static int inherited_settle(const char *text)
{
    int rc = PL_AGAIN;
    char name[PL_TENANT_NAME];
    bool locked = false;
    for (uint32_t number = 1; rc == PL_AGAIN && number <= PL_JOB_TENANTS; number++) {
        pl_tenant_name(number, name);
        if (name[0] && !locked)
            pl_tenant_lock(common);
        locked = name[0] != '\0';
        rc = inherited_take_place(name, text);
    }
    if (locked)
        pl_tenant_unlock(common);
    return rc == PL_AGAIN ? pl_fail(MPI_ERR_OTHER, "%d copies of the MPI library in this process have the name %.100s",
                                    PL_JOB_TENANTS, name)
                          : rc;
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
    job_bytes = inherited_bytes_of(fd, text);
    job = job_bytes ? inherited_map(fd, PROT_READ, 0, job_bytes, text) : NULL;
    if (!job)
        return MPI_ERR_OTHER;
    const char *why = pl_job_segment_check(job, job_bytes, cookie, *rank);
    if (!why && !job->told)
        why = "it is the memory of a pool";
    if (why)
        inherited_bad(text, why);
    else
        common = inherited_map_part(0, text);
    if (common)
        return MPI_SUCCESS;
    inherited_unmap();
    return MPI_ERR_OTHER;
}

/* --- several hosts ------------------------------------------------------------------------------------------- */

/* The ranks of this host as a list, and their number. */
static int inherited_find_neighbours(struct pl_identity *identity)
{
    size_t used = 0;
    identity->local_size = 0;
    neighbours = pl_calloc((size_t)job->size, 12);
    if (!neighbours)
        return pl_fail_memory("the ranks of this host");
    for (uint32_t r = 0; r < job->size; r++)
        if (pl_job_host_of(job, r) == job->host) {
            used += (size_t)sprintf(neighbours + used, used ? ",%u" : "%u", (unsigned)r);
            identity->local_size++;
        }
    identity->local_ranks = neighbours;
    return MPI_SUCCESS;
}

/* The slot of this rank has changed: the agent of this host passes it on to the other hosts. A pipe that is full has
 * notes that the agent will read after this change. */
static int inherited_tell_hosts(void)
{
    if (job->hosts <= 1 || pl_job_note_send(job, &(struct pl_job_note){ .kind = PL_NOTE_SLOT, .rank = held }) ||
        errno == EAGAIN)
        return MPI_SUCCESS;
    return pl_fail(
        MPI_ERR_OTHER,
        "cannot reach the agent of this host, process %d, through /proc: the processes of other hosts do not "
        "learn the address of this one",
        (int)job->runtime_pid);
}

/* --- the identity -------------------------------------------------------------------------------------------- */

static int inherited_open(struct pl_identity *identity)
{
    int rank;
    int rc = inherited_find_job(&rank);
    if (rc)
        return rc;
    held = rank;
    apart = inherited_is_apart();
    if (apart && !atomic_load(&common->ranks[rank].process))
        atomic_store(&common->ranks[rank].apart, 1); /* before others see the pid */
    int32_t holder = inherited_claim_rank(&common->ranks[rank]);
    if (!holder)
        atomic_store(&common->ranks[rank].apart, apart);
    rc = holder ? pl_fail(MPI_ERR_OTHER,
                          "rank %d of job %s is process %d, and this is another one, such as a program that a rank has "
                          "started: to run it alone, set PLENUM_ALONE=1",
                          rank, job->nspace, (int)holder)
                : inherited_settle(secure_getenv(PL_JOB_ENV));
    identity->local_size = (int)job->size;
    if (rc == MPI_SUCCESS && job->hosts > 1)
        rc = inherited_find_neighbours(identity);
    if (rc) {
        inherited_unmap();
        return rc;
    }
    snprintf(identity->nspace, sizeof identity->nspace, "%s", job->nspace);
    identity->key = job->cookie;
    identity->rank = rank;
    identity->size = (int)job->size;
    identity->appnum = job->appnum ? ((const int32_t *)((const char *)job + job->appnum))[rank] : -1;
    identity->universe = (int)job->universe;
    identity->slots = (int)job->slots;
    identity->generation = generation;
    identity->job = job;
    identity->shared = shared;
    identity->common = common;
    identity->watched = job->survives_failures;
    identity->apart = apart;
    return MPI_SUCCESS;
}

static bool inherited_is_unable(const struct pl_job_rank *rank)
{
    uint32_t state = atomic_load(&rank->state);
    return state == PL_PROCESS_UNABLE || state == PL_PROCESS_GIVEN_UP;
}

static void inherited_close(void)
{
    pl_job_card_withdraw(&own->card[PL_CARD_LISTENER]);
    if (!inherited_is_unable(own))
        pl_job_card_withdraw(&own->card[PL_CARD_WORLD]);
    atomic_store(&own->owner, -(int32_t)getpid());
    inherited_tell_hosts();
    inherited_unmap();
}

static int inherited_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    uint32_t times = length ? atomic_fetch_add(&own->cards, 1) : 0;
    uint32_t number = slot == PL_CARD_LISTENER ? generation << 16 | (times & 0xffff)
                                               : times << PL_CARD_CLAIM_BITS | (generation & PL_CARD_CLAIM);
    if (length == 0)
        pl_job_card_withdraw(&own->card[slot]);
    else
        pl_job_card_write(&own->card[slot], number, card, length);
    return inherited_tell_hosts();
}

/* The World's card of a rank, or what is there in place of one. False: it has none for this claim. */
static bool inherited_read_world(int rank, void *card, size_t *length)
{
    uint32_t number = pl_job_card_read(&shared->ranks[rank].card[PL_CARD_WORLD], card, length);
    return number != 0 && (number & PL_CARD_CLAIM) == (generation & PL_CARD_CLAIM);
}

/* Called often, so it does not read /proc. A rank that its owner has released is not dead: the next program of a script
 * may claim it. */
static int inherited_alive(int rank)
{
    const struct pl_job_rank *peer = &shared->ranks[rank];
    int32_t owner = atomic_load(&peer->owner);
    bool ended = atomic_load(&pl_job_told(job, rank)->gone) ||
                 (owner > 0 && !inherited_pid_is_foreign(rank) && !inherited_process_lives(owner));
    return ended ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

/* A process that has released its rank has not died: it departed. */
static bool inherited_died(int rank)
{
    return atomic_load(&shared->ranks[rank].owner) > 0 && inherited_alive(rank) != MPI_SUCCESS;
}

/* Has MPI_Init failed there? Then this process acts on it. */
static bool inherited_misses(int rank, struct pl_job_unable *unable)
{
    unsigned char card[PL_CARD_MAX];
    size_t length;
    return inherited_read_world(rank, card, &length) && pl_job_unable_is(card, length, unable) &&
           pl_job_unable_settle(&shared->ranks[rank]);
}

static enum pl_absence inherited_absence(int rank, char words[PL_DETAIL_MAX])
{
    const struct pl_job_rank *peer = &shared->ranks[rank];
    uint32_t claims = atomic_load(&peer->claims);
    bool ended =
        atomic_load(&pl_job_told(job, rank)->gone) != 0; /* read before its state, which it cannot change then */
    struct pl_job_unable unable;
    if (claims > generation) {
        snprintf(words, PL_DETAIL_MAX, "has ended or finalized: another program has its rank now");
    } else if (claims == generation && atomic_load(&peer->state) == PL_PROCESS_FINALIZED) {
        snprintf(words, PL_DETAIL_MAX, "has finalized: it neither sends nor receives any more");
    } else if (inherited_died(rank)) {
        snprintf(words, PL_DETAIL_MAX, "has died");
        return PL_DIED;
    } else if (inherited_misses(rank, &unable)) {
        snprintf(words, PL_DETAIL_MAX, "takes no part, because its MPI_Init has failed: %s", unable.why);
        return PL_UNABLE;
    } else if (ended) {
        snprintf(words, PL_DETAIL_MAX, "has ended, and had not initialized MPI");
    } else {
        return PL_STAYS;
    }
    return PL_DEPARTED;
}

static int inherited_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    char words[PL_DETAIL_MAX];
    struct pl_job_unable unable;
    if (slot == PL_CARD_LISTENER) {
        if (pl_job_card_read(&shared->ranks[rank].card[slot], card, length) != 0)
            return MPI_SUCCESS;
    } else if (inherited_read_world(rank, card, length) && !pl_job_unable_is(card, *length, &unable)) {
        return MPI_SUCCESS;
    }
    if (atomic_load(&pl_job_told(job, rank)->gone))
        return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has ended", rank);
    if (slot == PL_CARD_WORLD && inherited_absence(rank, words) != PL_STAYS)
        return pl_fail(MPI_ERR_PROC_ABORTED, "rank %d %s", rank, words);
    return PL_AGAIN;
}

/* Has another rank's process ended without having finalized or aborted? */
static bool inherited_other_died(int own_rank)
{
    for (uint32_t i = 0; i < job->size; i++) {
        struct pl_job_rank *rank = &shared->ranks[i];
        int32_t pid = atomic_load(&rank->owner);
        uint32_t at = atomic_load(&rank->state);
        if ((int)i != own_rank && pid > 0 && !inherited_pid_is_foreign((int)i) && at != PL_PROCESS_FINALIZED &&
            at != PL_PROCESS_ABORTED && !inherited_process_lives(pid))
            return true;
    }
    return false;
}

/* If this process aborts because another rank died, the user must see that death, not its consequence. So this process
 * waits, for up to a second, for the launcher to report the death and end the job. Of a rank on another host only the
 * lost connection is known. */
static void inherited_wait_for_launcher(int rank, int code)
{
    bool far = job->hosts > 1 && code == MPI_ERR_PROC_ABORTED;
    for (int i = 0; i < 50 && (far || inherited_other_died(rank)); i++)
        pl_clock_sleep_ns(20 * PL_NS_PER_MS);
}

/* Marks a rank of this job as aborted with this process; the runtime reads that when this process has ended. */
static bool aborting_some;
static void inherited_mark_aborting(int rank)
{
    aborting_some = true;
    atomic_store(&common->ranks[rank].must_end, 1);
}

static void inherited_tell(int rank, int code, const char *object, const char *message)
{
    struct pl_job_abort *record = &common->abort;
    if (shared) {
        inherited_wait_for_launcher(rank, code);
        atomic_store(&shared->ranks[rank].state, PL_PROCESS_ABORTED);
    }
    atomic_store(&common->ranks[rank].state, PL_PROCESS_ABORTED);
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
    bool ours = !inherited_taken(&common->ranks[rank], atomic_load(&common->ranks[rank].process), (int32_t)getpid());
    if (ours)
        inherited_tell(rank, code, object, message);
    inherited_unmap();
    return ours;
}

static void inherited_state(enum pl_process_state state)
{
    atomic_store(&own->state, (uint32_t)state);
    if (state == PL_PROCESS_FINALIZED)
        inherited_tell_hosts();
}

/* --- MPI_Init fails ------------------------------------------------------------------------------------------- */

/* A pipe that is full is read soon. */
static void inherited_tell_parents(void)
{
    struct pl_job_note note = { .kind = PL_NOTE_UNABLE, .rank = held };
    for (int tries = 0; tries < NOTE_TRIES && !pl_job_note_send(job, &note) && errno == EAGAIN; tries++)
        pl_clock_sleep_ns(PL_NS_PER_MS);
}

/* The card is withdrawn before the state says that it is another one, and written afterwards. */
static void inherited_mark_unable(int class, const char *why)
{
    struct pl_job_unable unable = pl_job_unable(why, class == MPI_ERR_PROC_ABORTED);
    pl_job_card_withdraw(&own->card[PL_CARD_WORLD]);
    /* A process of another host that acts on it cannot say so here. */
    atomic_store(&own->state, job->hosts > 1 ? PL_PROCESS_GIVEN_UP : PL_PROCESS_UNABLE);
    inherited_publish(PL_CARD_WORLD, &unable, sizeof unable);
    if (shared == common && job->parent)
        inherited_tell_parents();
}

static int inherited_begin_again(void)
{
    uint32_t unable = PL_PROCESS_UNABLE;
    if (!shared || atomic_compare_exchange_strong(&own->state, &unable, PL_PROCESS_STARTED) ||
        unable != PL_PROCESS_GIVEN_UP)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER, "it has failed in this process before, and other processes have been told: they wait "
                                  "for this one no more");
}

static int inherited_unable(int class, const char *why)
{
    struct pl_identity identity;
    if (class == MPI_SUCCESS)
        return inherited_begin_again();
    bool opened = shared != NULL;
    int rc = opened ? MPI_SUCCESS : inherited_open(&identity);
    if (rc)
        return rc; /* this process is not the rank's, or cannot find out */
    if (!inherited_is_unable(own))
        inherited_mark_unable(class, why);
    if (!opened)
        inherited_close();
    return MPI_SUCCESS;
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
    .absence = inherited_absence,
    .unable = inherited_unable,
    .abort_early = inherited_abort_early,
};
