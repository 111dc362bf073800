/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: how other engines are found, connected, failed and departed.
 *
 * Over networks UCX notices that a peer has failed (error mode PEER). Between processes that share memory it does not.
 * There the launcher tells processes that communicate, and a process that closes checks the lock that each worker holds
 * (core/job/stale_files.h).
 *
 * A link fails once. It takes no more messages, and its connection is closed by force. Once that is done UCX touches no
 * buffer of it any more; then pending messages are reported, and after them the failure itself.
 */
#include "plugins/ucx/link.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "plugins/ucx/control.h"
#include "plugins/ucx/knock.h"
#include "plugins/ucx/receive.h"
#include "plugins/ucx/remote.h"
#include "plugins/ucx/send.h"
#include "plugins/ucx/worker.h"

enum {
    /* If a peer has failed, close() gives up after this long: UCX may stay busy with what that one will never take. */
    CLOSE_FAILED_MS = 1000,
    DYING_MS = 20,      /* from the first resource that a process loses when it ends to the last */
    CLOSE_IDLE_MS = 50, /* close() gives up after this long without an event: a peer that computes does not answer */
    CHECK_MS = 10,      /* between checks for peers that have gone, by an engine that closes */
    CHECK_ALL_MS = 200, /* ... and by one that waits: each takes system calls for each peer */
    /* A peer that has gone may have sent LEAVE. UCX's queue in shared memory hides that behind the message of a third
     * process, as long as that process is interrupted in the middle of writing it. */
    GONE_MS = 1000,
};

/* --- finding --------------------------------------------------------------------------------------------------- */

struct pl_ucx_link *pl_ucx_link_find(struct pl_ucx *ucx, uint64_t engine)
{
    struct pl_ucx_link *link = ucx->last;
    if (link && link->origin.engine == engine)
        return link;
    link = PL_TABLE_FIND(&ucx->by_engine, engine, struct pl_ucx_link, by_engine);
    if (link)
        ucx->last = link;
    return link;
}

void pl_ucx_link_lose_message(struct pl_ucx *ucx, uint64_t engine)
{
    for (unsigned i = 0; i < ucx->unheard_count && i < PL_UCX_UNHEARD; i++)
        if (ucx->unheard[i] == engine)
            return;
    if (ucx->unheard_count < PL_UCX_UNHEARD)
        ucx->unheard[ucx->unheard_count] = engine;
    if (ucx->unheard_count <= PL_UCX_UNHEARD)
        ucx->unheard_count++;
}

/* Has a message of an engine been lost that has no link yet? It is remembered no longer. */
static bool ucx_link_was_unheard(struct pl_ucx *ucx, uint64_t engine)
{
    if (ucx->unheard_count > PL_UCX_UNHEARD)
        return true;
    for (unsigned i = 0; i < ucx->unheard_count; i++)
        if (ucx->unheard[i] == engine) {
            ucx->unheard[i] = ucx->unheard[--ucx->unheard_count];
            return true;
        }
    return false;
}

struct pl_ucx_link *pl_ucx_link_get(struct pl_ucx *ucx, uint64_t engine)
{
    struct pl_ucx_link *link = pl_ucx_link_find(ucx, engine);
    if (link)
        return link;
    link = pl_calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->endpoint.ops = &plenum_transport;
    link->origin.engine = engine;
    link->origin.held = &link->held;
    link->ucx = ucx;
    link->deaf = ucx_link_was_unheard(ucx, engine);
    pl_list_init(&link->sends);
    pl_list_init(&link->transfers);
    pl_list_init(&link->early);
    pl_list_init(&link->rndvs);
    pl_list_init(&link->failure);
    pl_list_append(&ucx->links, &link->entry);
    pl_table_insert(&ucx->by_engine, &link->by_engine, engine);
    return link;
}

