/* SPDX-License-Identifier: BSD-3-Clause */
/* See services.h. */
#include "core/job/services.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/engine/engine.h"
#include "core/job/process.h"
#include "core/job/services_file.h"

enum {
    NAP_FIRST_US = 1000,
    NAP_MOST_US = 50000, /* of who waits for a name */
    UNDECIDED = 2000,    /* naps of a millisecond before somebody who claims a name is taken for stopped */
};

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);
static uint64_t last_ticket;

/* A process may have several runtimes; each has a pipe for notes (core/job/note.h). */
static uint64_t own_runtime(void)
{
    const struct pl_job_segment *job = pl_process.place.attached ? NULL : pl_process.place.job;
    return !job ? 0 : job->note_pipe_inode ? job->note_pipe_inode : (uint64_t)job->runtime_pid << 32;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void services_nap(long microseconds)
{
    nanosleep(&(struct timespec){ .tv_nsec = microseconds * 1000 }, NULL);
}

/* --- publishing --------------------------------------------------------------------------------------------------- */

/* What others say to a claim. */
struct rivals {
    const struct pl_service_entry *own;
    bool taken;     /* another has it, or claimed it before */
    bool undecided; /* one that claimed it later may have found nobody */
};

static bool see_rival(void *context, const struct pl_service_entry *entry)
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

/* Of several who claim a name at once the first one gets it, unless a later one had finished before it could be seen.
 * */
static bool is_taken(const struct pl_service_entry *own)
{
    struct rivals rivals = { .own = own, .undecided = true };
    for (int i = 0; rivals.undecided && !rivals.taken && i < UNDECIDED; i++) {
        if (i > 0)
            services_nap(NAP_FIRST_US);
        rivals.undecided = false;
        pl_services_file_scan(own->name, see_rival, &rivals);
    }
    return rivals.taken;
}

static int publish_here(const char *name, const char *value, bool narrow)
{
    struct pl_service_entry entry = {
        .state = PL_SERVICE_CLAIMED, .runtime = own_runtime(), .owner = (int32_t)getpid(), .narrow = narrow
    };
    int number;
    snprintf(entry.name, sizeof entry.name, "%s", name);
    snprintf(entry.value, sizeof entry.value, "%s", value);
    pl_lock_take(&lock);
    uint64_t now = now_ns();
    entry.ticket = last_ticket = now > last_ticket ? now : last_ticket + 1;
    int rc = pl_services_file_add(&entry, &number);
    if (rc == MPI_SUCCESS) {
        bool taken = is_taken(&entry);
        pl_services_file_set_state(number, taken ? PL_SERVICE_FREE : PL_SERVICE_PUBLISHED);
        if (taken)
            rc = pl_fail(MPI_ERR_SERVICE, "service_name \"%.100s\" is published already", name);
    }
    pl_lock_drop(&lock);
    return rc;
}

int pl_services_publish(const char *name, const char *value, bool narrow)
{
    if (strlen(name) >= PL_SERVICE_NAME_MAX || strlen(value) >= PL_SERVICE_VALUE_MAX)
        return pl_fail(MPI_ERR_SERVICE, "service_name of %zu characters is too long: up to %d are allowed",
                       strlen(name), PL_SERVICE_NAME_MAX - 1);
    int rc = publish_here(name, value, narrow);
    const struct pl_bootstrap_ops *launcher = pl_process.bootstrap;
    if (rc || narrow || !launcher->publish_name)
        return rc;
    rc = launcher->publish_name(name, value);
    if (rc == PL_UNREACHABLE) /* it has no such service: the name is known on this machine */
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
    bool found = false, narrow = false;
    pl_lock_take(&lock);
    for (int i = 0; !found && pl_services_file_read(i, &entry); i++)
        if (entry.state == PL_SERVICE_PUBLISHED && strcmp(entry.name, name) == 0 && strcmp(entry.value, value) == 0) {
            pl_services_file_set_state(i, PL_SERVICE_FREE);
            found = true;
            narrow = entry.narrow;
        }
    pl_lock_drop(&lock);
    if (!found)
        return pl_fail(MPI_ERR_SERVICE, "service_name \"%.100s\" with this port is not published by this process",
                       name);
    if (pl_process.bootstrap->withdraw_name && !narrow)
        pl_process.bootstrap->withdraw_name(name);
    return MPI_SUCCESS;
}

void pl_services_forget(void)
{
    pl_lock_take(&lock);
    pl_services_file_close();
    pl_lock_drop(&lock);
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

struct find {
    uint64_t runtime;
    bool own_only, found;
    struct pl_service_entry best;
};

static bool see_candidate(void *context, const struct pl_service_entry *entry)
{
    struct find *find = context;
    bool near = entry->runtime == find->runtime, best_near = find->best.runtime == find->runtime;
    if (entry->state != PL_SERVICE_PUBLISHED || (!near && (find->own_only || entry->narrow)))
        return true;
    if (!find->found || near > best_near || (near == best_near && entry->ticket > find->best.ticket))
        find->best = *entry;
    find->found = true;
    return true;
}

static bool services_look(const char *name, bool own_only, char value[PL_SERVICE_VALUE_MAX])
{
    struct find find = { .runtime = own_runtime(), .own_only = own_only };
    const struct pl_bootstrap_ops *launcher = pl_process.bootstrap;
    pl_services_file_scan(name, see_candidate, &find);
    if (find.found)
        snprintf(value, PL_SERVICE_VALUE_MAX, "%s", find.best.value);
    return find.found || (launcher->find_name && launcher->find_name(name, value, PL_SERVICE_VALUE_MAX) == MPI_SUCCESS);
}

/* What else could be, in words. */
static const char *not_seen(bool own_only)
{
    if (own_only)
        return " by a job of this runtime";
    if (pl_process.bootstrap->find_name)
        return "";
    return " on this host, and names are not seen from other hosts: there the program itself hands over the port's "
           "name";
}

int pl_services_find(const char *name, bool own_only, long milliseconds, char value[PL_SERVICE_VALUE_MAX])
{
    uint64_t until = now_ns() + (uint64_t)milliseconds * 1000000u;
    for (long us = NAP_FIRST_US; !services_look(name, own_only, value);
         us = us * 2 < NAP_MOST_US ? us * 2 : NAP_MOST_US) {
        if (now_ns() >= until)
            return pl_fail(MPI_ERR_NAME, "service_name \"%.100s\" is not published%s", name, not_seen(own_only));
        if (pl_engine_nudge_others(NULL) == 0)
            services_nap(us);
    }
    return MPI_SUCCESS;
}
