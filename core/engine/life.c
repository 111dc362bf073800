/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of an engine: its transports, its address card, the table of all engines of the process.
 *
 * A card is the engine's id (8 bytes), then an entry for each transport: length of the name (1 byte), the name, length
 * of the address (2 bytes), the address. An engine that other hosts can reach has an empty entry PL_FAR, one that needs
 * a network and cannot have it PL_NETLESS. Settings of clients (client.h) are entries under the clients' names.
 */
#include "core/engine/life.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/base/plain_locale.h"
#include "core/base/version.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/match_index.h"
#include "core/engine/p2p.h"
#include "core/engine/peer.h"
#include "core/engine/peer_failure.h"
#include "core/engine/request.h"
#include "core/engine/send_answer.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"
#include "core/job/process.h"
#include "core/object/plugin.h"

extern const struct pl_transport_ops pl_transport_self, pl_transport_shm;

/* All engines of this process, for pl_engine_nudge_others(). */
static struct pl_lock engines_lock = PL_LOCK_INIT(PL_RANK_ENGINES);
static struct pl_list engines = { &engines, &engines };

/* --- transports ------------------------------------------------------------------------------------------------ */

static int engine_open_transport(struct pl_engine *engine, const struct pl_transport_ops *ops)
{
    int slot = engine->transports;
    struct pl_plain_locale locale = pl_plain_locale_enter();
    int rc = ops->open(engine, &pl_engine_host, &engine->transport[slot].self);
    pl_plain_locale_leave(&locale);
    if (rc == MPI_SUCCESS) {
        engine->transport[slot].ops = ops;
        atomic_store_explicit(&engine->transports, slot + 1, memory_order_release);
    }
    return rc;
}

/* That it cannot work here is an error. */
static int open_wanted(struct pl_engine *engine, const struct pl_transport_ops *ops)
{
    int rc = engine_open_transport(engine, ops);
    if (rc != PL_UNREACHABLE)
        return rc;
    char why[PL_DETAIL_MAX];
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    return pl_fail(MPI_ERR_OTHER, "%s", why);
}

/* UCX copies the name of the machine, up to a dot, into HOST_NAME_MAX bytes while it is loaded: it would abort. */
static int check_host_name(const char *transport)
{
    char name[2 * HOST_NAME_MAX] = "";
    gethostname(name, sizeof name - 1);
    if (strcspn(name, ".") < HOST_NAME_MAX)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER,
                   "transport %s: the name of this machine, \"%s\", has %zu characters, and UCX cannot be loaded with "
                   "more than %d before a dot",
                   transport, name, strlen(name), HOST_NAME_MAX - 1);
}

static int open_loaded(struct pl_engine *engine, const char *name)
{
    if (check_host_name(name) != MPI_SUCCESS)
        return MPI_ERR_OTHER;
    const struct pl_transport_ops *ops = pl_plugin_load(name, PL_TRANSPORT_SYMBOL);
    return ops ? open_wanted(engine, ops) : MPI_ERR_OTHER;
}

/* Pids and memory are shared with processes of the same namespaces alone. */
static int open_memory(struct pl_engine *engine)
{
    if (pl_process.identity.apart)
        return pl_fail(PL_UNREACHABLE, "transport shm: this process is in another pid or user namespace than the job's "
                                       "first, or has no /proc");
    return engine_open_transport(engine, &pl_transport_shm);
}

static bool transport_is_automatic(void)
{
    return strcmp(pl_config_text("transport"), "auto") == 0;
}

/* Without shared memory the network serves the node too, and the others of the job must open theirs. */
static int open_instead_of_memory(struct pl_engine *engine)
{
    char why[PL_DETAIL_MAX / 2 - 16];
    snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
    pl_log("engine", 1, "no shared memory, so " PL_NETWORK " is used: %s", why);
    int rc = open_loaded(engine, PL_NETWORK);
    if (rc)
        return pl_fail(rc, "%s; %s", why, pl_error_detail(NULL));
    pl_process_mark_lacking();
    return MPI_SUCCESS;
}

/* As one of several ways: without it the card says that this engine has none. */
static void open_network_too(struct pl_engine *engine)
{
    engine->outside.netless = !transport_is_automatic() || open_loaded(engine, PL_NETWORK) != MPI_SUCCESS;
    if (engine->outside.netless)
        pl_log("engine", 1, "a process of this job has no shared memory, and this one no " PL_NETWORK ": %s",
               transport_is_automatic() ? pl_error_detail(NULL) : "PLENUM_TRANSPORT leaves it out");
    else
        pl_log("engine", 2, "a process of this job has no shared memory: " PL_NETWORK " is used for it");
}

