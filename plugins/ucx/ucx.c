/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX transport: opening and closing, its address, progress and sleep. */
#include "plugins/ucx/ucx.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/boot_id.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "plugins/ucx/control.h"
#include "plugins/ucx/link.h"
#include "plugins/ucx/receive.h"
#include "plugins/ucx/remote.h"
#include "plugins/ucx/send.h"
#include "plugins/ucx/ucx_log.h"
#include "plugins/ucx/worker.h"

enum { CLAIM_MS = 20 }; /* between two searches for new connections */

int pl_ucx_error(struct pl_ucx *ucx, ucs_status_t status, const char *what)
{
    switch (status) {
    case UCS_ERR_NO_MEMORY: return ucx->host->fail(MPI_ERR_NO_MEM, "%s: out of memory", what);
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_REJECTED:
    case UCS_ERR_CANCELED:
        return ucx->host->fail(MPI_ERR_PROC_ABORTED, "%s: the connection to the peer has failed (UCX: %s)", what,
                               ucs_status_string(status));
    default: return ucx->host->fail(MPI_ERR_OTHER, "%s (UCX: %s)", what, ucs_status_string(status));
    }
}

/* --- opening and closing -------------------------------------------------------------------------------------- */

/* Equal in two processes that may share memory: same boot of the same kernel, same PID and IPC namespaces. And the same
 * network: UCX wakes the reader of its shared memory through a socket that has a name there. */
static uint64_t ucx_node_id(void)
{
    static const char *const parts[] = { "/proc/self/ns/pid", "/proc/self/ns/ipc", "/proc/self/ns/net", "/dev/shm" };
    uint64_t node = PL_HASH_BEGIN;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct stat st;
        if (stat(parts[i], &st) == 0)
            node = pl_hash_add(node, (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 32);
    }
    return pl_hash_text(node, pl_boot_id());
}

static void ucx_destroy(struct pl_ucx *ucx)
{
    pl_ucx_worker_close(ucx);
    bool unfinished = pl_ucx_links_free(ucx);
    pl_ucx_receive_fini(ucx);
    pl_ucx_send_fini(ucx);
    pl_ucx_context_close(ucx, unfinished);
    pl_scratch_dir_close(&ucx->scratch_dir);
    close(ucx->wake_fd);
    pl_table_fini(&ucx->by_engine);
    pl_ucx_log_close();
    free(ucx);
}

/*
 * A worker must not be destroyed while UCX itself has something to send, for example an answer to a peer that
 * connects: UCX 1.13, built with assertions as Debian's is, then aborts the process. Nor may close() wait for that,
 * since the peer may compute for hours. Such a worker is put aside, and destroyed when a later open() or close() finds
 * it settled.
 */
static struct pl_list retired = { &retired, &retired };
static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;

static void ucx_retire(struct pl_ucx *ucx)
{
    pthread_mutex_lock(&retired_lock);
    pl_list_append(&retired, &ucx->retired);
    pthread_mutex_unlock(&retired_lock);
}

void pl_ucx_sweep(void)
{
    pthread_mutex_lock(&retired_lock);
    PL_LIST_EACH(ucx, &retired, struct pl_ucx, retired) {
        if (pl_ucx_links_are_settled(ucx)) {
            pl_list_remove(&ucx->retired);
            ucx_destroy(ucx);
        }
    }
    pthread_mutex_unlock(&retired_lock);
}

static void ucx_close(void *self)
{
    struct pl_ucx *ucx = self;
    bool settled = pl_ucx_links_close(ucx);
    pl_scratch_dir_mark(&ucx->scratch_dir);
    if (settled)
        ucx_destroy(ucx);
    else
        ucx_retire(ucx);
}

/* The transport without anything of UCX. NULL: out of memory. */
static struct pl_ucx *ucx_create(struct pl_engine *engine, const struct pl_transport_host *host)
{
    struct pl_ucx *ucx = pl_calloc(1, sizeof *ucx);
    if (!ucx)
        return NULL;
    ucx->engine = engine;
    ucx->host = host;
    ucx->id = host->engine_id(engine);
    ucx->node = ucx_node_id();
    ucx->eager = (size_t)host->config_long("ucx_eager");
    ucx->rma = host->config_long("ucx_rma") != 0;
    ucx->scratch_dir.fd = -1;
    pl_list_init(&ucx->links);
    pl_list_init(&ucx->failed);
    pl_list_init(&ucx->spare);
    pl_list_init(&ucx->put_off);
    pl_ucx_gate_init(&ucx->gate);
    return ucx;
}

