/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers: found by their engine's id, and connected by the addresses in its card. life.c documents the card's format. It
 * comes from other processes, so every length is checked.
 */
#include "core/engine/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/version.h"
#include "core/engine/address_vector.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/match_index.h"
#include "core/engine/peer_failure.h"
#include "core/engine/request.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"
#include "core/job/jobs.h"
#include "core/job/process.h"

/* An entry of a card: a transport's address, or a client's settings. NULL: there is none, or the card is damaged. */
static const void *card_address(const unsigned char *card, size_t card_length, const char *transport, size_t *length)
{
    struct pl_reader from = pl_reader(card, card_length);
    pl_read_u64(&from); /* the engine's id */
    while (!from.failed && !pl_reader_done(&from)) {
        size_t label_length;
        const char *label = pl_read_text(&from, UINT8_MAX, &label_length);
        *length = pl_read_u16(&from);
        const void *address = pl_read_raw(&from, *length);
        if (address && label_length == strlen(transport) && memcmp(label, transport, label_length) == 0)
            return address;
    }
    return NULL;
}

bool pl_engine_card_has(const void *card, size_t length, const char *transport)
{
    size_t bytes;
    return length > 8 && card_address(card, length, transport, &bytes) != NULL;
}

static void cards_count(const struct pl_av *av, int *memoryless, int *narrow)
{
    for (int i = 0; av && i < av->group->size; i++) {
        size_t length;
        const void *card = pl_av_card(av, i, &length);
        *memoryless += !pl_engine_card_has(card, length, "shm");
        *narrow += !pl_engine_card_has(card, length, PL_NETWORK) && !pl_engine_card_has(card, length, PL_NETLESS);
    }
}

bool pl_engine_must_widen(const struct pl_av *members, const struct pl_av *more)
{
    int memoryless = 0, narrow = 0;
    cards_count(members, &memoryless, &narrow);
    cards_count(more, &memoryless, &narrow);
    return memoryless > 0 && narrow > 0;
}

/* --- peers ----------------------------------------------------------------------------------------------------- */

/* The transports of a card: "self, shm". */
static void name_transports(const unsigned char *card, size_t length, char text[64])
{
    static const char *const names[] = { "self", "shm", PL_NETWORK };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_engine_card_has(card, length, names[i]))
            strcat(strcat(text, *text ? ", " : ""), names[i]); /* all of them fit */
}

/* `tried`: a transport that both have refused this peer. */
static int fail_unreachable(const struct pl_engine *engine, const struct pl_peer *peer, const unsigned char *card,
                            size_t card_length, bool tried)
{
    char why[PL_DETAIL_MAX], label[PL_JOB_NAME_MAX + 32], own[64], theirs[64];
    pl_jobs_describe(peer->proc, label, sizeof label);
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    if (tried)
        return pl_fail(MPI_ERR_OTHER, "no transport reaches %s (PLENUM_TRANSPORT=%s): %s", label,
                       pl_config_text("transport"), why);
    name_transports(engine->card, engine->card_length, own);
    name_transports(card, card_length, theirs);
    return pl_fail(MPI_ERR_OTHER,
                   "no transport reaches %s (PLENUM_TRANSPORT=%s): this process has %s, that one %s; "
                   "shm is missing where there is no shared memory (PLENUM_LOG=engine:warning says why)",
                   label, pl_config_text("transport"), *own ? own : "none", *theirs ? theirs : "none");
}

static int connect_peer(struct pl_engine *engine, struct pl_peer *peer, const unsigned char *card, size_t card_length)
{
    bool tried = false;
    for (int i = 0; i < engine->transports; i++) {
        const struct pl_transport_ops *ops = engine->transport[i].ops;
        size_t length;
        const void *address = card_address(card, card_length, ops->name, &length);
        if (!address)
            continue;
        int rc = ops->connect(engine->transport[i].self, address, length, peer, &peer->endpoint);
        if (rc != PL_UNREACHABLE)
            return rc;
        tried |= strcmp(ops->name, "self") != 0;
    }
    return fail_unreachable(engine, peer, card, card_length, tried);
}

static void peer_read_settings(struct pl_peer *peer, const unsigned char *card, size_t card_length)
{
    for (int i = 0; i < PL_ENGINE_CLIENTS; i++) {
        size_t length;
        const void *settings = card_address(card, card_length, pl_engine_clients[i].name, &length);
        if (settings && length == sizeof peer->settings[i])
            memcpy(&peer->settings[i], settings, length);
    }
}

