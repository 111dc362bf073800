/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/job/services.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/job/process.h"
#include "core/job/question.h"
#include "core/job/services_file.h"
#include "core/job/services_hosts.h"

enum {
    SLEEP_FIRST_MS = 1,
    SLEEP_MAX_MS = 50,    /* between lookups of a name that is awaited */
    UNDECIDED_MAX = 2000, /* checks, 1 ms apart, before a rival that neither publishes nor gives up counts as stopped */
};

static struct pl_lock services_lock = PL_LOCK_INIT(PL_RANK_LEAF);
static uint64_t last_ticket;

/* Each runtime has its own pipe for notes (core/job/note.h); a process may have several runtimes. */
static uint64_t services_runtime(void)
{
    const struct pl_job_segment *job = pl_process.identity.attached ? NULL : pl_process.identity.job;
    return !job ? 0 : job->note_pipe_inode ? job->note_pipe_inode : (uint64_t)job->runtime_pid << 32;
}

/* --- publishing --------------------------------------------------------------------------------------------------- */

/* The other entries of a name that is being claimed. */
struct rivals {
    const struct pl_service_entry *own;
    bool taken;     /* another process has published it, or claimed it earlier */
    bool undecided; /* a process that claimed it later may have seen no rival */
};

static bool services_see_rival(void *context, const struct pl_service_entry *entry)
{
    struct rivals *rivals = context;
    const struct pl_service_entry *own = rivals->own;
    if (entry->runtime != own->runtime || (entry->owner == own->owner && entry->ticket == own->ticket))
        return true;
    if (entry->state == PL_SERVICE_PUBLISHED || entry->ticket < own->ticket ||
        (entry->ticket == own->ticket && entry->owner < own->owner))
        rivals->taken = true;
    else
        rivals->undecided = true;
    return !rivals->taken;
}

/* Of several processes that claim a name at once the first one gets it, unless a later one finished before it could see
 * the first. */
static bool services_is_taken(const struct pl_service_entry *own)
{
    struct rivals rivals = { .own = own, .undecided = true };
    for (int i = 0; rivals.undecided && !rivals.taken && i < UNDECIDED_MAX; i++) {
        if (i > 0)
            pl_clock_sleep_ns(SLEEP_FIRST_MS * PL_NS_PER_MS);
        rivals.undecided = false;
        pl_services_file_scan(own->name, services_see_rival, &rivals);
    }
    return rivals.taken;
}

static int services_publish_here(const char *name, const char *value, bool restricted)
{
    struct pl_service_entry entry = {
        .state = PL_SERVICE_CLAIMED, .runtime = services_runtime(), .owner = (int32_t)getpid(), .restricted = restricted
    };
    int number;
    snprintf(entry.name, sizeof entry.name, "%s", name);
    snprintf(entry.value, sizeof entry.value, "%s", value);
    pl_lock_take(&services_lock);
    uint64_t now = (uint64_t)pl_clock_read(CLOCK_BOOTTIME); /* sleep of the machine included */
    entry.ticket = last_ticket = now > last_ticket ? now : last_ticket + 1;
    int rc = pl_services_file_add(&entry, &number);
    if (rc == MPI_SUCCESS) {
        bool taken = services_is_taken(&entry);
        pl_services_file_set_state(number, taken ? PL_SERVICE_FREE : PL_SERVICE_PUBLISHED);
        if (taken)
            rc = pl_fail(MPI_ERR_SERVICE, "service_name \"%.100s\" is published already", name);
    }
    pl_lock_drop(&services_lock);
    return rc;
}

/* The runtime has each name once, and tells its jobs on all hosts. Jobs of other runtimes find it on this host. */
static int services_publish_on_hosts(const char *name, const char *value, bool restricted)
{
    char why[PL_DETAIL_MAX];
    int rc = pl_services_hosts_publish(name, value);
    if (rc)
        return rc;
    rc = services_publish_here(name, value, restricted);
    if (rc) {
        snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
        pl_services_hosts_withdraw(name, value, true);
        pl_fail(rc, "%s", why);
    }
    return rc;
}

int pl_services_publish(const char *name, const char *value, bool restricted)
{
    if (strlen(name) >= PL_SERVICE_NAME_MAX || strlen(value) >= PL_SERVICE_VALUE_MAX)
        return pl_fail(MPI_ERR_SERVICE, "service_name has %zu characters, at most %d are allowed", strlen(name),
                       PL_SERVICE_NAME_MAX - 1);
    if (pl_question_is_for_hosts())
        return services_publish_on_hosts(name, value, restricted);
    int rc = services_publish_here(name, value, restricted);
    const struct pl_bootstrap_ops *launcher = pl_process.bootstrap;
    if (rc || restricted || !launcher->publish_name)
        return rc;
    rc = launcher->publish_name(name, value);
    if (rc == PL_UNREACHABLE) /* it has no name service: the name is known on this machine only */
        return MPI_SUCCESS;
    if (rc) {
        char why[PL_DETAIL_MAX];
        snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
        pl_services_withdraw(name, value);
        pl_fail(rc, "%s", why);
    }
    return rc;
}