int pl_ucx_link_set_address(struct pl_ucx_link *link, const void *address, size_t length)
{
    struct pl_ucx_address head;
    if (length <= sizeof head || length > PL_UCX_ADDRESS_MAX)
        return link->ucx->host->fail(MPI_ERR_OTHER, "a peer's UCX address has %zu bytes", length);
    memcpy(&head, address, sizeof head);
    if (head.engine != link->origin.engine)
        return link->ucx->host->fail(MPI_ERR_OTHER, "a peer gave the UCX address of another engine");
    if (link->address)
        return MPI_SUCCESS;
    link->address = pl_malloc(length);
    if (!link->address)
        return link->ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a connection");
    memcpy(link->address, address, length);
    link->address_length = length;
    return MPI_SUCCESS;
}

/* --- connecting ------------------------------------------------------------------------------------------------ */

static void ucx_link_on_error(void *argument, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    struct pl_ucx_link *link = argument;
    if (!link->departed)
        link->ucx->host->log("ucx", 1, "connection lost: %s", ucs_status_string(status));
    pl_ucx_link_lose(link, MPI_ERR_PROC_ABORTED, status);
}

static int ucx_link_connect(struct pl_ucx_link *link)
{
    struct pl_ucx *ucx = link->ucx;
    struct pl_ucx_address head;
    memcpy(&head, link->address, sizeof head);
    link->watched = !(ucx->shared_memory && head.node == ucx->node);
    link->scratch_dir = link->watched ? 0 : head.scratch_dir;
    if (link->scratch_dir != 0 && !link->mark) /* before UCX connects, which fails if the directory has gone */
        link->mark = pl_scratch_mark_open(link->scratch_dir);
    ucp_ep_params_t params = {
        .field_mask =
            UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)((const char *)link->address + sizeof head),
        .err_mode = link->watched ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
        .err_handler = { .cb = ucx_link_on_error, .arg = link },
    };
    struct pl_ucx_fds before = { .file = NULL };
    /* UCX opens a timer with the first one. */
    bool first = link->watched && !ucx->watches && pl_ucx_fds_remember(&before);
    ucs_status_t status = ucp_ep_create(ucx->worker, &params, &link->ep);
    if (first)
        pl_ucx_fds_claim(&before, NULL, 0, NULL);
    pl_ucx_fds_forget(&before);
    ucx->watches |= link->watched;
    link->lasting |= !link->watched;
    if (status != UCS_OK) {
        char choice[PL_UCX_CHOICE];
        link->ep = NULL;
        return ucx->host->fail(PL_UNREACHABLE, "UCX cannot reach this process%s: %s%s", pl_ucx_choice(ucx, choice),
                               ucs_status_string(status),
                               access("/sys/class/net", X_OK) == 0 ? "" : "; it finds no network without /sys");
    }
    ucx->unclaimed = true;
    int err = pl_ucx_control_send_hello(link);
    return err ? err : pl_ucx_control_send_owed(link);
}

int pl_ucx_link_open(struct pl_ucx_link *link)
{
    struct pl_ucx *ucx = link->ucx;
    if (link->error)
        return ucx->host->fail(link->error, "the connection to this process has failed: %s",
                               link->why ? link->why : "it has ended");
    if (link->departed)
        return ucx->host->fail(MPI_ERR_PROC_ABORTED, "this process has finalized");
    if (link->ep)
        return MPI_SUCCESS;
    if (!link->address)
        return ucx->host->fail(MPI_ERR_OTHER, "this process has not sent its UCX address");
    if (pl_ucx_knock_is_needed(link))
        return pl_ucx_knock_start(link);
    pl_ucx_knock_end(link);
    return ucx_link_connect(link);
}

/* --- failure --------------------------------------------------------------------------------------------------- */

void pl_ucx_link_fail(struct pl_ucx_link *link, int error, const char *why)
{
    if (link->error)
        return;
    link->error = error;
    link->why = why;
    pl_list_append(&link->ucx->failed, &link->failure);
}

void pl_ucx_link_lose(struct pl_ucx_link *link, int error, ucs_status_t status)
{
    if (!link->error && !link->departed && link->scratch_dir != 0)
        link->lost_at = pl_clock_ms();
    pl_ucx_link_fail(link, error, ucs_status_string(status));
}