static int ucx_open(struct pl_engine *engine, const struct pl_transport_host *host, void **self)
{
    int err;
    pl_ucx_sweep();
    struct pl_ucx *ucx = ucx_create(engine, host);
    if (!ucx)
        return host->fail(MPI_ERR_NO_MEM, "out of memory for the UCX transport");
    pl_ucx_log_open(host);
    ucx->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ucx->wake_fd < 0) {
        err = host->fail(MPI_ERR_OTHER, "cannot make an event descriptor: %s", strerror(errno));
        goto free_self;
    }
    if ((err = pl_ucx_worker_open(ucx)))
        goto close_wake;
    if ((err = pl_ucx_send_init(ucx)))
        goto close_worker;
    if ((err = pl_ucx_receive_init(ucx)))
        goto fini_send;
    *self = ucx;
    return MPI_SUCCESS;

fini_send:
    pl_ucx_send_fini(ucx);
close_worker:
    pl_ucx_worker_close(ucx);
    pl_ucx_context_close(ucx, false);
close_wake:
    pl_scratch_dir_close(&ucx->scratch_dir);
    close(ucx->wake_fd);
free_self:
    pl_ucx_log_close();
    free(ucx);
    return err;
}

/* --- address and connection ------------------------------------------------------------------------------------ */

static int ucx_get_address(void *self, void *buffer, size_t capacity, size_t *length)
{
    struct pl_ucx *ucx = self;
    struct pl_ucx_address head = { .engine = ucx->id, .node = ucx->node, .scratch_dir = ucx->scratch_dir.number };
    memcpy(head.entrance, ucx->gate.where, sizeof head.entrance);
    memcpy(head.key, ucx->gate.key, sizeof head.key);
    ucp_address_t *address;
    size_t bytes;
    ucs_status_t status = ucp_worker_get_address(ucx->worker, &address, &bytes);
    if (status != UCS_OK)
        return pl_ucx_error(ucx, status, "cannot get the UCX address");

    int err = MPI_SUCCESS;
    *length = sizeof head + bytes;
    if (*length > capacity || *length > PL_UCX_ADDRESS_MAX) {
        err = ucx->host->fail(MPI_ERR_OTHER,
                              "the UCX address takes %zu bytes, there is space for %d: "
                              "choose fewer networks with UCX_NET_DEVICES or PLENUM_UCX_TLS",
                              *length, (int)(capacity < PL_UCX_ADDRESS_MAX ? capacity : PL_UCX_ADDRESS_MAX));
    } else {
        memcpy(buffer, &head, sizeof head);
        memcpy((char *)buffer + sizeof head, address, bytes);
    }
    ucp_worker_release_address(ucx->worker, address);
    return err;
}

static int ucx_connect(void *self, const void *address, size_t length, struct pl_peer *peer,
                       struct pl_endpoint **endpoint)
{
    struct pl_ucx *ucx = self;
    struct pl_ucx_address head;
    if (length <= sizeof head || length > PL_UCX_ADDRESS_MAX)
        return ucx->host->fail(PL_UNREACHABLE, "a UCX address has %zu bytes", length);
    memcpy(&head, address, sizeof head);
    struct pl_ucx_link *link = pl_ucx_link_get(ucx, head.engine);
    if (!link)
        return ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a connection");
    int err = pl_ucx_link_set_address(link, address, length);
    if (!err)
        err = pl_ucx_link_open(link);
    if (err)
        return err;
    link->endpoint.peer = peer;
    *endpoint = &link->endpoint;
    return MPI_SUCCESS;
}

/* The link stays: the peer may still send to us, and its messages must be answered. Our own may get lost from now on:
 * the peer is not asked for an ACK of them. */
static void ucx_disconnect(struct pl_endpoint *endpoint)
{
    struct pl_ucx_link *link = (struct pl_ucx_link *)endpoint;
    endpoint->peer = NULL;
    link->due = link->asked = link->acked;
    PL_LIST_EACH(send, &link->sends, struct pl_ucx_send, entry)
        send->message = NULL;
}