int pl_engine_check_version(const void *card, size_t length, uint64_t proc)
{
    unsigned mark = (unsigned)(pl_engine_card_id(card, length) >> 56);
    char label[PL_JOB_NAME_MAX + 32];
    if (length < sizeof(uint64_t))
        return pl_fail(MPI_ERR_OTHER, "an address card of %zu bytes is damaged", length);
    if (mark == PL_WIRE_MARK)
        return MPI_SUCCESS;
    pl_jobs_describe(proc, label, sizeof label);
    if (mark >> 6 != PL_NUMBERS)
        return pl_fail(MPI_ERR_OTHER,
                       "%s stores numbers as %s does, and this process as %s does: all processes of a job must run on "
                       "one kind of processor",
                       label, pl_numbers_name(mark >> 6), pl_numbers_name(PL_NUMBERS));
    return pl_fail(
        MPI_ERR_OTHER,
        "%s has another version of Plenum: its messages are of version %u, and those of this library (%s) of "
        "version %u; all processes must load the same one",
        label, mark & 63, PL_VERSION, PL_WIRE_VERSION);
}

int pl_engine_peer(struct pl_engine *engine, const void *card, size_t length, uint64_t proc, struct pl_peer **peer)
{
    uint64_t id = pl_engine_card_id(card, length);
    if (length < sizeof id)
        return pl_fail(MPI_ERR_OTHER, "an address card of %zu bytes is damaged", length);
    struct pl_peer *known = PL_TABLE_FIND(&engine->peers.by_id, id, struct pl_peer, by_id);
    if (known) {
        if (known->proc == UINT64_MAX)
            known->proc = proc;
        *peer = known;
        return MPI_SUCCESS;
    }
    int rc = pl_engine_check_version(card, length, proc);
    if (rc)
        return rc;
    struct pl_peer *made = pl_calloc(1, sizeof *made);
    if (!made)
        return pl_fail_memory("a peer");
    made->engine = id;
    made->proc = proc;
    peer_read_settings(made, card, length);
    pl_list_init(&made->pending);
    pl_list_init(&made->link);
    pl_list_init(&made->gone);
    rc = connect_peer(engine, made, card, length);
    if (rc) {
        free(made);
        return rc;
    }
    pl_table_insert(&engine->peers.by_id, &made->by_id, id);
    *peer = made;
    return MPI_SUCCESS;
}

void pl_engine_forget(struct pl_engine *engine, struct pl_peer *peer)
{
    pl_table_remove(&engine->peers.by_id, &peer->by_id);
    struct pl_list *node;
    while ((node = pl_list_pop(&peer->pending)) != NULL)
        pl_request_complete(PL_CONTAINER(node, struct pl_request, link), MPI_ERR_PROC_ABORTED);
    pl_list_remove(&peer->link);
    pl_list_remove(&peer->gone);
    if (peer->endpoint)
        peer->endpoint->ops->disconnect(peer->endpoint);
    free(peer);
}

/* Is it lost, while its process may live? What is made later with that process must break. */
static bool peer_is_cut_off(const struct pl_peer *peer)
{
    return peer->error && peer->error != MPI_ERR_PROC_ABORTED && !peer->closed;
}

/* Is a message to it under way? */
static bool peer_has_sends(const struct pl_engine *engine, const struct pl_peer *peer)
{
    const struct pl_list *lists[] = { &engine->sends.awaiting, &engine->sends.moving };
    if (!pl_list_empty(&peer->pending))
        return true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        PL_LIST_EACH(request, lists[i], struct pl_request, link)
            if (request->peer == peer)
                return true;
    return false;
}

void pl_engine_forget_gone(struct pl_engine *engine)
{
    PL_LIST_EACH(peer, &engine->peers.gone, struct pl_peer, gone)
        if (peer->uses == 0 && !peer->stays && !peer_is_cut_off(peer) &&
            !(engine->peers.holds && engine->peers.holds(peer)) && !peer_has_sends(engine, peer))
            pl_engine_forget(engine, peer);
}

/* Has another process's card the address of a transport that the engine has? The first is "self". */
static bool card_is_reachable(const struct pl_engine *engine, const void *card, size_t length)
{
    for (int i = 1; i < engine->transports; i++)
        if (pl_engine_card_has(card, length, engine->transport[i].ops->name))
            return true;
    return false;
}