/* Opens the transports to other processes. "auto": shm within the node, and ucx if the job is on several nodes or
 * a process of it lacks shared memory. A name or a list of names forces those. */
static int open_outward(struct pl_engine *engine)
{
    const char *wanted = pl_config_text("transport");
    const struct pl_identity *identity = &pl_process.identity;
    bool automatic = transport_is_automatic();
    bool shm = automatic || strstr(wanted, "shm") != NULL;
    bool ucx = automatic ? identity->local_size < identity->size : strstr(wanted, "ucx") != NULL;

    int rc = shm ? automatic ? open_memory(engine) : open_wanted(engine, &pl_transport_shm) : MPI_SUCCESS;
    if (rc && automatic)
        return open_instead_of_memory(engine);
    if (rc == MPI_SUCCESS && ucx)
        rc = open_loaded(engine, PL_NETWORK);
    else if (rc == MPI_SUCCESS && pl_process_sees_lacking(true))
        open_network_too(engine);
    return rc;
}

/* A process that is alone in its job needs only "self", unless configured otherwise, until it communicates with other
 * jobs. */
static bool engine_is_alone(void)
{
    return pl_process.identity.size == 1 && transport_is_automatic();
}

static bool engine_has_network(const struct pl_engine *engine)
{
    for (int i = 0; i < engine->transports; i++)
        if (strcmp(engine->transport[i].ops->name, PL_NETWORK) == 0)
            return true;
    return false;
}

static int open_transports(struct pl_engine *engine)
{
    int rc = engine_open_transport(engine, &pl_transport_self);
    return rc || (engine->instance && engine_is_alone()) ? rc : open_outward(engine);
}

/* Appends an entry for each client that has settings. */
static void card_write_settings(struct pl_writer *card)
{
    for (int i = 0; i < PL_ENGINE_CLIENTS; i++) {
        const struct pl_engine_client *client = &pl_engine_clients[i];
        uint32_t settings = client->settings ? client->settings() : 0;
        if (!settings)
            continue;
        pl_write_text(card, client->name);
        pl_write_u16(card, sizeof settings);
        pl_write_raw(card, &settings, sizeof settings);
    }
}

static int card_write_address(struct pl_writer *card, const struct pl_transport_ops *ops, void *self)
{
    pl_write_text(card, ops->name);
    size_t at = card->length, length = 0;
    pl_write_u16(card, 0);
    size_t begin = card->length, most = pl_writer_left(card);
    unsigned char *address = pl_write_space(card, most);
    if (!address)
        return pl_fail(MPI_ERR_INTERN, "the address card of %u bytes has no room for transport %s", PL_CARD_MAX,
                       ops->name);
    int rc = ops->address(self, address, most, &length);
    pl_writer_trim(card, begin + length);
    pl_writer_set_u16(card, at, (uint16_t)length);
    return rc;
}

static int write_card(struct pl_engine *engine)
{
    unsigned char data[PL_CARD_MAX];
    struct pl_writer card = pl_writer_fixed(data, sizeof data);
    pl_write_u64(&card, engine->id);
    for (int i = 0; i < engine->transports; i++) {
        int rc = card_write_address(&card, engine->transport[i].ops, engine->transport[i].self);
        if (rc)
            return rc;
    }
    card_write_settings(&card);
    if (engine->outside.far && engine_has_network(engine)) {
        pl_write_text(&card, PL_FAR);
        pl_write_u16(&card, 0);
    }
    if (engine->outside.netless) {
        pl_write_text(&card, PL_NETLESS);
        pl_write_u16(&card, 0);
    }
    if (card.failed)
        return pl_fail(MPI_ERR_INTERN, "the address card of %zu bytes has no room for settings", sizeof data);
    engine->card_length = card.length;
    memcpy(engine->card, data, card.length);
    return MPI_SUCCESS;
}

/* --- life ------------------------------------------------------------------------------------------------------ */

static void close_transports(struct pl_engine *engine)
{
    while (engine->transports > 0) {
        int last = --engine->transports;
        engine->transport[last].ops->close(engine->transport[last].self);
    }
}

static int engine_draw_id(struct pl_engine *engine)
{
    while (engine->id == 0)
        if (getrandom(&engine->id, sizeof engine->id, 0) != sizeof engine->id)
            return pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for an engine's id");
    if (pl_process.identity.watched) /* tells this process from others that had its rank: peer_failure.h */
        engine->id = (engine->id & ~(uint64_t)0xff) | (pl_process_deaths(pl_process_self()) & 0xff);
    engine->id = engine->id << 8 >> 8 | (uint64_t)PL_WIRE_MARK << 56; /* read by peer.c */
    return MPI_SUCCESS;
}

