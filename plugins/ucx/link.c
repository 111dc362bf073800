/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: the other engines, how they are found, connected, lost and left.
 *
 * Failure is noticed by UCX over networks (error mode PEER). Between processes that share memory UCX does not offer it:
 * the launcher tells those who communicate, and who closes looks whether the lock that goes with a worker (core/job/stale_files.h) is
 * still held. A link fails once: it takes no more messages, its connection is closed by force, and when
 * that is done (UCX touches no buffer of it any more) what was under way is reported, then the loss itself.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugins/ucx/ucx.h"

enum {
    PATIENCE_MS = 50, /* of close() while nothing happens: a peer that computes does not answer, and must not hold it */
    LOOK_MS = 10,     /* between looks at who has gone */
};

/* --- finding --------------------------------------------------------------------------------------------------- */

/* Ids are random numbers: their low bits are as good as a hash. */
static struct ucx_link **ucx_link_bucket_of(struct ucx *ucx, uint64_t engine)
{
    return &ucx->bucket[engine & (ucx->buckets - 1)];
}

struct ucx_link *ucx_link_find(struct ucx *ucx, uint64_t engine)
{
    struct ucx_link *link = ucx->last;
    if (link && link->origin.engine == engine)
        return link;
    for (link = *ucx_link_bucket_of(ucx, engine); link; link = link->next)
        if (link->origin.engine == engine)
            return ucx->last = link;
    return NULL;
}

/* Without memory for more buckets the old ones do, more slowly. */
static void ucx_link_grow(struct ucx *ucx)
{
    struct ucx_link **bucket = calloc(ucx->buckets * 2, sizeof *bucket);
    if (!bucket)
        return;
    free(ucx->bucket);
    ucx->bucket = bucket;
    ucx->buckets *= 2;
    PL_LIST_EACH(link, &ucx->links, struct ucx_link, entry) {
        struct ucx_link **head = ucx_link_bucket_of(ucx, link->origin.engine);
        link->next = *head;
        *head = link;
    }
}

struct ucx_link *ucx_link_make(struct ucx *ucx, uint64_t engine)
{
    struct ucx_link *link = ucx_link_find(ucx, engine);
    if (link)
        return link;
    link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    if (++ucx->count > ucx->buckets)
        ucx_link_grow(ucx);
    link->endpoint.ops = &plenum_transport;
    link->origin.engine = engine;
    link->ucx = ucx;
    pl_list_init(&link->sends);
    pl_list_init(&link->early);
    pl_list_init(&link->rndvs);
    pl_list_init(&link->failure);
    pl_list_append(&ucx->links, &link->entry);
    struct ucx_link **head = ucx_link_bucket_of(ucx, engine);
    link->next = *head;
    *head = link;
    return link;
}

int ucx_link_learn(struct ucx_link *link, const void *address, size_t length)
{
    struct ucx_address head;
    if (length <= sizeof head || length > UCX_ADDRESS_MAX)
        return link->ucx->host->fail(MPI_ERR_OTHER, "a peer's UCX address has %zu bytes", length);
    memcpy(&head, address, sizeof head);
    if (head.engine != link->origin.engine)
        return link->ucx->host->fail(MPI_ERR_OTHER, "a peer gave the UCX address of another");
    if (link->address)
        return MPI_SUCCESS;
    link->address = malloc(length);
    if (!link->address)
        return link->ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a connection");
    memcpy(link->address, address, length);
    link->address_length = length;
    return MPI_SUCCESS;
}

/* --- connecting ------------------------------------------------------------------------------------------------ */

static void on_error(void *argument, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    struct ucx_link *link = argument;
    if (!link->left)
        link->ucx->host->log("ucx", 1, "connection lost: %s", ucs_status_string(status));
    ucx_link_fail(link, MPI_ERR_PROC_ABORTED);
}

