/* SPDX-License-Identifier: BSD-3-Clause */
/* See upcalls.h. Every upcall answers at once; an abort is left in the registry for the runtime, which is woken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "world/runtime/pmix/upcalls.h"

static void upcall_discard_value(void *value)
{
    pmix_value_t *v = value;
    PMIX_VALUE_RELEASE(v);
}

pthread_mutex_t pl_pmix_registry = PTHREAD_MUTEX_INITIALIZER;
struct pl_list pl_pmix_entries = { &pl_pmix_entries, &pl_pmix_entries };
struct pl_names pl_pmix_names = { { &pl_pmix_names.all, &pl_pmix_names.all }, upcall_discard_value };

struct pl_pmix_entry *pl_pmix_find(const char *nspace)
{
    PL_LIST_EACH(entry, &pl_pmix_entries, struct pl_pmix_entry, node)
        if (strcmp(entry->job->nspace, nspace) == 0)
            return entry;
    return NULL;
}

/* --- upcalls: processes ------------------------------------------------------------------------------------ */

static pmix_status_t upcall_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t done, void *arg)
{
    (void)proc, (void)object, (void)info, (void)ninfo, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t upcall_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *arg)
{
    (void)proc, (void)object, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

/* The job ends, whichever of its processes are named. */
static pmix_status_t upcall_abort(const pmix_proc_t *proc, void *object, int status, const char message[],
                                  pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)procs, (void)nprocs, (void)done, (void)arg;
    pthread_mutex_lock(&pl_pmix_registry);
    struct pl_pmix_entry *entry = pl_pmix_find(proc->nspace);
    if (entry && !entry->aborted) {
        entry->aborted = true;
        entry->abort = (struct pl_pmix_abort){ .job = entry->job->id, .rank = (int)proc->rank, .code = status };
        snprintf(entry->abort.message, sizeof entry->abort.message, "called PMIx_Abort with status %d%s%s", status,
                 message && *message ? ": " : "", message ? message : "");
        eventfd_write(entry->job->runtime->poll.wake, 1);
    }
    pthread_mutex_unlock(&pl_pmix_registry);
    return entry ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_FOUND;
}

/* All processes are on this node, so the server has collected all data. The callback frees it. */
static pmix_status_t upcall_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                  char *data, size_t bytes, pmix_modex_cbfunc_t done, void *arg)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo;
    done(PMIX_SUCCESS, data, bytes, arg, free, data);
    return PMIX_SUCCESS;
}

static pmix_status_t upcall_spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                  const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done, void *arg)
{
    (void)proc, (void)info, (void)ninfo, (void)apps, (void)napps, (void)done, (void)arg;
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t upcall_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                    pmix_op_cbfunc_t done, void *arg)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo, (void)done, (void)arg;
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t upcall_group(pmix_group_operation_t operation, char *group, const pmix_proc_t procs[],
                                  size_t nprocs, const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t done,
                                  void *arg)
{
    (void)operation, (void)group, (void)procs, (void)nprocs, (void)info, (void)ninfo, (void)done, (void)arg;
    return PMIX_ERR_NOT_SUPPORTED;
}

/* --- upcalls: published data ------------------------------------------------------------------------------- */

static void upcall_read_directive(const pmix_info_t *info, struct pl_name *like)
{
    if (PMIX_CHECK_KEY(info, PMIX_RANGE)) {
        pmix_data_range_t range = info->value.data.range;
        like->scope = range == PMIX_RANGE_NAMESPACE    ? PL_NAME_NSPACE
                      : range == PMIX_RANGE_PROC_LOCAL ? PL_NAME_PROCESS
                                                       : PL_NAME_ALL;
    } else if (PMIX_CHECK_KEY(info, PMIX_PERSISTENCE)) {
        pmix_persistence_t life = info->value.data.persist;
        like->life = life == PMIX_PERSIST_FIRST_READ                              ? PL_NAME_ONCE
                     : life == PMIX_PERSIST_INDEF || life == PMIX_PERSIST_SESSION ? PL_NAME_SERVER
                                                                                  : PL_NAME_JOB;
    }
}

static bool upcall_is_directive(const pmix_info_t *info)
{
    static const char *const directives[] = { PMIX_RANGE, PMIX_PERSISTENCE, PMIX_USERID,
                                              PMIX_GRPID, PMIX_TIMEOUT,     PMIX_WAIT };
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (PMIX_CHECK_KEY(info, directives[i]))
            return true;
    return false;
}