int pl_engine_lookup(struct pl_engine *engine, uint64_t proc, enum pl_card_slot slot, void *card, size_t *length)
{
    int rc = pl_process_lookup(proc, slot, card, length);
    if (rc || proc == pl_process_self() || card_is_reachable(engine, card, *length))
        return rc;
    pl_engine_meet_lacking(engine); /* the peer lacks shared memory, or this process does */
    if (card_is_reachable(engine, card, *length) || engine->outside.netless || !pl_process_sees_lacking(true) ||
        pl_engine_card_has(card, *length, PL_NETLESS) || pl_engine_card_has(card, *length, PL_NETWORK))
        return MPI_SUCCESS;
    if (pl_process_alive(proc) == MPI_ERR_PROC_ABORTED)
        return pl_fail(MPI_ERR_PROC_ABORTED, "the process of rank %d has ended", PL_PROC_RANK(proc));
    return PL_AGAIN; /* the peer has still to add the network */
}

/* The card of a communicator's rank: this engine's own, one of the communicator's address vector, or the one that a
 * process of the World published. */
static int rank_card(struct pl_comm *comm, uint64_t proc, void *card, size_t *length)
{
    struct pl_engine *engine = &comm->instance->engine;
    if (proc == pl_process_self()) {
        memcpy(card, engine->card, engine->card_length);
        *length = engine->card_length;
        return MPI_SUCCESS;
    }
    int member = comm->peers.av ? pl_group_find(comm->peers.av->group, proc) : MPI_UNDEFINED;
    const void *from = NULL;
    *length = 0;
    if (member != MPI_UNDEFINED)
        from = pl_av_card(comm->peers.av, member, length);
    bool fresh = comm->instance->world && PL_PROC_JOB(proc) == 0; /* than the address vector */
    if (*length > 0 && (!fresh || card_is_reachable(engine, from, *length))) {
        memcpy(card, from, *length);
        return MPI_SUCCESS;
    }
    if (comm->instance->world)
        return pl_engine_lookup(engine, proc, PL_CARD_WORLD, card, length);
    return pl_fail(MPI_ERR_INTERN, "rank %d of the job has no address in %s", PL_PROC_RANK(proc), pl_comm_label(comm));
}

int pl_engine_resolve(struct pl_comm *comm, int rank, struct pl_peer **peer)
{
    if ((*peer = pl_comm_peer(comm, rank)) != NULL)
        return MPI_SUCCESS;
    unsigned char card[PL_CARD_MAX];
    size_t length;
    uint64_t proc = pl_group_proc(comm->inter.remote ? comm->inter.remote : comm->group, rank);
    int rc = rank_card(comm, proc, card, &length);
    if (rc == MPI_SUCCESS)
        rc = pl_engine_peer(&comm->instance->engine, card, length, proc, peer);
    if (rc && rc != PL_AGAIN)
        return pl_failure_explain(comm, rank, rc);
    if (rc == MPI_SUCCESS && pl_likely(!atomic_load(&comm->health.revoked)))
        pl_comm_peer_keep(comm, rank, *peer);
    else if (rc == MPI_SUCCESS)
        (*peer)->stays = true; /* the caller may keep its endpoint, and is counted nowhere */
    for (int i = 0; rc == MPI_SUCCESS && i < PL_ENGINE_CLIENTS; i++)
        if (pl_engine_clients[i].resolved)
            pl_engine_clients[i].resolved(comm, rank, (*peer)->settings[i]);
    return rc;
}

int pl_engine_find(struct pl_comm *comm, int rank, struct pl_peer **peer)
{
    struct pl_engine *engine = &comm->instance->engine;
    const struct pl_waiting what = { .what = PL_WHAT_ADDRESS, .comm = comm, .peer = rank, .tag = PL_ANY };
    struct pl_wait wait = { .what = &what };
    for (;;) {
        pl_engine_enter(engine);
        int rc = pl_engine_resolve(comm, rank, peer);
        int events = rc == PL_AGAIN ? pl_engine_progress(engine) : 0;
        pl_engine_leave(engine);
        if (rc != PL_AGAIN)
            return rc;
        wait.rounds = events ? 0 : wait.rounds;
        pl_engine_idle(engine, &wait);
    }
}