/* Starts to close the connection. A connection that UCX does not watch ends with the worker instead: only that gives up
 * messages that are on their way to a peer that has gone. */
static void ucx_link_start_close(struct pl_ucx_link *link, bool force)
{
    ucp_ep_h ep = link->ep;
    link->ep = NULL;
    if (!ep || !link->watched)
        return;
    ucp_request_param_t params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0,
    };
    ucs_status_ptr_t request = ucp_ep_close_nbx(ep, &params);
    link->closing = UCS_PTR_IS_PTR(request) ? request : NULL;
}

static bool ucx_link_is_closed(struct pl_ucx_link *link)
{
    if (!link->closing)
        return true;
    if (ucp_request_check_status(link->closing) == UCS_INPROGRESS)
        return false;
    ucp_request_free(link->closing);
    link->closing = NULL;
    return true;
}

static void ucx_link_free_early(struct pl_ucx_link *link)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&link->early)) != NULL)
        free(PL_CONTAINER(node, struct pl_ucx_early, entry));
}

/* A rendezvous message that is being fetched, which the engine waits for no more; NULL: there is none. */
static struct pl_incoming *ucx_link_take_fetch(struct pl_ucx_link *link)
{
    PL_LIST_EACH(rndv, &link->rndvs, struct pl_ucx_rndv, entry) {
        struct pl_incoming *message = rndv->message;
        rndv->message = NULL;
        if (message)
            return message;
    }
    return NULL;
}

/* Ends all pending messages with the link's error; returns their number. Rendezvous messages that wait stay until the
 * engine fetches or drops them, which it may do for any of them when it is told of the end of another. */
static int ucx_link_give_up(struct pl_ucx_link *link)
{
    struct pl_ucx *ucx = link->ucx;
    int ended = 0;
    PL_LIST_EACH(send, &link->sends, struct pl_ucx_send, entry) {
        struct pl_outgoing *message = send->message;
        send->message = NULL;
        if (message && ++ended)
            ucx->host->sent(ucx->engine, message, link->error);
    }
    PL_LIST_EACH(rndv, &link->rndvs, struct pl_ucx_rndv, entry)
        ended += rndv->state == PL_UCX_RNDV_WAITING || rndv->state == PL_UCX_RNDV_PUT_OFF;
    for (struct pl_incoming *message; (message = ucx_link_take_fetch(link)) != NULL; ended++)
        ucx->host->fetched(ucx->engine, message, link->error);
    ended += pl_ucx_transfers_give_up(link);
    ucx_link_free_early(link);
    return ended;
}

/* Has a peer that UCX does not watch destroyed its worker, or has its process ended? */
static enum pl_scratch_state ucx_link_state(const struct pl_ucx_link *link)
{
    return link->scratch_dir != 0 ? pl_scratch_dir_state(link->scratch_dir, link->mark) : PL_SCRATCH_HELD;
}

static bool ucx_link_has_gone(const struct pl_ucx_link *link)
{
    return ucx_link_state(link) != PL_SCRATCH_HELD;
}

bool pl_ucx_link_is_dying(const struct pl_ucx_link *link)
{
    for (int waited = 0; link->scratch_dir != 0 && !ucx_link_has_gone(link) && waited < DYING_MS; waited++)
        pl_clock_sleep_ns(PL_NS_PER_MS);
    return ucx_link_has_gone(link);
}

/* May the peer of a connection that was lost be closing? UCX cannot reach a worker that is about to go. If it has
 * closed before it knew of this link, it has departed. */
static bool ucx_link_is_undecided(struct pl_ucx_link *link)
{
    enum pl_scratch_state state = ucx_link_state(link);
    if (state != PL_SCRATCH_HELD) {
        link->departed = link->refused = state == PL_SCRATCH_CLOSED;
        link->lost_at = 0;
    }
    return link->lost_at != 0 && pl_clock_ms() - link->lost_at < GONE_MS;
}