static void ucx_lose(struct pl_endpoint *endpoint)
{
    pl_ucx_link_fail((struct pl_ucx_link *)endpoint, MPI_ERR_PROC_ABORTED, NULL);
}

/* --- progress and sleep ---------------------------------------------------------------------------------------- */

/* Is that a connection between a worker of ours, which listens at this port, and a peer of ours? */
static bool ucx_owns_connection(void *context, uint16_t local_port, uint16_t remote_port)
{
    const struct pl_ucx *ucx = context;
    for (int i = 0; i < ucx->gate.listeners; i++)
        if (ucx->gate.listener[i].port == local_port)
            return true;
    PL_LIST_EACH(link, &ucx->links, struct pl_ucx_link, entry)
        if (link->address && pl_ucx_fds_has_port(link->address, link->address_length, remote_port))
            return true;
    return false;
}

static void ucx_claim_connections(struct pl_ucx *ucx)
{
    int64_t now = pl_clock_ms();
    if (now < ucx->claim_at)
        return;
    ucx->unclaimed = false;
    ucx->claim_at = now + CLAIM_MS;
    pl_ucx_fds_claim_connections(ucx_owns_connection, ucx);
}

static int ucx_progress(void *self)
{
    struct pl_ucx *ucx = self;
    ucx->progressing = true;
    ucx->events = pl_ucx_gate_progress(ucx, false);
    if (pl_unlikely(!pl_list_empty(&ucx->put_off)))
        ucx->events += pl_ucx_fetch_put_off(ucx);
    bool all_is_read = ucp_worker_progress(ucx->worker) == 0;
    ucx->events += !all_is_read;
    if (pl_unlikely(ucx->unclaimed))
        ucx_claim_connections(ucx);
    if (!pl_list_empty(&ucx->failed))
        ucx->events += pl_ucx_links_report(ucx, all_is_read);
    ucx->progressing = false;
    return ucx->events;
}

static bool ucx_flushed(void *self)
{
    return pl_ucx_control_flushed(self);
}

static bool ucx_arm(void *self)
{
    struct pl_ucx *ucx = self;
    pl_ucx_links_check(ucx, true);
    return pl_ucx_gate_progress(ucx, true) == 0 && pl_list_empty(&ucx->failed) && pl_list_empty(&ucx->put_off) &&
           ucp_worker_arm(ucx->worker) == UCS_OK;
}

static void ucx_sleep(void *self, long microseconds)
{
    struct pl_ucx *ucx = self;
    struct pollfd fds[] = {
        { .fd = ucx->event_fd, .events = POLLIN },
        { .fd = ucx->wake_fd, .events = POLLIN },
        { .fd = ucx->gate.epoll_fd, .events = POLLIN }, /* poll() ignores -1 */
    };
    struct timespec limit = { microseconds / 1000000, microseconds % 1000000 * 1000 };
    ppoll(fds, 3, microseconds < 0 ? NULL : &limit, NULL);
}

static void ucx_disarm(void *self)
{
    struct pl_ucx *ucx = self;
    uint64_t count;
    while (read(ucx->wake_fd, &count, sizeof count) < 0 && errno == EINTR)
        continue;
}

static void ucx_wake(void *self)
{
    struct pl_ucx *ucx = self;
    uint64_t one = 1;
    while (write(ucx->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

PL_EXPORT const struct pl_transport_ops plenum_transport = {
    .abi = PL_TRANSPORT_ABI,
    .name = "ucx",
    .open = ucx_open,
    .close = ucx_close,
    .address = ucx_get_address,
    .connect = ucx_connect,
    .disconnect = ucx_disconnect,
    .send = pl_ucx_send,
    .fetch = pl_ucx_fetch,
    .drop = pl_ucx_drop,
    .withdraw = pl_ucx_withdraw,
    .expose = pl_ucx_expose,
    .conceal = pl_ucx_conceal,
    .import = pl_ucx_import,
    .forget = pl_ucx_forget,
    .move = pl_ucx_move,
    .complete = pl_ucx_complete,
    .progress = ucx_progress,
    .flushed = ucx_flushed,
    .arm = ucx_arm,
    .sleep = ucx_sleep,
    .disarm = ucx_disarm,
    .wake = ucx_wake,
    .lose = ucx_lose,
};