static pmix_status_t upcall_publish_one(const struct pl_name *like, const pmix_info_t *info)
{
    struct pl_name name = *like;
    pmix_value_t *value;
    bool duplicate;
    PMIX_VALUE_CREATE(value, 1);
    if (!value)
        return PMIX_ERR_NOMEM;
    if (PMIx_Value_xfer(value, &info->value) != PMIX_SUCCESS) {
        upcall_discard_value(value);
        return PMIX_ERR_NOMEM;
    }
    name.key = (char *)info->key;
    name.value = value;
    if (pl_names_publish(&pl_pmix_names, &name, &duplicate))
        return PMIX_OPERATION_SUCCEEDED;
    return duplicate ? PMIX_ERR_DUPLICATE_KEY : PMIX_ERR_NOMEM;
}

static pmix_status_t upcall_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                    pmix_op_cbfunc_t done, void *arg)
{
    struct pl_name like = { .rank = proc->rank };
    pmix_status_t status = PMIX_OPERATION_SUCCEEDED;
    (void)done, (void)arg;
    snprintf(like.nspace, sizeof like.nspace, "%s", proc->nspace);
    for (size_t i = 0; i < ninfo; i++)
        upcall_read_directive(&info[i], &like);
    pthread_mutex_lock(&pl_pmix_registry);
    for (size_t i = 0; i < ninfo && status == PMIX_OPERATION_SUCCEEDED; i++)
        if (!upcall_is_directive(&info[i]))
            status = upcall_publish_one(&like, &info[i]);
    pthread_mutex_unlock(&pl_pmix_registry);
    return status;
}

/* Does the client want to wait until the data is published? Upcalls answer at once, so a lookup that would wait is
 * refused. */
static bool upcall_waits(const pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_WAIT))
            return true;
    return false;
}

static size_t upcall_copy_found(const pmix_proc_t *proc, char **keys, pmix_pdata_t *found)
{
    size_t count = 0;
    for (; *keys; keys++) {
        struct pl_name *name = pl_names_find(&pl_pmix_names, *keys, proc->nspace, proc->rank);
        if (!name)
            continue;
        pmix_pdata_t *at = &found[count++];
        PMIX_LOAD_PROCID(&at->proc, name->nspace, name->rank);
        PMIX_LOAD_KEY(at->key, name->key);
        PMIx_Value_xfer(&at->value, name->value);
        if (name->life == PL_NAME_ONCE)
            pl_names_remove(&pl_pmix_names, name);
    }
    return count;
}

static pmix_status_t upcall_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
                                   pmix_lookup_cbfunc_t done, void *arg)
{
    size_t wanted = 0, count;
    pmix_pdata_t *found;
    while (keys && keys[wanted])
        wanted++;
    if (wanted == 0)
        return PMIX_ERR_BAD_PARAM;
    PMIX_PDATA_CREATE(found, wanted);
    if (!found)
        return PMIX_ERR_NOMEM;
    pthread_mutex_lock(&pl_pmix_registry);
    count = upcall_copy_found(proc, keys, found);
    pthread_mutex_unlock(&pl_pmix_registry);
    pmix_status_t status = count == wanted             ? PMIX_SUCCESS
                           : upcall_waits(info, ninfo) ? PMIX_ERR_NOT_SUPPORTED
                           : count > 0                 ? PMIX_ERR_PARTIAL_SUCCESS
                                                       : PMIX_ERR_NOT_FOUND;
    if (count > 0)
        done(status, found, count, arg); /* copies its arguments */
    PMIX_PDATA_FREE(found, wanted);
    return count > 0 ? PMIX_SUCCESS : status;
}

static pmix_status_t upcall_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t done, void *arg)
{
    (void)info, (void)ninfo, (void)done, (void)arg;
    pthread_mutex_lock(&pl_pmix_registry);
    PL_LIST_EACH(name, &pl_pmix_names.all, struct pl_name, node) {
        bool named = keys == NULL;
        for (char **key = keys; key && *key; key++)
            named |= strcmp(*key, name->key) == 0;
        if (named && name->rank == proc->rank && strcmp(name->nspace, proc->nspace) == 0)
            pl_names_remove(&pl_pmix_names, name);
    }
    pthread_mutex_unlock(&pl_pmix_registry);
    return PMIX_OPERATION_SUCCEEDED;
}

/* --- upcalls: process sets --------------------------------------------------------------------------------- */

/* The answers to a query, until the server has sent them. */
struct answers {
    pmix_info_t *info;
    size_t count, capacity;
};

static void upcall_free_answers(void *arg)
{
    struct answers *a = arg;
    PMIX_INFO_FREE(a->info, a->capacity);
    free(a);
}

static const char *upcall_qualifier(const pmix_query_t *query, const char *key)
{
    for (size_t i = 0; i < query->nqual; i++)
        if (PMIX_CHECK_KEY(&query->qualifiers[i], key) && query->qualifiers[i].value.type == PMIX_STRING)
            return query->qualifiers[i].value.data.string;
    return NULL;
}

