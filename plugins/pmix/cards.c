/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address cards through PMIx.
 *
 * A card of the World is published once for each claim of the rank, under a key with the claim's number. A listener's
 * card changes each time that the listener opens, and servers keep what they have fetched, whatever
 * PMIX_GET_REFRESH_CACHE says. They fetch again when they are asked for a key that they do not know. So a query for a
 * listener on another node asks for such a key first (works with PMIx 4.2 under Open MPI's and Slurm's servers).
 *
 * The server of this node has the latest card. It is asked for what it has now (PMIX_IMMEDIATE): it would let other
 * queries wait, and forget them if the card's owner finalizes PMIx meanwhile.
 *
 * Where the server shares no memory with its processes (PMIX_MCA_gds=hash), a client of the same node keeps for good
 * what it has fetched. Then each card of a listener also has a key of its own, with the claim and a number. A process
 * of the node goes from the last one that it knows to the latest. So has a card of the World that replaces another: the
 * process has added the network since.
 *
 * Locking: `lock` protects what PMIx's own thread writes into a query: its answer, status and `waiting`.
 */
#include "plugins/pmix/cards.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "plugins/pmix/pmix_copy.h"

enum { ANSWER_SECONDS = 2, RETRY_FIRST_MS = 1, RETRY_LAST_MS = 100 };

/* The value of a card's key. It always has the same size: the shared memory store of PMIx 4.2 hands out an empty value
 * for ever once it has had one. */
struct published_card {
    uint32_t length; /* 0: withdrawn */
    unsigned char card[PL_CARD_MAX];
};

enum query_state { REFRESHING, FETCHING, ANSWERED, BACKING_OFF };

/* The latest card of a listener of this node that this copy knows, without shared memory; or of the World. */
struct pmix_listener {
    struct pmix_listener *next;
    int rank;
    enum pl_card_slot slot;
    uint32_t claim, number; /* of the key */
    struct published_card card;
};

struct query {
    struct query *next;
    int rank;
    enum pl_card_slot slot;
    enum query_state state;
    bool waiting;                   /* PMIx has not answered yet */
    bool abandoned;                 /* closed meanwhile: the answer frees it */
    struct pmix_listener *listener; /* NULL: the card's key never changes */
    bool next_claim;                /* asks for the first card of the next claim, not for the next one of this claim */
    pmix_proc_t proc;               /* PMIx reads these until it has answered */
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_info_t info[3];
    pmix_status_t status;
    struct published_card answer;
    int64_t backoff_ms, retry_at; /* the pause after a miss, and its end (ms) */
};

static pmix_proc_t self;
static uint32_t generation;
static const char *local_ranks;
static bool shared; /* pmix_cards_are_shared() */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *pmix_cards_key_of(enum pl_card_slot slot, char *key, size_t bytes)
{
    const char *name = pl_pmix_copy->name, *dot = name[0] ? "." : "";
    if (slot == PL_CARD_LISTENER)
        snprintf(key, bytes, "plenum.door%s%s", dot, name);
    else
        snprintf(key, bytes, "plenum.world.%u%s%s", (unsigned)generation, dot, name);
    return key;
}

static void pmix_cards_numbered_key(enum pl_card_slot slot, uint32_t claim, uint32_t number, char *key, size_t bytes)
{
    const char *name = pl_pmix_copy->name, *dot = name[0] ? "." : "";
    snprintf(key, bytes, "plenum.%s.%u.%u%s%s", slot == PL_CARD_LISTENER ? "door" : "world", (unsigned)claim,
             (unsigned)number, dot, name);
}

/* Does this node's server share memory with its processes, where they see what it has now? Other clients keep a copy of
 * what they have fetched. The server says so; the user may have chosen another store. */
static bool pmix_cards_are_shared(void)
{
    const char *stores = secure_getenv("PMIX_GDS_MODULE");
    return stores && strncmp(stores, "ds", 2) == 0 && !secure_getenv("PMIX_MCA_gds");
}