int ucx_link_open(struct ucx_link *link)
{
    struct ucx *ucx = link->ucx;
    if (link->error)
        return ucx->host->fail(link->error, "the connection to this process is lost");
    if (link->left)
        return ucx->host->fail(MPI_ERR_PROC_ABORTED, "this process has finalized");
    if (link->ep)
        return MPI_SUCCESS;
    if (!link->address)
        return ucx->host->fail(MPI_ERR_OTHER, "this process has not said where it is");

    struct ucx_address head;
    memcpy(&head, link->address, sizeof head);
    link->watched = !(ucx->shared_memory && head.node == ucx->node);
    link->scratch_dir = link->watched ? 0 : head.scratch_dir;
    ucp_ep_params_t params = {
        .field_mask =
            UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)((const char *)link->address + sizeof head),
        .err_mode = link->watched ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
        .err_handler = { .cb = on_error, .arg = link },
    };
    ucs_status_t status = ucp_ep_create(ucx->worker, &params, &link->ep);
    if (status != UCS_OK) {
        link->ep = NULL;
        return ucx->host->fail(PL_UNREACHABLE, "UCX cannot reach this process: %s", ucs_status_string(status));
    }
    return ucx_control_hello(link);
}

/* --- failing --------------------------------------------------------------------------------------------------- */

void ucx_link_fail(struct ucx_link *link, int error)
{
    if (link->error)
        return;
    link->error = error;
    pl_list_append(&link->ucx->failed, &link->failure);
}

/* Starts the end of the connection. Where UCX does not watch the peer, that is the worker's end: what is on its way to
 * a peer that has gone can be given up in no other way. */
static void start_close(struct ucx_link *link, bool force)
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

static bool close_done(struct ucx_link *link)
{
    if (!link->closing)
        return true;
    if (ucp_request_check_status(link->closing) == UCS_INPROGRESS)
        return false;
    ucp_request_free(link->closing);
    link->closing = NULL;
    return true;
}

static void free_early(struct ucx_link *link)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&link->early)) != NULL)
        free(PL_CONTAINER(node, struct ucx_early, entry));
}

/* Ends everything under way with the link's error; returns how much that was. Bulk data that waits stays until the
 * engine fetches or drops it. */
static int ucx_link_give_up(struct ucx_link *link)
{
    struct ucx *ucx = link->ucx;
    int ended = 0;
    PL_LIST_EACH(send, &link->sends, struct ucx_send, entry) {
        struct pl_outgoing *message = send->message;
        send->message = NULL;
        if (message && ++ended)
            ucx->host->sent(ucx->engine, message, link->error);
    }
    PL_LIST_EACH(rndv, &link->rndvs, struct ucx_rndv, entry) {
        struct pl_incoming *message = rndv->message;
        rndv->message = NULL;
        if (message && ++ended)
            ucx->host->fetched(ucx->engine, message, link->error);
        ended += !rndv->fetching && !rndv->cancelled;
    }
    free_early(link);
    return ended;
}

int ucx_link_report(struct ucx *ucx)
{
    int events = 0;
    PL_LIST_EACH(link, &ucx->failed, struct ucx_link, failure) {
        if (link->ep)
            start_close(link, true);
        if (!close_done(link))
            continue;
        pl_list_remove(&link->failure);
        events++;
        if (ucx_link_give_up(link) == 0 && link->left)
            continue; /* it went in good order and owes nothing */
        ucx->host->failed(ucx->engine, link->endpoint.peer ? &link->endpoint : NULL,
                          link->origin.card ? &link->origin : NULL);
    }
    return events;
}

/* --- who has gone ---------------------------------------------------------------------------------------------- */

static long ucx_link_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Of those with whom it shares memory: their worker was destroyed, or their process has ended. */
static bool ucx_link_has_gone(const struct ucx_link *link)
{
    return link->scratch_dir != 0 && !pl_scratch_dir_is_held(link->scratch_dir);
}

