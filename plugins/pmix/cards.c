/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address cards through PMIx, without any fence: a process puts its card and commits; who wants it asks for it, and
 * PMIx fetches it from the server of the other's node.
 *
 * A lookup never blocks: it starts a query, says PL_AGAIN while that is under way, and takes the answer at a later
 * call. Answers are handed out once and not kept.
 *
 * A card of the World is put once for each claim of the rank, under a key with the claim's number. A front door's card
 * changes each time that the door opens, and servers keep what they have fetched, whatever PMIX_GET_REFRESH_CACHE says.
 * What makes them fetch again is a key that they do not know: so a query for a door on another node asks for such a
 * key first (found to work with PMIx 4.2 under Open MPI's and Slurm's servers). On the own node the server has the
 * latest card, and would wait for an unknown key.
 *
 * Locking: `lock` protects the queries; answers come in PMIx's own thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/error.h"
#include "plugins/pmix/cards.h"

enum { ANSWER_SECONDS = 2, RETRY_FIRST_MS = 1, RETRY_LAST_MS = 100 };

enum query_state { REFRESHING, ASKING, ANSWERED, RESTING };

struct query {
    struct query *next;
    int rank;
    enum pl_card_slot slot;
    enum query_state state;
    bool waiting;                     /* PMIx has not answered yet */
    pmix_info_t info[2];              /* PMIx reads them until it has answered */
    pmix_status_t status;
    unsigned char card[PL_CARD_MAX];
    size_t length;
    long rest_ms, again_at;           /* how long to rest after a miss, and until when */
};

static const struct pl_bootstrap_host *host;
static pmix_proc_t self;
static uint32_t generation;
static char *local_ranks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct query *queries;

static const char *key_of(enum pl_card_slot slot, char *key, size_t room)
{
    if (slot == PL_CARD_DOOR)
        snprintf(key, room, "plenum.door");
    else
        snprintf(key, room, "plenum.world.%u", (unsigned)generation);
    return key;
}

static bool is_local(int rank)
{
    for (const char *at = local_ranks; at && *at; at += *at == ',') {
        char *end;
        long found = strtol(at, &end, 10);
        if (end == at)
            return false;
        if (found == rank)
            return true;
        at = end;
    }
    return false;
}

int cards_open(const struct pl_bootstrap_host *library, const pmix_proc_t *proc, uint32_t number, const char *local)
{
    host = library;
    self = *proc;
    generation = number;
    local_ranks = local ? strdup(local) : NULL;
    return local && !local_ranks ? host->fail(MPI_ERR_NO_MEM, "out of memory for the ranks of this node") : MPI_SUCCESS;
}

void cards_close(void)
{
    while (queries) {
        struct query *query = queries;
        queries = query->next;
        free(query);
    }
    free(local_ranks);
    local_ranks = NULL;
}

int cards_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_value_t value = {
        .type = PMIX_BYTE_OBJECT,
        .data.bo = { .bytes = (char *)card, .size = length },
    };
    pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key_of(slot, key, sizeof key), &value);
    if (status == PMIX_SUCCESS)
        status = PMIx_Commit();
    if (status == PMIX_SUCCESS)
        return MPI_SUCCESS;
    return host->fail(MPI_ERR_OTHER, "cannot publish this process's address: PMIx says %s", PMIx_Error_string(status));
}

/* --- queries --------------------------------------------------------------------------------------------------- */

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* PMIx's thread. The value is PMIx's. */
static void answered(pmix_status_t status, pmix_value_t *value, void *argument)
{
    struct query *query = argument;
    pthread_mutex_lock(&lock);
    query->length = 0;
    if (status == PMIX_SUCCESS && value && value->type == PMIX_BYTE_OBJECT && value->data.bo.size <= sizeof query->card) {
        query->length = value->data.bo.size;
        if (query->length)
            memcpy(query->card, value->data.bo.bytes, query->length);
    } else if (status == PMIX_SUCCESS) {
        status = PMIX_ERR_BAD_PARAM;
    }
    query->status = status;
    query->waiting = false;
    pthread_mutex_unlock(&lock);
}