int pl_engine_open(struct pl_engine *engine, struct pl_instance *instance, int thread_level, bool served)
{
    bool several = thread_level > MPI_THREAD_FUNNELED;
    const struct pl_identity *identity = &pl_process.identity;
    memset(engine, 0, sizeof *engine);
    pl_lock_init(&engine->lock, instance ? PL_RANK_ENGINE : PL_RANK_LISTENER, several || served);
    engine->instance = instance;
    engine->threads = (struct pl_engine_threads){ .opener = pthread_self(), .several = several };
    struct pl_list *lists[] = { &engine->sends.busy,     &engine->sends.awaiting, &engine->sends.moving,
                                &engine->deferred.frees, &engine->deferred.work,  &engine->sends.unresolved,
                                &engine->hooks,          &engine->slow_hooks,     &engine->closers,
                                &engine->early.messages, &engine->siblings,       &engine->peers.gone };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        pl_list_init(lists[i]);
    engine->comms.go_on = strcmp(pl_config_text("error_range"), "local") == 0;
    engine->outside.far = identity->local_size < identity->size || strcmp(pl_config_text("scope"), "network") == 0;
    engine->wait.oversubscribed = identity->slots > 0 && identity->local_size > identity->slots;
    int rc = engine_draw_id(engine);
    if (rc)
        goto lock;
    rc = open_transports(engine);
    if (rc)
        goto transports;
    rc = write_card(engine);
    if (rc == MPI_SUCCESS)
        rc = pl_failure_open(engine);
    if (rc)
        goto transports;
    pl_lock_take(&engines_lock);
    pl_list_append(&engines, &engine->siblings);
    pl_lock_drop(&engines_lock);
    return MPI_SUCCESS;

transports:
    close_transports(engine);
lock:
    pl_lock_fini(&engine->lock);
    return rc;
}

/* Takes the lock while no thread sleeps in the transports, so that a new transport is not disarmed without having been
 * armed. */
static void enter_awake(struct pl_engine *engine)
{
    pl_engine_enter(engine);
    while (engine->wait.asleep) {
        pl_engine_leave(engine);
        pl_engine_wake(engine);
        sched_yield();
        pl_engine_enter(engine);
    }
}

int pl_engine_widen(struct pl_engine *engine)
{
    int rc = MPI_SUCCESS;
    enter_awake(engine);
    if (engine->transports == 1 && engine_is_alone()) {
        rc = open_outward(engine);
        if (rc == MPI_SUCCESS)
            rc = write_card(engine);
    }
    pl_engine_leave(engine);
    return rc;
}

int pl_engine_publish(struct pl_engine *engine, enum pl_card_slot slot)
{
    engine->outside.published = true;
    engine->outside.slot = slot;
    return pl_process_publish(slot, engine->card, engine->card_length);
}

void pl_engine_withdraw(struct pl_engine *engine)
{
    pl_engine_enter(engine);
    if (engine->outside.published)
        pl_process_publish(engine->outside.slot, NULL, 0);
    engine->outside.published = false;
    pl_engine_leave(engine);
}

void pl_engine_meet_lacking(struct pl_engine *engine)
{
    if (engine->outside.netless || engine_has_network(engine) || engine->transports == 1 ||
        !pl_process_sees_lacking(true))
        return;
    open_network_too(engine);
    if (write_card(engine) == MPI_SUCCESS && engine->outside.published)
        pl_engine_publish(engine, engine->outside.slot);
}

bool pl_engine_is_networked(const struct pl_engine *engine)
{
    return pl_engine_card_has(engine->card, engine->card_length, PL_FAR);
}

size_t pl_engine_card(struct pl_engine *engine, unsigned char card[PL_CARD_MAX])
{
    pl_engine_enter(engine);
    size_t length = engine->card_length;
    memcpy(card, engine->card, length);
    pl_engine_leave(engine);
    return length;
}

static int engine_open_network(struct pl_engine *engine)
{
    const char *wanted = pl_config_text("transport");
    if (engine_has_network(engine))
        return pl_fail(MPI_ERR_OTHER,
                       "with PLENUM_TRANSPORT=%s and PLENUM_SCOPE=host, %s serves this host alone; set "
                       "PLENUM_SCOPE=network",
                       wanted, PL_NETWORK);
    if (strcmp(wanted, "auto") != 0)
        return pl_fail(MPI_ERR_OTHER, "PLENUM_TRANSPORT=%s leaves out " PL_NETWORK, wanted);
    engine->outside.far = true;
    int rc = open_loaded(engine, PL_NETWORK);
    engine->outside.far = rc == MPI_SUCCESS;
    return rc;
}

