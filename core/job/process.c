/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locking: pl_process.lock for opening and closing; card_lock, which is taken last, for the bootstrap's publish and
 * lookup, since progress calls them.
 */
#include "core/job/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/datatype/datatype.h"
#include "core/datatype/parametric.h"
#include "core/job/attach.h"
#include "core/job/jobs.h"
#include "core/job/lacking.h"
#include "core/job/pmix_entry.h"
#include "core/job/services.h"
#include "core/object/errhandler.h"
#include "core/object/errhandler_policy.h"
#include "core/object/object.h"

extern const struct pl_bootstrap_ops pl_bootstrap_attached, pl_bootstrap_inherited, pl_bootstrap_pmi,
    pl_bootstrap_singleton;

_Atomic int pl_world_state = PL_WORLD_BEFORE;
struct pl_process pl_process = { .lock = PL_LOCK_INIT(PL_RANK_WORLD) };
static struct pl_lock card_lock = PL_LOCK_INIT(PL_RANK_LEAF);

/* The PMIx client is loaded only if a PMIx server has announced itself; and not below Plenum's launcher, whose job
 * segment takes precedence. */
static int process_open_pmix(struct pl_identity *identity, const struct pl_bootstrap_ops **ops)
{
    if (secure_getenv(PL_JOB_ENV) || !secure_getenv("PMIX_NAMESPACE"))
        return PL_UNREACHABLE;
    *ops = pl_pmix_entry_load();
    return *ops ? (*ops)->open(identity) : MPI_ERR_OTHER;
}

/* In the order in which they are tried. NULL: the PMIx plugin. */
static const struct pl_bootstrap_ops *const bootstraps[] = {
    &pl_bootstrap_attached, &pl_bootstrap_inherited, NULL, &pl_bootstrap_pmi, &pl_bootstrap_singleton,
};
enum { BOOTSTRAPS = sizeof bootstraps / sizeof *bootstraps };

/* PLENUM_ALONE keeps the process out of its launcher's job. */
static bool process_is_kept_alone(void)
{
    const char *alone = secure_getenv("PLENUM_ALONE");
    return alone && *alone && strcmp(alone, "0") != 0;
}

bool pl_process_wants_alone(void)
{
    return pl_process.chosen_alone || process_is_kept_alone();
}

static int process_find_identity(void)
{
    int rc = PL_UNREACHABLE;
    for (int i = pl_process_wants_alone() ? BOOTSTRAPS - 1 : 0; rc == PL_UNREACHABLE && i < BOOTSTRAPS; i++) {
        pl_process.identity = (struct pl_identity){ .appnum = -1, .size = 1, .local_size = 1 };
        pl_process.bootstrap = bootstraps[i];
        rc = bootstraps[i] ? bootstraps[i]->open(&pl_process.identity)
                           : process_open_pmix(&pl_process.identity, &pl_process.bootstrap);
    }
    if (rc)
        pl_process.bootstrap = NULL;
    else
        pl_group_self = pl_process_self();
    return rc;
}

static int process_open_parts(void)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS && i < PL_PROCESS_PARTS; i++)
        rc = pl_process_parts[i].open ? pl_process_parts[i].open() : MPI_SUCCESS;
    return rc;
}

static void process_close_parts(void)
{
    for (int i = 0; i < PL_PROCESS_PARTS; i++)
        if (pl_process_parts[i].close)
            pl_process_parts[i].close();
}

int pl_process_progress(void)
{
    int events = 0;
    for (int i = 0; i < PL_PROCESS_PARTS; i++)
        events += pl_process_parts[i].progress ? pl_process_parts[i].progress() : 0;
    return events;
}

static int process_draw_id(void)
{
    pl_process.id = 0;
    while (pl_process.id == 0)
        if (getrandom(&pl_process.id, sizeof pl_process.id, 0) != sizeof pl_process.id)
            return pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for the process's id");
    return MPI_SUCCESS;
}

/* One process of a job says it, and once: the others most likely have the same environment. */
static void process_warn(void)
{
    static bool warned;
    char text[512];
    pl_config_warning(text, sizeof text);
    if (warned || !text[0] || pl_process.identity.rank != 0)
        return;
    warned = true;
    if (pl_config_text("log")[0])
        pl_log("config", 1, "%s", text);
    else
        pl_log_line("config", text);
}

static int process_open_first(void)
{
    int rc = pl_config_load();
    if (rc == MPI_SUCCESS)
        rc = process_draw_id();
    if (rc == MPI_SUCCESS)
        rc = pl_errhandler_policy_open();
    if (rc == MPI_SUCCESS)
        rc = process_open_parts();
    if (rc == MPI_SUCCESS)
        rc = process_find_identity();
    if (rc) {
        pl_errhandler_policy_close();
        process_close_parts();
        return rc;
    }
    atomic_store(&pl_process.comms, 0);
    pl_process.pid = getpid();
    process_warn();
    pl_log("process", 3, "rank %d of %d in %s, by %s", pl_process.identity.rank, pl_process.identity.size,
           pl_process.identity.nspace, pl_process.bootstrap->name);
    return MPI_SUCCESS;
}

