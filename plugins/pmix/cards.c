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
 * key first (found to work with PMIx 4.2 under Open MPI's and Slurm's servers).
 *
 * The server of the own node has the latest card. It is asked for what it has now (PMIX_IMMEDIATE): it lets other
 * questions wait, and forgets about them when the card's owner finalizes PMIx in the meantime.
 *
 * Locking: `lock` protects the queries; answers come in PMIx's own thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "plugins/pmix/cards.h"

enum { ANSWER_SECONDS = 2, RETRY_FIRST_MS = 1, RETRY_LAST_MS = 100 };

/* What is posted: always of the same size, since the store of PMIx 4.2 that lives in shared memory goes on giving out a
 * value that was empty once. */
struct posted {
    uint32_t length; /* 0: withdrawn */
    unsigned char card[PL_CARD_MAX];
};

enum query_state { REFRESHING, ASKING, ANSWERED, RESTING };

struct query {
    struct query *next;
    int rank;
    enum pl_card_slot slot;
    enum query_state state;
    bool waiting;     /* PMIx has not answered yet */
    bool orphan;      /* closed meanwhile: freed by the answer */
    pmix_proc_t proc; /* PMIx reads these until it has answered */
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_info_t info[3];
    pmix_status_t status;
    struct posted answer;
    long rest_ms, again_at; /* how long to rest after a miss, and until when */
};

static const struct pl_bootstrap_host *host;
static pmix_proc_t self;
static uint32_t generation;
static const char *local_ranks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct query *queries;

static const char *pmix_cards_key_of(enum pl_card_slot slot, char *key, size_t room)
{
    if (slot == PL_CARD_LISTENER)
        snprintf(key, room, "plenum.door");
    else
        snprintf(key, room, "plenum.world.%u", (unsigned)generation);
    return key;
}

enum locality { LOCAL, REMOTE, UNKNOWN };

static enum locality locality_of(int rank)
{
    for (const char *at = local_ranks; at && *at; at += *at == ',') {
        char *end;
        long found = strtol(at, &end, 10);
        if (end == at)
            return UNKNOWN;
        if (found == rank)
            return LOCAL;
        at = end;
    }
    return local_ranks ? REMOTE : UNKNOWN;
}

void cards_open(const struct pl_bootstrap_host *library, const pmix_proc_t *proc, uint32_t number, const char *local)
{
    host = library;
    self = *proc;
    generation = number;
    local_ranks = local;
}

void cards_close(void)
{
    pthread_mutex_lock(&lock);
    while (queries) {
        struct query *query = queries;
        queries = query->next;
        query->orphan = query->waiting;
        if (!query->waiting)
            free(query);
    }
    pthread_mutex_unlock(&lock);
}

int cards_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    char key[PMIX_MAX_KEYLEN + 1];
    struct posted posted = { .length = (uint32_t)length };
    pmix_value_t value = {
        .type = PMIX_BYTE_OBJECT,
        .data.bo = { .bytes = (char *)&posted, .size = sizeof posted },
    };
    if (length)
        memcpy(posted.card, card, length);
    pmix_status_t status = PMIx_Put(PMIX_GLOBAL, pmix_cards_key_of(slot, key, sizeof key), &value);
    if (status == PMIX_SUCCESS)
        status = PMIx_Commit();
    if (status == PMIX_SUCCESS)
        return MPI_SUCCESS;
    return host->fail(MPI_ERR_OTHER, "cannot publish this process's address: PMIx says %s", PMIx_Error_string(status));
}

/* --- queries --------------------------------------------------------------------------------------------------- */

static long pmix_cards_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* PMIx's thread. The value is PMIx's. */
static void pmix_cards_answered(pmix_status_t status, pmix_value_t *value, void *argument)
{
    struct query *query = argument;
    pthread_mutex_lock(&lock);
    if (status == PMIX_SUCCESS) {
        bool good = value && value->type == PMIX_BYTE_OBJECT && value->data.bo.size == sizeof query->answer;
        if (good)
            memcpy(&query->answer, value->data.bo.bytes, sizeof query->answer);
        if (!good || query->answer.length > PL_CARD_MAX)
            status = PMIX_ERR_BAD_PARAM;
    }
    query->status = status;
    query->waiting = false;
    bool orphan = query->orphan;
    pthread_mutex_unlock(&lock);
    if (orphan)
        free(query);
}