int pl_ucx_links_report(struct pl_ucx *ucx, bool all_is_read)
{
    int events = 0;
    PL_LIST_EACH(link, &ucx->failed, struct pl_ucx_link, failure) {
        if ((link->lost_at != 0 && ucx_link_is_undecided(link)) || (link->refused && !all_is_read))
            continue;
        if (link->ep)
            ucx_link_start_close(link, true);
        if (!ucx_link_is_closed(link))
            continue;
        pl_list_remove(&link->failure);
        link->refused = false;
        events++;
        struct pl_endpoint *endpoint = link->endpoint.peer ? &link->endpoint : NULL;
        if (link->departed)
            ucx->host->closed(ucx->engine, endpoint, &link->origin);
        if (ucx_link_give_up(link) == 0 && link->departed)
            continue; /* nothing was pending */
        ucx->host->failed(ucx->engine, endpoint, &link->origin, link->error, link->why);
    }
    return events;
}

/* --- peers that have gone -------------------------------------------------------------------------------------- */

static void ucx_link_free(struct pl_ucx_link *link)
{
    struct pl_list *node;
    pl_list_remove(&link->entry);
    while ((node = pl_list_pop(&link->sends)) != NULL)
        pl_ucx_send_free(link->ucx, PL_CONTAINER(node, struct pl_ucx_send, entry));
    while ((node = pl_list_pop(&link->rndvs)) != NULL)
        free(PL_CONTAINER(node, struct pl_ucx_rndv, entry));
    pl_ucx_transfers_free(link);
    ucx_link_free_early(link);
    pl_scratch_mark_close(link->mark);
    free((void *)link->origin.card);
    free(link->address);
    free(link);
}

static bool ucx_link_is_used(struct pl_ucx_link *link)
{
    const struct pl_list *lists[] = { &link->sends, &link->transfers, &link->early, &link->rndvs, &link->failure };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!pl_list_empty(lists[i]))
            return true;
    return link->endpoint.peer || link->held > 0 || link->knock || link->ep || link->lasting ||
           !ucx_link_is_closed(link);
}

/* Frees the links of peers that have departed: no message comes from there any more. */
static void ucx_links_forget(struct pl_ucx *ucx)
{
    ucx->host->quiet(ucx->engine);
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry) {
        if (!link->departed || ucx_link_is_used(link))
            continue;
        pl_table_remove(&ucx->by_engine, &link->by_engine);
        ucx->last = ucx->last == link ? NULL : ucx->last;
        ucx_link_free(link);
    }
}

bool pl_ucx_link_is_acked(const struct pl_ucx_link *link)
{
    return link->due == link->acked;
}

void pl_ucx_links_check(struct pl_ucx *ucx, bool all)
{
    int64_t now = pl_clock_ms();
    if (now < ucx->check_at)
        return;
    ucx->check_at = now + (all ? CHECK_ALL_MS : CHECK_MS);
    if (all)
        ucx_links_forget(ucx);
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry) {
        if ((!all && pl_ucx_link_is_acked(link)) || link->error || link->departed)
            continue;
        enum pl_scratch_state state = ucx_link_state(link);
        if (state == PL_SCRATCH_HELD)
            continue;
        if (ucp_worker_progress(ucx->worker) > 0) /* its last messages may still be unread */
            return;
        if (link->gone_at == 0) {
            link->gone_at = now;
            link->abandoned = state == PL_SCRATCH_ABANDONED;
        }
        if (all && now - link->gone_at < GONE_MS)
            continue;
        link->departed = !link->abandoned; /* it has closed before it knew of this link */
        pl_ucx_link_fail(link, MPI_ERR_PROC_ABORTED,
                         link->departed ? "it has ended" : "it has ended without closing the connection");
    }
}

/* --- closing --------------------------------------------------------------------------------------------------- */

/* Are there messages that UCX has not sent yet over a connection that it does not watch? */
static bool ucx_link_is_stuck(const struct pl_ucx_link *link)
{
    return !link->watched && !pl_list_empty(&link->sends);
}