static bool process_forked(void)
{
    return pl_process.pid != 0 && pl_process.pid != getpid();
}

int pl_process_check_forked(void)
{
    if (!process_forked())
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER,
                   "this process was forked from process %d, which was using MPI, and has not called exec() since: "
                   "it cannot use MPI",
                   (int)pl_process.pid);
}

int pl_process_check_open(void)
{
    pl_lock_take(&pl_process.lock);
    bool open = pl_process.instances > 0;
    pl_lock_drop(&pl_process.lock);
    return open ? pl_process_check_forked()
                : pl_fail(MPI_ERR_OTHER, "MPI is not initialized, or finalized, and no session is open");
}

/* One instance more. The lock is held. */
static int process_open_locked(void)
{
    int rc = pl_process.instances == 0 ? process_open_first() : pl_process_check_forked();
    if (rc == MPI_SUCCESS)
        pl_process.instances++;
    return rc;
}

int pl_process_open(void)
{
    pl_lock_take(&pl_process.lock);
    int rc = process_open_locked();
    pl_lock_drop(&pl_process.lock);
    return rc;
}

int pl_process_open_alone(void)
{
    int rc;
    pl_lock_take(&pl_process.lock);
    if (pl_process.instances > 0 && pl_process.bootstrap != &pl_bootstrap_singleton) {
        rc = pl_fail(MPI_ERR_OTHER,
                     "info key plenum_alone is true, but MPI is in use here as rank %d of %d of job %s: finalize that "
                     "before, or leave the key out",
                     pl_process.identity.rank, pl_process.identity.size, pl_process.identity.nspace);
    } else {
        pl_process.chosen_alone |= pl_process.instances == 0;
        rc = process_open_locked();
        if (pl_process.instances == 0)
            pl_process.chosen_alone = false;
    }
    pl_lock_drop(&pl_process.lock);
    return rc;
}

int pl_process_check_joined(void)
{
    static const char *const offers[] = { PL_JOB_ENV, PL_ATTACH_ENV, "PMIX_NAMESPACE", "PMI_FD", "PMI_PORT" };
    const char *seen = NULL;
    for (size_t i = 0; !seen && i < sizeof offers / sizeof *offers; i++)
        seen = secure_getenv(offers[i]) ? offers[i] : NULL;
    pl_lock_take(&pl_process.lock);
    bool alone = pl_process.instances > 0 && pl_process.chosen_alone;
    pl_lock_drop(&pl_process.lock);
    if (!alone || !seen)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER,
                   "a session with the info key plenum_alone is open, so this process cannot join its launcher's job "
                   "(%s): finalize that session before, or set the key here, too",
                   seen);
}

/* The last instance keeps the process open until other processes have taken what the listener sent. Should another
 * instance have opened meanwhile, that will be the last. The lock is held, but not during the wait. */
static void process_settle_locked(void)
{
    while (pl_process.instances == 1 && pl_process.closing) {
        const struct pl_process_closing *closing = pl_process.closing;
        pl_services_forget(); /* before the ports are closed: a name must not lead to a closed port */
        if (closing->close()) {
            pl_process.closing = NULL;
            return;
        }
        pl_lock_drop(&pl_process.lock);
        closing->flush();
        pl_lock_take(&pl_process.lock);
    }
}

/* `last`: only the last instance closes; false: there are others, and nothing has changed. */
static bool process_close(bool last)
{
    struct pl_errhandler *of_files = NULL;
    pl_lock_take(&pl_process.lock);
    process_settle_locked();
    if (last && pl_process.instances > 1) {
        pl_lock_drop(&pl_process.lock);
        return false;
    }
    if (--pl_process.instances == 0) {
        pl_services_forget();
        pl_process.bootstrap->close();
        pl_process.bootstrap = NULL;
        pl_lacking_forget();
        pl_errhandler_policy_close();
        of_files = pl_errhandler_take_file_null();
        pl_process.pid = 0;
        pl_process.chosen_alone = false;
        pl_jobs_forget();
        process_close_parts();
        pl_type_trim();
    }
    pl_lock_drop(&pl_process.lock);
    pl_object_release(of_files); /* its destructor may run user code */
    pl_object_trim();
    return true;
}

void pl_process_close(void)
{
    process_close(false);
}

bool pl_process_close_last(void)
{
    return process_close(true);
}

int pl_process_lookup(uint64_t proc, enum pl_card_slot slot, void *card, size_t *length)
{
    if (PL_PROC_JOB(proc) != 0)
        return pl_fail(MPI_ERR_OTHER, "a process of another job cannot be looked up");
    pl_lock_take(&card_lock);
    int rc = pl_process.bootstrap->lookup(PL_PROC_RANK(proc), slot, card, length);
    pl_lock_drop(&card_lock);
    return rc;
}