enum locality { LOCAL, REMOTE, UNKNOWN };

static enum locality pmix_cards_locality(int rank)
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

void pl_pmix_cards_open(const pmix_proc_t *proc, uint32_t number, const char *local)
{
    self = *proc;
    generation = number;
    local_ranks = local;
    shared = pmix_cards_are_shared();
}

void pl_pmix_cards_close(void)
{
    pthread_mutex_lock(&lock);
    while (pl_pmix_copy->queries) {
        struct query *query = pl_pmix_copy->queries;
        pl_pmix_copy->queries = query->next;
        query->abandoned = query->waiting;
        if (!query->waiting)
            free(query);
    }
    pthread_mutex_unlock(&lock);
}

/* Puts what others find after the last one. The first one of a claim is there even if it is withdrawn at once. */
static pmix_status_t pmix_cards_put_numbered(const pmix_value_t *value)
{
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_cards_numbered_key(PL_CARD_LISTENER, generation, ++pl_pmix_copy->listener_cards, key, sizeof key);
    return PMIx_Put(PMIX_GLOBAL, key, (pmix_value_t *)value);
}

/* The first one has the key without a number alone. */
static pmix_status_t pmix_cards_put_replacement(const pmix_value_t *value)
{
    char key[PMIX_MAX_KEYLEN + 1];
    if (++pl_pmix_copy->world_cards == 1)
        return PMIX_SUCCESS;
    pmix_cards_numbered_key(PL_CARD_WORLD, generation, pl_pmix_copy->world_cards, key, sizeof key);
    return PMIx_Put(PMIX_GLOBAL, key, (pmix_value_t *)value);
}

int pl_pmix_cards_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    char key[PMIX_MAX_KEYLEN + 1];
    struct published_card published_card = { .length = (uint32_t)length };
    pmix_value_t value = {
        .type = PMIX_BYTE_OBJECT,
        .data.bo = { .bytes = (char *)&published_card, .size = sizeof published_card },
    };
    struct published_card nothing = { .length = 0 };
    pmix_value_t withdrawn = value;
    withdrawn.data.bo.bytes = (char *)&nothing;
    if (length)
        memcpy(published_card.card, card, length);
    pmix_status_t status = PMIx_Put(PMIX_GLOBAL, pmix_cards_key_of(slot, key, sizeof key), &value);
    if (status == PMIX_SUCCESS && !shared && (slot == PL_CARD_LISTENER || pl_pmix_copy->listener_cards == 0))
        status = pmix_cards_put_numbered(slot == PL_CARD_LISTENER ? &value : &withdrawn);
    if (status == PMIX_SUCCESS && !shared && slot == PL_CARD_WORLD && length)
        status = pmix_cards_put_replacement(&value);
    if (status == PMIX_SUCCESS)
        status = PMIx_Commit();
    if (status == PMIX_SUCCESS)
        return MPI_SUCCESS;
    return pl_pmix_copy->host->fail(MPI_ERR_OTHER, "cannot publish this process's address: PMIx returned %s",
                                    PMIx_Error_string(status));
}

/* --- queries --------------------------------------------------------------------------------------------------- */

/* Mostly runs in PMIx's thread. The value is borrowed from PMIx. */
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
    bool abandoned = query->abandoned;
    pthread_mutex_unlock(&lock);
    if (abandoned)
        free(query);
}

/* Looks into the memory that this node's server shares with its processes. PMIx_Get_nb() would, too, but PMIx 4.2 never
 * frees what it has found there. */
