/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets that the PMIx server knows: it is asked for their names, then for the members of each. The servers that
 * were tried answer at once, even if they do not support such queries. A server that does not answer is not asked
 * again, and the memory that it may still write to stays allocated.
 */
#include "plugins/pmix/pmix_psets.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/memory.h"

enum { ANSWER_SECONDS = 2 };

static _Atomic bool silent; /* the server has not answered a query */

/* A pending query. The answer frees it if the asking thread has abandoned it. */
struct question {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    pmix_query_t query;
    bool done, abandoned;
    pmix_value_t *value; /* a copy; NULL: none */
};

static void pmix_question_release(struct question *q)
{
    if (q->value)
        PMIX_VALUE_RELEASE(q->value);
    PMIX_QUERY_DESTRUCT(&q->query);
    pthread_cond_destroy(&q->answered);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* Runs in PMIx's thread; `info` is borrowed from PMIx. */
static void pmix_question_answered(pmix_status_t status, pmix_info_t *info, size_t count, void *argument,
                                   pmix_release_cbfunc_t release, void *release_argument)
{
    struct question *q = argument;
    pthread_mutex_lock(&q->lock);
    if (status == PMIX_SUCCESS && count > 0) {
        PMIX_VALUE_CREATE(q->value, 1);
        if (q->value)
            PMIx_Value_xfer(q->value, &info[0].value);
    }
    q->done = true;
    bool abandoned = q->abandoned;
    pthread_cond_signal(&q->answered);
    pthread_mutex_unlock(&q->lock);
    if (release)
        release(release_argument);
    if (abandoned)
        pmix_question_release(q);
}

static struct question *pmix_question_create(const char *key, const char *nspace, const char *set)
{
    struct question *q = pl_calloc(1, sizeof *q);
    pmix_status_t status;
    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->answered, NULL);
    PMIX_QUERY_CONSTRUCT(&q->query);
    PMIX_ARGV_APPEND(status, q->query.keys, key);
    if (status == PMIX_SUCCESS) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q->query, set ? 2 : 1);
        PMIX_INFO_LOAD(&q->query.qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
        if (set)
            PMIX_INFO_LOAD(&q->query.qualifiers[1], PMIX_PSET_NAME, set, PMIX_STRING);
    }
    return q;
}

/* The answered query, to be freed; NULL: no answer. */
static struct question *pmix_question_ask(const char *key, const char *nspace, const char *set)
{
    struct timespec until;
    struct question *q = silent ? NULL : pmix_question_create(key, nspace, set);
    if (!q)
        return NULL;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ANSWER_SECONDS;
    if (PMIx_Query_info_nb(&q->query, 1, pmix_question_answered, q) != PMIX_SUCCESS) {
        pmix_question_release(q);
        return NULL;
    }
    pthread_mutex_lock(&q->lock);
    int late = 0;
    while (!q->done && !late)
        late = pthread_cond_timedwait(&q->answered, &q->lock, &until);
    q->abandoned = !q->done;
    bool abandoned = q->abandoned;
    pthread_mutex_unlock(&q->lock);
    silent |= abandoned;
    if (!abandoned && q->value)
        return q;
    if (!abandoned)
        pmix_question_release(q);
    return NULL;
}

/* The number of members and their ranks, to be freed; -1: some belong to another job, or the value is not a list of
 * processes. */
static int pmix_psets_ranks(const pmix_value_t *value, const char *nspace, int **ranks)
{
    const pmix_data_array_t *array = value->type == PMIX_DATA_ARRAY ? value->data.darray : NULL;
    if (!array || array->type != PMIX_PROC || array->size > 1 << 24)
        return -1;
    const pmix_proc_t *proc = array->array;
    *ranks = pl_malloc((array->size + 1) * sizeof **ranks);
    for (size_t i = 0; *ranks && i < array->size; i++) {
        if (strncmp(proc[i].nspace, nspace, PMIX_MAX_NSLEN) != 0 || proc[i].rank > INT32_MAX) {
            free(*ranks);
            return -1;
        }
        (*ranks)[i] = (int)proc[i].rank;
    }
    return *ranks ? (int)array->size : -1;
}

static int pmix_psets_give_one(const pmix_proc_t *self, const char *name,
                               int (*found)(void *to, const char *name, const int *ranks, int count), void *to)
{
    int *ranks, rc = MPI_SUCCESS;
    struct question *q = pmix_question_ask(PMIX_QUERY_PSET_MEMBERSHIP, self->nspace, name);
    if (!q)
        return MPI_SUCCESS;
    int count = pmix_psets_ranks(q->value, self->nspace, &ranks);
    if (count >= 0) {
        rc = found(to, name, ranks, count);
        free(ranks);
    }
    pmix_question_release(q);
    return rc;
}

int pl_pmix_psets_each(const struct pl_bootstrap_host *host, const pmix_proc_t *self,
                       int (*found)(void *to, const char *name, const int *ranks, int count), void *to)
{
    struct question *q = pmix_question_ask(PMIX_QUERY_PSET_NAMES, self->nspace, NULL);
    int rc = MPI_SUCCESS;
    if (!q || q->value->type != PMIX_STRING || !q->value->data.string) {
        host->log("pset", 2, "the PMIx server names no process sets");
        if (q)
            pmix_question_release(q);
        return MPI_SUCCESS;
    }
    char *rest = NULL;
    for (char *name = strtok_r(q->value->data.string, ",", &rest); rc == MPI_SUCCESS && name;
         name = strtok_r(NULL, ",", &rest))
        rc = pmix_psets_give_one(self, name, found, to);
    pmix_question_release(q);
    return rc;
}