int pl_services_withdraw(const char *name, const char *value)
{
    struct pl_service_entry entry;
    bool found = false, restricted = false;
    pl_lock_take(&services_lock);
    for (int i = 0; !found && pl_services_file_read(i, &entry); i++)
        if (entry.state == PL_SERVICE_PUBLISHED && strcmp(entry.name, name) == 0 && strcmp(entry.value, value) == 0) {
            pl_services_file_set_state(i, PL_SERVICE_FREE);
            found = true;
            restricted = entry.restricted;
        }
    pl_lock_drop(&services_lock);
    if (!found)
        return pl_fail(MPI_ERR_SERVICE, "service_name \"%.100s\" with this port was not published by this process",
                       name);
    if (pl_question_is_for_hosts())
        return pl_services_hosts_withdraw(name, value, true);
    if (pl_process.bootstrap->withdraw_name && !restricted)
        pl_process.bootstrap->withdraw_name(name);
    return MPI_SUCCESS;
}

/* The process closes, and its rank may go on. The caller makes no progress any more. */
static void services_forget_on_hosts(void)
{
    struct pl_service_entry entry;
    for (int i = 0; pl_services_file_read(i, &entry); i++)
        if (entry.state == PL_SERVICE_PUBLISHED && entry.owner == (int32_t)getpid())
            pl_services_hosts_withdraw(entry.name, entry.value, false);
}

void pl_services_forget(void)
{
    if (pl_question_is_for_hosts())
        services_forget_on_hosts();
    pl_lock_take(&services_lock);
    pl_services_file_close();
    pl_lock_drop(&services_lock);
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

struct services_lookup {
    uint64_t runtime;
    bool own_only, found;
    struct pl_service_entry best;
};

static bool services_see_candidate(void *context, const struct pl_service_entry *entry)
{
    struct services_lookup *find = context;
    bool near = entry->runtime == find->runtime, best_near = find->best.runtime == find->runtime;
    if (entry->state != PL_SERVICE_PUBLISHED || (!near && (find->own_only || entry->restricted)))
        return true;
    if (!find->found || near > best_near || (near == best_near && entry->ticket > find->best.ticket))
        find->best = *entry;
    find->found = true;
    return true;
}

static bool services_lookup(const char *name, bool own_only, char value[PL_SERVICE_VALUE_MAX])
{
    struct services_lookup find = { .runtime = services_runtime(), .own_only = own_only };
    const struct pl_bootstrap_ops *launcher = pl_process.bootstrap;
    if (pl_question_is_for_hosts() && pl_services_hosts_find(name, value) == MPI_SUCCESS)
        return true;
    pl_services_file_scan(name, services_see_candidate, &find);
    if (find.found)
        snprintf(value, PL_SERVICE_VALUE_MAX, "%s", find.best.value);
    return find.found || (launcher->find_name && launcher->find_name(name, value, PL_SERVICE_VALUE_MAX) == MPI_SUCCESS);
}

/* Where the name was not found, for the message. */
static const char *services_unseen(bool own_only)
{
    if (own_only)
        return " by a job of this runtime";
    if (pl_process.bootstrap->find_name)
        return "";
    if (pl_question_is_for_hosts())
        return " by a job of this runtime, nor by another process of this host";
    return " on this host; names are not visible on other hosts, so between hosts the program itself must pass on the "
           "port's name";
}

int pl_services_find(const char *name, bool own_only, long milliseconds, char value[PL_SERVICE_VALUE_MAX])
{
    int64_t deadline = pl_deadline_after_ms(milliseconds);
    for (int ms = SLEEP_FIRST_MS; !services_lookup(name, own_only, value);
         ms = 2 * ms < SLEEP_MAX_MS ? 2 * ms : SLEEP_MAX_MS) {
        if (pl_deadline_passed(deadline))
            return pl_fail(MPI_ERR_NAME, "service_name \"%.100s\" is not published%s", name, services_unseen(own_only));
        if (pl_process_progress() == 0)
            pl_clock_sleep_ns(ms * PL_NS_PER_MS);
    }
    return MPI_SUCCESS;
}