static bool pmix_cards_find_here(struct query *query)
{
    pmix_value_t *value = NULL;
    bool yes = true;
    if (!shared)
        return false;
    PMIX_INFO_LOAD(&query->info[0], PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (PMIx_Get(&query->proc, query->key, query->info, 1, &value) != PMIX_SUCCESS)
        return false;
    pmix_cards_answered(PMIX_SUCCESS, value, query);
    PMIX_VALUE_RELEASE(value);
    return true;
}

/* Starts PMIx's query. The lock must not be held, since the answer may come at once. */
static void pmix_cards_query(struct query *query)
{
    PMIX_LOAD_PROCID(&query->proc, self.nspace, (pmix_rank_t)query->rank);
    int seconds = ANSWER_SECONDS;
    bool yes = true, local = pmix_cards_locality(query->rank) == LOCAL;
    if (local && pmix_cards_find_here(query))
        return;
    size_t directives = 0;
    PMIX_INFO_LOAD(&query->info[directives++], PMIX_TIMEOUT, &seconds, PMIX_INT);
    if (!local || shared) /* PMIx 4.2 finds nothing of this node with it, unless there is shared memory */
        PMIX_INFO_LOAD(&query->info[directives++], PMIX_GET_REFRESH_CACHE, &yes, PMIX_BOOL);
    if (local)
        PMIX_INFO_LOAD(&query->info[directives++], PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    query->waiting = true;
    pmix_status_t status = PMIx_Get_nb(&query->proc, query->key, query->info, directives, pmix_cards_answered, query);
    if (status != PMIX_SUCCESS) {
        pthread_mutex_lock(&lock);
        query->status = status;
        query->waiting = false;
        pthread_mutex_unlock(&lock);
    }
}

/* If the node of a rank is unknown, only every eighth query refreshes: this node's server lets such a query wait. */
static bool pmix_cards_wants_refresh(const struct query *query)
{
    static _Atomic unsigned questions;
    if (query->slot != PL_CARD_LISTENER || query->state == REFRESHING)
        return false;
    enum locality where = pmix_cards_locality(query->rank);
    return where == REMOTE || (where == UNKNOWN && ++questions % 8 == 0);
}

static void pmix_cards_start(struct query *query)
{
    if (pmix_cards_wants_refresh(query)) {
        query->state = REFRESHING;
        snprintf(query->key, sizeof query->key, "plenum.refresh");
    } else {
        const struct pmix_listener *listener = query->listener;
        query->state = FETCHING;
        if (listener)
            pmix_cards_numbered_key(query->slot, listener->claim + query->next_claim,
                                    query->next_claim ? 1 : listener->number + 1, query->key, sizeof query->key);
        else
            pmix_cards_key_of(query->slot, query->key, sizeof query->key);
    }
    pmix_cards_query(query);
}

static struct query *pmix_cards_find(int rank, enum pl_card_slot slot)
{
    for (struct query *query = pl_pmix_copy->queries; query; query = query->next)
        if (query->rank == rank && query->slot == slot)
            return query;
    return NULL;
}

static void pmix_cards_free_query(struct query *query)
{
    struct query **at = &pl_pmix_copy->queries;
    while (*at != query)
        at = &(*at)->next;
    *at = query->next;
    free(query);
}

static struct pmix_listener *pmix_cards_known(int rank, enum pl_card_slot slot)
{
    struct pmix_listener *listener = pl_pmix_copy->listeners;
    while (listener && (listener->rank != rank || listener->slot != slot))
        listener = listener->next;
    return listener;
}

/* NULL: out of memory. */
static struct pmix_listener *pmix_cards_listener(int rank, enum pl_card_slot slot)
{
    struct pmix_listener *listener = pmix_cards_known(rank, slot);
    if (listener || !(listener = pl_calloc(1, sizeof *listener)))
        return listener;
    listener->rank = rank;
    listener->slot = slot;
    listener->claim = 1;
    listener->next = pl_pmix_copy->listeners;
    pl_pmix_copy->listeners = listener;
    return listener;
}

/* Goes on to the next card of a listener. False: there is none; what the query has then is the latest one. */
static bool pmix_cards_go_on(struct query *query)
{
    struct pmix_listener *listener = query->listener;
    bool missing = query->status == PMIX_ERR_NOT_FOUND || query->status == PMIX_ERR_PROC_ENTRY_NOT_FOUND;
    if (query->status == PMIX_SUCCESS) {
        listener->number = query->next_claim ? 1 : listener->number + 1;
        listener->claim += query->next_claim;
        listener->card = query->answer;
        query->next_claim = false;
    } else if (missing && !query->next_claim && query->slot == PL_CARD_LISTENER) {
        query->next_claim = true;
    } else {
        query->next_claim = false;
        query->answer = listener->card;
        query->status = missing ? PMIX_SUCCESS : query->status;
        return false;
    }
    pmix_cards_start(query);
    return true;
}

/* A card of the World is there under its own key. The next query begins behind it. */
static void pmix_cards_keep_world(const struct query *query)
{
    struct pmix_listener *known = pmix_cards_listener(query->rank, PL_CARD_WORLD);
    if (!known)
        return; /* that query finds the same again */
    known->claim = generation;
    known->number = 1;
    known->card = query->answer;
}

/* The result of an answered query. */
static int pmix_cards_result(struct query *query, void *card, size_t *length)
{
    switch (query->status) {
    case PMIX_SUCCESS:
        if (query->answer.length == 0)
            break; /* withdrawn */
        memcpy(card, query->answer.card, query->answer.length);
        *length = query->answer.length;
        if (query->slot == PL_CARD_WORLD && !query->listener && !shared)
            pmix_cards_keep_world(query);
        return MPI_SUCCESS;
    case PMIX_ERR_NOT_FOUND:
    case PMIX_ERR_TIMEOUT:
    case PMIX_ERR_NOT_AVAILABLE:
    case PMIX_ERR_PROC_ENTRY_NOT_FOUND: /* it has disconnected from the server, and may come back */ break;
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_PROC_TERM_WO_SYNC:
    case PMIX_ERR_PROC_ABORTING:
        return pl_pmix_copy->host->fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has ended", query->rank);
    default:
        return pl_pmix_copy->host->fail(MPI_ERR_OTHER, "cannot get the address of rank %d: PMIx returned %s",
                                        query->rank, PMIx_Error_string(query->status));
    }
    query->backoff_ms = query->backoff_ms ? query->backoff_ms * 2 : RETRY_FIRST_MS;
    if (query->backoff_ms > RETRY_LAST_MS)
        query->backoff_ms = RETRY_LAST_MS;
    query->retry_at = pl_clock_ms() + query->backoff_ms;
    query->state = BACKING_OFF;
    return PL_AGAIN;
}

int pl_pmix_cards_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    struct query *query = pmix_cards_find(rank, slot);
    if (!query) {
        query = pl_calloc(1, sizeof *query);
        if (!query)
            return pl_pmix_copy->host->fail(MPI_ERR_NO_MEM, "out of memory for a lookup");
        bool numbered = !shared && pmix_cards_locality(rank) == LOCAL;
        if (numbered && slot == PL_CARD_LISTENER && !(query->listener = pmix_cards_listener(rank, slot))) {
            free(query);
            return pl_pmix_copy->host->fail(MPI_ERR_NO_MEM, "out of memory for a lookup");
        }
        if (numbered && slot == PL_CARD_WORLD)
            query->listener = pmix_cards_known(rank, slot);
        query->rank = rank;
        query->slot = slot;
        query->state = ANSWERED;
        query->next = pl_pmix_copy->queries;
        pl_pmix_copy->queries = query;
        pmix_cards_start(query);
        return PL_AGAIN;
    }

    pthread_mutex_lock(&lock);
    bool waiting = query->waiting;
    pthread_mutex_unlock(&lock);
    if (waiting || (query->state == BACKING_OFF && pl_clock_ms() < query->retry_at))
        return PL_AGAIN;
    if (query->state != FETCHING) {
        pmix_cards_start(query);
        return PL_AGAIN;
    }
    if (query->listener && pmix_cards_go_on(query))
        return PL_AGAIN;
    int err = pmix_cards_result(query, card, length);
    if (err != PL_AGAIN)
        pmix_cards_free_query(query);
    return err;
}