/* Has the worker sent all of UCX's own messages? Peers may be connecting without our knowledge. */
static bool ucx_worker_is_flushed(struct pl_ucx *ucx)
{
    static const ucp_request_param_t none;
    if (ucx->flush) {
        if (ucp_request_check_status(ucx->flush) == UCS_INPROGRESS)
            return false;
        ucp_request_free(ucx->flush);
    }
    ucs_status_ptr_t request = ucp_worker_flush_nbx(ucx->worker, &none);
    ucx->flush = UCS_PTR_IS_PTR(request) ? request : NULL;
    return !ucx->flush;
}

bool pl_ucx_links_are_settled(struct pl_ucx *ucx)
{
    bool all = true, stuck = false;
    while (ucp_worker_progress(ucx->worker))
        continue;
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry) {
        all &= ucx_link_is_closed(link) && (!ucx_link_is_stuck(link) || ucx_link_has_gone(link));
        stuck |= ucx_link_is_stuck(link);
    }
    return all && (stuck ? ucp_worker_arm(ucx->worker) == UCS_OK : ucx_worker_is_flushed(ucx));
}

static bool ucx_links_any_failed(const struct pl_ucx *ucx)
{
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry)
        if (link->error)
            return true;
    return false;
}

/* Makes progress until the links are settled or nothing happens for CLOSE_IDLE_MS. The peers may be waiting for workers
 * that were put aside. */
static bool ucx_links_drain(struct pl_ucx *ucx)
{
    int64_t first = pl_clock_ms(), last = first;
    pl_ucx_sweep();
    while (!pl_ucx_links_are_settled(ucx)) {
        pl_ucx_sweep();
        int64_t now = pl_clock_ms();
        if (now - last > CLOSE_IDLE_MS || (now - first > CLOSE_FAILED_MS && ucx_links_any_failed(ucx)))
            return false;
        if (ucp_worker_arm(ucx->worker) == UCS_OK)
            poll(&(struct pollfd){ .fd = ucx->event_fd, .events = POLLIN }, 1, 1);
        else
            last = pl_clock_ms();
    }
    return true;
}

/* LEAVE tells the peers not to take the end of the connection for a failure. Peers that only sent to this engine get it
 * too: UCX has a connection to them already. */
bool pl_ucx_links_close(struct pl_ucx *ucx)
{
    ucx->ending = true;
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry) {
        bool alive = !link->error && !link->departed && link->address && link->origin.engine != ucx->id;
        PL_LIST_EACH(send, &link->sends, struct pl_ucx_send, entry)
            send->message = NULL;
        PL_LIST_EACH(rndv, &link->rndvs, struct pl_ucx_rndv, entry)
            pl_ucx_rndv_abandon(rndv);
        bool reached = link->ep || (alive && !pl_ucx_knock_is_needed(link));
        pl_ucx_knock_end(link);
        if (alive && reached && pl_ucx_link_open(link) == MPI_SUCCESS)
            pl_ucx_post(link, PL_UCX_LEAVE, 0, NULL, 0);
    }
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry)
        if (link->ep)
            ucx_link_start_close(link, link->error || link->departed);
    return ucx_links_drain(ucx);
}

static bool ucx_link_has_unfinished(const struct pl_ucx_link *link)
{
    bool unfinished = !pl_list_empty(&link->transfers) || !pl_list_empty(&link->sends);
    PL_LIST_EACH(rndv, &link->rndvs, struct pl_ucx_rndv, entry)
        unfinished |= rndv->state == PL_UCX_RNDV_FETCHING;
    return unfinished;
}

bool pl_ucx_links_free(struct pl_ucx *ucx)
{
    bool unfinished = false;
    struct pl_list *node;
    while ((node = pl_list_pop(&ucx->links)) != NULL) {
        struct pl_ucx_link *link = PL_CONTAINER(node, struct pl_ucx_link, entry);
        unfinished |= ucx_link_has_unfinished(link);
        ucx_link_free(link);
    }
    return unfinished;
}