/* Asks PMIx; not with the lock held, since the answer may come at once. */
static void ask(struct query *query, const char *key)
{
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, self.nspace, (pmix_rank_t)query->rank);
    int seconds = ANSWER_SECONDS;
    bool refresh = true;
    PMIX_INFO_LOAD(&query->info[0], PMIX_TIMEOUT, &seconds, PMIX_INT);
    PMIX_INFO_LOAD(&query->info[1], PMIX_GET_REFRESH_CACHE, &refresh, PMIX_BOOL);
    query->waiting = true;
    pmix_status_t status = PMIx_Get_nb(&proc, key, query->info, 2, answered, query);
    if (status != PMIX_SUCCESS) {
        pthread_mutex_lock(&lock);
        query->status = status;
        query->waiting = false;
        pthread_mutex_unlock(&lock);
    }
}

static void start(struct query *query)
{
    char key[PMIX_MAX_KEYLEN + 1];
    if (query->slot == PL_CARD_DOOR && !is_local(query->rank) && query->state != REFRESHING) {
        query->state = REFRESHING;
        ask(query, "plenum.refresh");
    } else {
        query->state = ASKING;
        ask(query, key_of(query->slot, key, sizeof key));
    }
}

static struct query *find(int rank, enum pl_card_slot slot)
{
    for (struct query *query = queries; query; query = query->next)
        if (query->rank == rank && query->slot == slot)
            return query;
    return NULL;
}

static void forget(struct query *query)
{
    struct query **at = &queries;
    while (*at != query)
        at = &(*at)->next;
    *at = query->next;
    free(query);
}

/* What the answer means. */
static int judge(struct query *query, void *card, size_t *length)
{
    switch (query->status) {
    case PMIX_SUCCESS:
        if (query->length == 0)
            break; /* withdrawn */
        memcpy(card, query->card, query->length);
        *length = query->length;
        return MPI_SUCCESS;
    case PMIX_ERR_NOT_FOUND:
    case PMIX_ERR_TIMEOUT:
    case PMIX_ERR_NOT_AVAILABLE:
    case PMIX_ERR_PROC_ENTRY_NOT_FOUND: /* has left the server; it may come back */
        break;
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_PROC_TERM_WO_SYNC:
    case PMIX_ERR_PROC_ABORTING:
        return host->fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has ended", query->rank);
    default:
        return host->fail(MPI_ERR_OTHER, "the address of rank %d cannot be had: PMIx says %s", query->rank, PMIx_Error_string(query->status));
    }
    query->rest_ms = query->rest_ms ? query->rest_ms * 2 : RETRY_FIRST_MS;
    if (query->rest_ms > RETRY_LAST_MS)
        query->rest_ms = RETRY_LAST_MS;
    query->again_at = now_ms() + query->rest_ms;
    query->state = RESTING;
    return PL_AGAIN;
}

int cards_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    struct query *query = find(rank, slot);
    if (!query) {
        query = calloc(1, sizeof *query);
        if (!query)
            return host->fail(MPI_ERR_NO_MEM, "out of memory for a lookup");
        query->rank = rank;
        query->slot = slot;
        query->state = ANSWERED;
        query->next = queries;
        queries = query;
        start(query);
        return PL_AGAIN;
    }

    pthread_mutex_lock(&lock);
    bool waiting = query->waiting;
    pthread_mutex_unlock(&lock);
    if (waiting || (query->state == RESTING && now_ms() < query->again_at))
        return PL_AGAIN;
    if (query->state != ASKING) {
        start(query);
        return PL_AGAIN;
    }
    int err = judge(query, card, length);
    if (err != PL_AGAIN)
        forget(query);
    return err;
}