bool ucx_link_taken(const struct ucx_link *link)
{
    return (int32_t)(link->due - link->acked) <= 0;
}

void ucx_link_check(struct ucx *ucx)
{
    long now = ucx_link_now_ms();
    if (now < ucx->look_at)
        return;
    ucx->look_at = now + LOOK_MS;
    PL_LIST_EACH(link, &ucx->links, struct ucx_link, entry) {
        if (ucx_link_taken(link) || link->left || !ucx_link_has_gone(link))
            continue;
        if (ucp_worker_progress(ucx->worker) > 0) /* what it said last may be there, unread */
            return;
        ucx_link_fail(link, MPI_ERR_PROC_ABORTED);
    }
}

/* --- leaving --------------------------------------------------------------------------------------------------- */

/* Is there something that UCX has not sent yet over a connection that it does not watch? */
static bool is_stuck(const struct ucx_link *link)
{
    return !link->watched && !pl_list_empty(&link->sends);
}

/* Has everything left the worker that UCX itself has to say? Peers may be connecting without our knowing. */
static bool nothing_pending(struct ucx *ucx)
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

bool ucx_link_settled(struct ucx *ucx)
{
    bool all = true, stuck = false;
    while (ucp_worker_progress(ucx->worker))
        continue;
    PL_LIST_EACH(link, &ucx->links, struct ucx_link, entry) {
        all &= close_done(link) && (!is_stuck(link) || ucx_link_has_gone(link));
        stuck |= is_stuck(link);
    }
    return all && (stuck ? ucp_worker_arm(ucx->worker) == UCS_OK : nothing_pending(ucx));
}

/* Progress until it is settled; not for ever. Workers that were put aside may be what the other end waits for. */
static bool ucx_link_drain(struct ucx *ucx)
{
    long last = ucx_link_now_ms();
    ucx_sweep();
    while (!ucx_link_settled(ucx)) {
        ucx_sweep();
        if (ucx_link_now_ms() - last > PATIENCE_MS)
            return false;
        if (ucp_worker_arm(ucx->worker) == UCS_OK)
            poll(&(struct pollfd){ .fd = ucx->event_fd, .events = POLLIN }, 1, 1);
        else
            last = ucx_link_now_ms();
    }
    return true;
}

/*
 * Tells everybody who knows this engine that it goes in good order, so that the end of the connection is not taken for
 * a failure; also those who only sent to it: UCX has a connection to them already.
 */
bool ucx_link_close_all(struct ucx *ucx)
{
    ucx->ending = true;
    PL_LIST_EACH(link, &ucx->links, struct ucx_link, entry) {
        bool alive = !link->error && !link->left && link->address && link->origin.engine != ucx->id;
        PL_LIST_EACH(send, &link->sends, struct ucx_send, entry)
            send->message = NULL;
        PL_LIST_EACH(rndv, &link->rndvs, struct ucx_rndv, entry)
            ucx_rndv_abandon(rndv);
        if (alive && ucx_link_open(link) == MPI_SUCCESS)
            ucx_post(link, UCX_LEAVE, 0, NULL, 0);
    }
    PL_LIST_EACH(link, &ucx->links, struct ucx_link, entry)
        if (link->ep)
            start_close(link, link->error || link->left);
    return ucx_link_drain(ucx);
}

void ucx_link_free_all(struct ucx *ucx)
{
    struct pl_list *node;
    while ((node = pl_list_pop(&ucx->links)) != NULL) {
        struct ucx_link *link = PL_CONTAINER(node, struct ucx_link, entry);
        while ((node = pl_list_pop(&link->sends)) != NULL)
            ucx_send_free(ucx, PL_CONTAINER(node, struct ucx_send, entry));
        while ((node = pl_list_pop(&link->rndvs)) != NULL)
            free(PL_CONTAINER(node, struct ucx_rndv, entry));
        free_early(link);
        free((void *)link->origin.card);
        free(link->address);
        free(link);
    }
}