int pl_engine_add_network(struct pl_engine *engine)
{
    int rc = MPI_SUCCESS;
    pl_engine_enter(engine);
    bool networked = pl_engine_is_networked(engine);
    pl_engine_leave(engine);
    if (networked)
        return MPI_SUCCESS;
    enter_awake(engine);
    if (!pl_engine_is_networked(engine)) {
        rc = engine_open_network(engine);
        if (rc == MPI_SUCCESS)
            rc = write_card(engine);
    }
    pl_engine_leave(engine);
    return rc;
}

bool pl_engine_is_flushed(struct pl_engine *engine)
{
    if (!pl_list_empty(&engine->sends.busy) || !pl_list_empty(&engine->sends.unresolved))
        return false;
    for (int i = 0; i < engine->transports; i++)
        if (!engine->transport[i].ops->flushed(engine->transport[i].self))
            return false;
    return true;
}

void pl_engine_flush(struct pl_engine *engine)
{
    const struct pl_waiting what = { .what = PL_WHAT_CLOSE, .peer = PL_NO_PEER, .tag = PL_ANY };
    struct pl_wait wait = { .what = &what };
    for (;;) {
        pl_engine_enter(engine);
        int events = pl_engine_progress(engine);
        bool done = pl_engine_is_flushed(engine);
        pl_engine_leave(engine);
        if (done)
            return;
        if (events)
            wait.rounds = 0;
        else
            pl_engine_idle(engine, &wait);
    }
}

static void drop_early(struct pl_engine *engine)
{
    PL_LIST_EACH(unexpected, &engine->early.messages, struct pl_unexpected, link) {
        pl_list_remove(&unexpected->link);
        pl_match_drop(engine, unexpected, false);
    }
}

/* Two processes that close while each has a long message for the other, which will not be received, must not wait for
 * each other: messages that arrive now are dropped. */
void pl_engine_close(struct pl_engine *engine)
{
    pl_engine_enter(engine);
    engine->state = PL_ENGINE_CLOSING;
    drop_early(engine);
    pl_engine_leave(engine);
    pl_engine_flush(engine);
    pl_engine_close_flushed(engine);
}

void pl_engine_close_flushed(struct pl_engine *engine)
{
    pl_failure_close(engine);
    pl_lock_take(&engines_lock);
    pl_list_remove(&engine->siblings);
    pl_lock_drop(&engines_lock);

    pl_engine_enter(engine);
    engine->state = PL_ENGINE_CLOSING;
    drop_early(engine);
    PL_LIST_EACH(request, &engine->sends.awaiting, struct pl_request, link) {
        pl_send_unlink(request);
        pl_request_complete(request, MPI_ERR_OTHER);
    }
    pl_table_fini(&engine->sends.by_token);
    PL_TABLE_EACH(peer, &engine->peers.by_id, struct pl_peer, by_id) {
        if (peer->endpoint)
            peer->endpoint->ops->disconnect(peer->endpoint);
        free(peer);
    }
    pl_table_fini(&engine->peers.by_id);
    PL_LIST_EACH(closer, &engine->closers, struct pl_closer, link) {
        pl_list_remove(&closer->link);
        closer->close(closer);
    }
    close_transports(engine);
    free(engine->sends.spare);
    pl_table_fini(&engine->comms.by_id);
    engine->state = PL_ENGINE_CLOSED;
    pl_engine_leave(engine);
}

/* --- other engines ----------------------------------------------------------------------------------------------- */

/* Has a thread made progress in it since the last call? */
static bool take_progress_since_last(struct pl_engine *engine)
{
    unsigned rounds = atomic_load_explicit(&engine->rounds, memory_order_relaxed);
    bool moved = rounds != engine->rounds_seen;
    engine->rounds_seen = rounds;
    return moved;
}

int pl_engine_nudge_others(struct pl_engine *engine)
{
    int events = 0;
    struct pl_list deferred, *node;
    if (!pl_lock_try(&engines_lock))
        return 0;
    pl_list_init(&deferred);
    PL_LIST_EACH(other, &engines, struct pl_engine, siblings) {
        if (other == engine || (!other->threads.several && !pthread_equal(other->threads.opener, pthread_self())))
            continue;
        if (take_progress_since_last(other) || !pl_lock_try(&other->lock))
            continue;
        events += pl_engine_progress(other);
        take_progress_since_last(other); /* this round does not count */
        while ((node = pl_list_pop(&other->deferred.work)) != NULL)
            pl_list_append(&deferred, node);
        pl_lock_drop(&other->lock); /* its deferred frees wait for the thread that leaves it next */
    }
    pl_lock_drop(&engines_lock);
    pl_engine_run_deferred(&deferred);
    return events;
}

int pl_engine_nudge_all(void)
{
    return pl_engine_nudge_others(NULL);
}