static void upcall_answer_members(struct answers *a, const struct plenum_job *job, const struct pl_pset *pset)
{
    pmix_data_array_t members;
    size_t count = 0;
    for (uint32_t i = 0; i < pset->count; i++)
        count += pset->ranges[2 * i + 1] - pset->ranges[2 * i] + 1;
    PMIX_DATA_ARRAY_CONSTRUCT(&members, count, PMIX_PROC);
    pmix_proc_t *at = members.array;
    for (uint32_t i = 0; at && i < pset->count; i++)
        for (uint32_t rank = pset->ranges[2 * i]; rank <= pset->ranges[2 * i + 1]; rank++, at++)
            PMIX_LOAD_PROCID(at, job->nspace, rank);
    PMIX_INFO_LOAD(&a->info[a->count++], PMIX_QUERY_PSET_MEMBERSHIP, &members, PMIX_DATA_ARRAY);
    PMIX_DATA_ARRAY_DESTRUCT(&members);
}

/* Answers about the sets of the job that the query names, or of all jobs: the server does not name the asking job. */
static void upcall_answer(struct answers *a, const pmix_query_t *query, const char *key)
{
    const char *nspace = upcall_qualifier(query, PMIX_NSPACE), *wanted = upcall_qualifier(query, PMIX_PSET_NAME);
    char *list = NULL;
    size_t count = 0;
    FILE *out = pl_text_open(&list);
    if (!out)
        return;
    PL_LIST_EACH(entry, &pl_pmix_entries, struct pl_pmix_entry, node)
        for (int i = 0; i < entry->job->desc.pset_count; i++) {
            const struct pl_pset *pset = &entry->job->desc.psets[i];
            if (nspace && strcmp(nspace, entry->job->nspace) != 0)
                continue;
            fprintf(out, "%s%s", count++ ? "," : "", pset->name);
            if (strcmp(key, PMIX_QUERY_PSET_MEMBERSHIP) == 0 && wanted && strcmp(wanted, pset->name) == 0) {
                upcall_answer_members(a, entry->job, pset);
                wanted = NULL;
            }
        }
    if (fclose(out) == 0 && strcmp(key, PMIX_QUERY_PSET_NAMES) == 0)
        PMIX_INFO_LOAD(&a->info[a->count++], key, list, PMIX_STRING);
    else if (strcmp(key, PMIX_QUERY_NUM_PSETS) == 0)
        PMIX_INFO_LOAD(&a->info[a->count++], key, &count, PMIX_SIZE);
    free(list);
}

static pmix_status_t upcall_query(pmix_proc_t *proc, pmix_query_t *queries, size_t count, pmix_info_cbfunc_t done,
                                  void *arg)
{
    struct answers *a = pl_calloc(1, sizeof *a);
    (void)proc;
    if (!a)
        return PMIX_ERR_NOMEM;
    for (size_t q = 0; q < count; q++)
        for (char **key = queries[q].keys; key && *key; key++)
            a->capacity++;
    PMIX_INFO_CREATE(a->info, a->capacity);
    pthread_mutex_lock(&pl_pmix_registry);
    for (size_t q = 0; a->info && q < count; q++)
        for (char **key = queries[q].keys; key && *key; key++)
            upcall_answer(a, &queries[q], *key);
    pthread_mutex_unlock(&pl_pmix_registry);
    if (a->count == 0) {
        upcall_free_answers(a);
        return PMIX_ERR_NOT_FOUND;
    }
    done(a->count == a->capacity ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS, a->info, a->count, arg, upcall_free_answers,
         a);
    return PMIX_SUCCESS;
}

/* The server itself serves requests to remove files when a process has ended, but only where this upcall exists. Open
 * MPI's shared memory asks for that. */
static pmix_status_t upcall_job_control(const pmix_proc_t *proc, const pmix_proc_t targets[], size_t ntargets,
                                        const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t done,
                                        void *arg)
{
    (void)proc, (void)targets, (void)ntargets, (void)directives, (void)ndirs, (void)done, (void)arg;
    return PMIX_ERR_NOT_SUPPORTED;
}

const pmix_server_module_t pl_pmix_upcalls = {
    .client_connected2 = upcall_connected,
    .client_finalized = upcall_finalized,
    .abort = upcall_abort,
    .fence_nb = upcall_fence,
    .publish = upcall_publish,
    .lookup = upcall_lookup,
    .unpublish = upcall_unpublish,
    .spawn = upcall_spawn,
    .connect = upcall_connect,
    .disconnect = upcall_connect,
    .query = upcall_query,
    .job_control = upcall_job_control,
    .group = upcall_group,
};