int pl_process_alive(uint64_t proc)
{
    if (PL_PROC_JOB(proc) != 0)
        return PL_AGAIN;
    pl_lock_take(&card_lock);
    int rc = pl_process.bootstrap->alive ? pl_process.bootstrap->alive(PL_PROC_RANK(proc)) : PL_AGAIN;
    pl_lock_drop(&card_lock);
    return rc;
}

/* Of several processes, without a job segment? On several nodes all have a network. */
static bool process_is_of_one_node(void)
{
    const struct pl_identity *identity = &pl_process.identity;
    return identity->size > 1 && identity->local_size == identity->size;
}

static bool process_replaces_cards(void)
{
    pl_lock_take(&card_lock);
    bool replaces = !pl_process.bootstrap->replaces || pl_process.bootstrap->replaces();
    pl_lock_drop(&card_lock);
    return replaces;
}

void pl_process_mark_lacking(void)
{
    const struct pl_identity *identity = &pl_process.identity;
    if (identity->common)
        atomic_store(&identity->common->lacking, 1);
    else if (process_is_of_one_node())
        pl_lacking_tell(identity->nspace);
}

bool pl_process_sees_lacking(bool now)
{
    const struct pl_job_shared *shared = pl_process.identity.common;
    if (shared)
        return atomic_load_explicit(&shared->lacking, memory_order_relaxed) != 0;
    return process_is_of_one_node() && process_replaces_cards() && pl_lacking_ask(pl_process.identity.nspace, now);
}

enum pl_absence pl_process_absence(uint64_t proc, char words[PL_DETAIL_MAX])
{
    words[0] = '\0';
    if (PL_PROC_JOB(proc) != 0 || !pl_process.bootstrap->absence)
        return PL_STAYS;
    return pl_process.bootstrap->absence(PL_PROC_RANK(proc), words);
}

/* The ranks of the launcher's job do not wait for a process that is kept out of it. */
void pl_process_tell_unable(int class, const char *why)
{
    if (process_forked() || process_is_kept_alone())
        return;
    pl_lock_take(&pl_process.lock);
    for (int i = 0; i < BOOTSTRAPS; i++)
        if (bootstraps[i] && bootstraps[i]->unable)
            bootstraps[i]->unable(class, why);
    pl_lock_drop(&pl_process.lock);
}

int pl_process_check_unable(void)
{
    return pl_process.bootstrap->unable ? pl_process.bootstrap->unable(MPI_SUCCESS, NULL) : MPI_SUCCESS;
}

bool pl_process_died(uint64_t proc, bool asks)
{
    if (PL_PROC_JOB(proc) != 0 || !pl_process.bootstrap->died)
        return asks && pl_process_alive(proc) == MPI_ERR_PROC_ABORTED;
    return pl_process.bootstrap->died(PL_PROC_RANK(proc), asks);
}

bool pl_process_known_deaths(uint32_t *number)
{
    if (!pl_process.bootstrap->known_deaths)
        return false;
    *number = pl_process.bootstrap->known_deaths();
    return true;
}

uint32_t pl_process_deaths(uint64_t proc)
{
    if (PL_PROC_JOB(proc) != 0 || !pl_process.bootstrap->deaths)
        return 0;
    return pl_process.bootstrap->deaths(PL_PROC_RANK(proc));
}

int pl_process_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    pl_lock_take(&card_lock);
    int rc = pl_process.bootstrap->publish(slot, card, length);
    pl_lock_drop(&card_lock);
    return rc;
}

void pl_process_abort_also(uint64_t proc)
{
    const struct pl_bootstrap_ops *ops = pl_process.bootstrap;
    if (ops && ops->abort_also && !process_forked() && PL_PROC_JOB(proc) == 0)
        ops->abort_also(PL_PROC_RANK(proc));
}

/* No bootstrap is open. False: no launcher was told. */
static bool process_abort_early(int code, const char *object, const char *message)
{
    for (int i = 0; i < BOOTSTRAPS; i++)
        if (bootstraps[i] && bootstraps[i]->abort_early && bootstraps[i]->abort_early(code, object, message))
            return true;
    return false;
}

void pl_process_abort(int code, const char *object, const char *message)
{
    const struct pl_bootstrap_ops *ops = pl_process.bootstrap;
    fflush(stdout); /* the program's output so far may explain its end */
    if (ops && !process_forked())
        ops->abort(code, object, message);
    else if (ops || !process_abort_early(code, object, message))
        fprintf(stderr, "%s\n", message);
    /* An exit status has 8 bits; a nonzero code must not become success. */
    _exit(code != 0 && (code & 0xff) == 0 ? 1 : code & 0xff);
}

/* --- errors of no object ------------------------------------------------------------------------------------------ */

int pl_process_rank(bool open)
{
    return open || pl_world_state == PL_WORLD_INITIALIZED ? pl_process.identity.rank : -1;
}

static int no_object_rank(void *object)
{
    (void)object;
    return pl_process_rank(false);
}

static PL_NORETURN void no_object_end(void *object, bool members_only, int code, const char *message)
{
    (void)object, (void)members_only;
    pl_process_abort(code, "", message);
}

const struct pl_kind_errors pl_process_errors = { .rank = no_object_rank, .end = no_object_end };