/* Asks PMIx; not with the lock held, since the answer may come at once. */
static void pmix_cards_ask(struct query *query)
{
    PMIX_LOAD_PROCID(&query->proc, self.nspace, (pmix_rank_t)query->rank);
    int seconds = ANSWER_SECONDS;
    bool yes = true;
    PMIX_INFO_LOAD(&query->info[0], PMIX_TIMEOUT, &seconds, PMIX_INT);
    PMIX_INFO_LOAD(&query->info[1], PMIX_GET_REFRESH_CACHE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&query->info[2], PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    size_t directives = locality_of(query->rank) == LOCAL ? 3 : 2;
    query->waiting = true;
    pmix_status_t status = PMIx_Get_nb(&query->proc, query->key, query->info, directives, pmix_cards_answered, query);
    if (status != PMIX_SUCCESS) {
        pthread_mutex_lock(&lock);
        query->status = status;
        query->waiting = false;
        pthread_mutex_unlock(&lock);
    }
}

/* Where the place of a rank is not known only now and then: its server, if it is ours, lets such a question wait. */
static bool wants_refresh(const struct query *query)
{
    static unsigned questions;
    if (query->slot != PL_CARD_LISTENER || query->state == REFRESHING)
        return false;
    enum locality where = locality_of(query->rank);
    return where == REMOTE || (where == UNKNOWN && ++questions % 8 == 0);
}

static void pmix_cards_start(struct query *query)
{
    if (wants_refresh(query)) {
        query->state = REFRESHING;
        snprintf(query->key, sizeof query->key, "plenum.refresh");
    } else {
        query->state = ASKING;
        pmix_cards_key_of(query->slot, query->key, sizeof query->key);
    }
    pmix_cards_ask(query);
}

static struct query *pmix_cards_find(int rank, enum pl_card_slot slot)
{
    for (struct query *query = queries; query; query = query->next)
        if (query->rank == rank && query->slot == slot)
            return query;
    return NULL;
}

static void pmix_cards_forget(struct query *query)
{
    struct query **at = &queries;
    while (*at != query)
        at = &(*at)->next;
    *at = query->next;
    free(query);
}

/* What the answer means. */
static int pmix_cards_judge(struct query *query, void *card, size_t *length)
{
    switch (query->status) {
    case PMIX_SUCCESS:
        if (query->answer.length == 0)
            break; /* withdrawn */
        memcpy(card, query->answer.card, query->answer.length);
        *length = query->answer.length;
        return MPI_SUCCESS;
    case PMIX_ERR_NOT_FOUND:
    case PMIX_ERR_TIMEOUT:
    case PMIX_ERR_NOT_AVAILABLE:
    case PMIX_ERR_PROC_ENTRY_NOT_FOUND: /* has left the server; it may come back */ break;
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_PROC_TERM_WO_SYNC:
    case PMIX_ERR_PROC_ABORTING:
        return host->fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has ended", query->rank);
    default:
        return host->fail(MPI_ERR_OTHER, "the address of rank %d cannot be had: PMIx says %s", query->rank,
                          PMIx_Error_string(query->status));
    }
    query->rest_ms = query->rest_ms ? query->rest_ms * 2 : RETRY_FIRST_MS;
    if (query->rest_ms > RETRY_LAST_MS)
        query->rest_ms = RETRY_LAST_MS;
    query->again_at = pmix_cards_now_ms() + query->rest_ms;
    query->state = RESTING;
    return PL_AGAIN;
}

int cards_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    struct query *query = pmix_cards_find(rank, slot);
    if (!query) {
        query = calloc(1, sizeof *query);
        if (!query)
            return host->fail(MPI_ERR_NO_MEM, "out of memory for a lookup");
        query->rank = rank;
        query->slot = slot;
        query->state = ANSWERED;
        query->next = queries;
        queries = query;
        pmix_cards_start(query);
        return PL_AGAIN;
    }

    pthread_mutex_lock(&lock);
    bool waiting = query->waiting;
    pthread_mutex_unlock(&lock);
    if (waiting || (query->state == RESTING && pmix_cards_now_ms() < query->again_at))
        return PL_AGAIN;
    if (query->state != ASKING) {
        pmix_cards_start(query);
        return PL_AGAIN;
    }
    int err = pmix_cards_judge(query, card, length);
    if (err != PL_AGAIN)
        pmix_cards_forget(query);
    return err;
}
