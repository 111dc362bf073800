/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX transport: opening and closing, its address, progress and sleep. What it is: ucx.h. */
#include "plugins/ucx/ucx.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int ucx_error(struct ucx *ucx, ucs_status_t status, const char *what)
{
    switch (status) {
    case UCS_ERR_NO_MEMORY: return ucx->host->fail(MPI_ERR_NO_MEM, "%s: out of memory", what);
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_REJECTED:
    case UCS_ERR_CANCELED:
        return ucx->host->fail(MPI_ERR_PROC_ABORTED, "%s: the connection to the peer is lost (UCX: %s)", what,
                               ucs_status_string(status));
    default: return ucx->host->fail(MPI_ERR_OTHER, "%s (UCX: %s)", what, ucs_status_string(status));
    }
}

/* --- opening --------------------------------------------------------------------------------------------------- */

/* A setting of UCX, which ucp_config_modify() knows as `key`, where the user has not chosen another in UCX's own
 * environment. */
static void ucx_set(ucp_config_t *config, const char *name, const char *key, const char *value)
{
    char variable[64] = "UCX_";
    strncat(variable, name, sizeof variable - sizeof "UCX_");
    if (!getenv(variable))
        ucp_config_modify(config, key, value);
}

/* The same for a setting of one transport, of which UCX up to 1.16 has another name here than in the environment. */
static void set_inner(ucp_config_t *config, const char *name, const char *before_1_17, const char *value)
{
    unsigned major, minor, patch;
    ucp_get_version(&major, &minor, &patch);
    ucx_set(config, name, major == 1 && minor < 17 ? before_1_17 : name, value);
}

/*
 * Which of UCX's transports may be used. Where the library's own shared memory serves the node, UCX is left with the
 * network: a second set of segments would only cost memory, and peers that share none must be told apart from those
 * that are dead, which UCX can do over networks alone.
 */
static void choose_transports(struct ucx *ucx, ucp_config_t *config)
{
    const char *wanted = ucx->host->config_text("ucx_tls");
    const char *transports = ucx->host->config_text("transport");
    bool network_only = !strcmp(transports, "auto") || strstr(transports, "shm") || ucx->memory_refused;
    if (wanted && *wanted)
        ucp_config_modify(config, "TLS", wanted);
    else if (network_only)
        ucx_set(config, "TLS", "TLS", "^sm");
    else
        wanted = getenv("UCX_TLS");
    ucx->shared_memory = wanted && *wanted ? strstr(wanted, "posix") || strstr(wanted, "sysv") ||
                                                 strstr(wanted, "sm") || strstr(wanted, "all")
                                           : !network_only;
}

/* TCP moves so much at once, 64 KiB by UCX's choice: less than our longest eager message with its header, which went in
 * two pieces. With 256 KiB and more what does not fit into a socket's buffers makes long streams slower. */
static void set_up_network(ucp_config_t *config)
{
    set_inner(config, "TCP_TX_SEG_SIZE", "TX_SEG_SIZE", "128k");
    set_inner(config, "TCP_RX_SEG_SIZE", "RX_SEG_SIZE", "128k");
}

/*
 * Nothing is to stay behind when the process is killed: memory that UCX shares lies in files, in a directory that goes
 * with it; for segments of System V there is nothing like it. Others find it by name. By process and descriptor, as
 * UCX would have it, who still connects to a worker that has gone finds the next one's, which has not set up its
 * handlers yet when UCX looks there for messages first: a crash.
 * One chunk of receive buffers is what a worker needs to begin with: 0.4 MB instead of 2.1, and half the time.
 */
static void set_up_memory(struct ucx *ucx, ucp_config_t *config)
{
    pl_stale_files_sweep();
    pl_scratch_dir_open(&ucx->scratch_dir);
    set_inner(config, "POSIX_RX_BUFS_GROW", "MM_RX_BUFS_GROW", "96");
    if (ucx->scratch_dir.fd < 0 || getenv("UCX_POSIX_DIR"))
        return;
    set_inner(config, "POSIX_DIR", "DIR", ucx->scratch_dir.name);
    set_inner(config, "POSIX_USE_PROC_LINK", "USE_PROC_LINK", "n");
    const char *wanted = ucx->host->config_text("ucx_tls");
    if (!wanted || !*wanted)
        ucx_set(config, "TLS", "TLS", "^sysv");
}

static int open_context(struct ucx *ucx)
{
    ucp_config_t *config;
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return ucx->host->fail(PL_UNREACHABLE, "UCX does not accept its own settings (UCX_* in the environment): %s",
                               ucs_status_string(status));
    choose_transports(ucx, config);
    set_up_network(config);
    if (ucx->shared_memory)
        set_up_memory(ucx, config);

    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
        .name = "plenum",
    };
    status = ucp_init(&params, config, &ucx->context);
    ucp_config_release(config);
    return status == UCS_OK ? MPI_SUCCESS
                            : ucx->host->fail(PL_UNREACHABLE, "UCX finds no transport that works here: %s",
                                              ucs_status_string(status));
}

/* SERIALIZED whatever the thread level: the engine's lock lets one thread in at a time, but any. */
static int open_worker(struct ucx *ucx)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };
    ucs_status_t status = ucp_worker_create(ucx->context, &params, &ucx->worker);
    if (status != UCS_OK)
        return ucx->host->fail(PL_UNREACHABLE, "UCX cannot open its transports: %s%s", ucs_status_string(status),
                               ucx->shared_memory ? " (is /dev/shm full?)" : "");
    status = ucp_worker_get_efd(ucx->worker, &ucx->event_fd);
    if (status == UCS_OK)
        return MPI_SUCCESS;
    ucp_worker_destroy(ucx->worker);
    return ucx->host->fail(PL_UNREACHABLE, "UCX gives no event descriptor: %s", ucs_status_string(status));
}

static int open_ucx(struct ucx *ucx)
{
    int err = open_context(ucx);
    if (err)
        return err;
    err = open_worker(ucx);
    if (err)
        ucp_cleanup(ucx->context);
    return err;
}

/* Without memory to share it goes by the network, where nobody has said that it must be that memory. Then nobody is on
 * the same node, for others either. */
static int open_or_fall_back(struct ucx *ucx)
{
    const char *wanted = ucx->host->config_text("ucx_tls");
    int err = open_ucx(ucx);
    if (!err || !ucx->shared_memory || (wanted && *wanted) || getenv("UCX_TLS"))
        return err;
    pl_scratch_dir_close(&ucx->scratch_dir);
    ucx->memory_refused = true;
    ucx->node = ucx->id;
    return open_ucx(ucx);
}

/* Equal on two processes that may share memory: same boot of the same kernel, same process and IPC namespaces. */
static uint64_t node_of(void)
{
    static const char *const parts[] = { "/proc/self/ns/pid", "/proc/self/ns/ipc", "/dev/shm" };
    uint64_t node = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct stat st;
        if (stat(parts[i], &st) == 0)
            node = (node ^ (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 32) * 0x100000001b3u;
    }
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file) {
        if (!fgets(boot, sizeof boot, file))
            boot[0] = '\0';
        fclose(file);
    }
    for (const char *c = boot; *c; c++)
        node = (node ^ (unsigned char)*c) * 0x100000001b3u;
    return node;
}

static void ucx_destroy(struct ucx *ucx)
{
    ucp_worker_destroy(ucx->worker);
    ucx_link_free_all(ucx);
    ucx_receive_fini(ucx);
    ucx_send_fini(ucx);
    ucp_cleanup(ucx->context);
    pl_scratch_dir_close(&ucx->scratch_dir);
    close(ucx->wake_fd);
    free(ucx->bucket);
    ucx_log_close();
    free(ucx);
}

/*
 * A worker must not be destroyed while UCX itself has something to send: an answer to a peer that connects, say. UCX
 * 1.13, built with assertions as Debian's is, aborts the process then. Nor may one wait for that: the other end may
 * compute for hours. Such a worker is put aside, and destroyed when a later opening or closing finds that it has
 * settled.
 */
static struct pl_list retired = { &retired, &retired };
static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;

static void ucx_retire(struct ucx *ucx)
{
    pthread_mutex_lock(&retired_lock);
    pl_list_append(&retired, &ucx->retired);
    pthread_mutex_unlock(&retired_lock);
}

void ucx_sweep(void)
{
    pthread_mutex_lock(&retired_lock);
    PL_LIST_EACH(ucx, &retired, struct ucx, retired) {
        if (ucx_link_settled(ucx)) {
            pl_list_remove(&ucx->retired);
            ucx_destroy(ucx);
        }
    }
    pthread_mutex_unlock(&retired_lock);
}

static void close_transport(void *self)
{
    struct ucx *ucx = self;
    if (ucx_link_close_all(ucx))
        ucx_destroy(ucx);
    else
        ucx_retire(ucx);
}

static int ucx_open_transport(struct pl_engine *engine, const struct pl_host *host, void **self)
{
    ucx_sweep();
    struct ucx *ucx = calloc(1, sizeof *ucx);
    if (!ucx)
        return host->fail(MPI_ERR_NO_MEM, "out of memory for the UCX transport");
    ucx->engine = engine;
    ucx->host = host;
    ucx->id = host->engine_id(engine);
    ucx->node = node_of();
    ucx->eager = (size_t)host->config_long("ucx_eager");
    ucx->scratch_dir.fd = -1;
    pl_list_init(&ucx->links);
    pl_list_init(&ucx->failed);
    pl_list_init(&ucx->spare);
    ucx_log_open(host);

    int err;
    ucx->buckets = UCX_BUCKETS_FIRST;
    ucx->bucket = calloc(ucx->buckets, sizeof *ucx->bucket);
    if (!ucx->bucket) {
        err = host->fail(MPI_ERR_NO_MEM, "out of memory for the UCX transport");
        goto free_self;
    }
    ucx->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ucx->wake_fd < 0) {
        err = host->fail(MPI_ERR_OTHER, "cannot make an event descriptor: %s", strerror(errno));
        goto free_buckets;
    }
    if ((err = open_or_fall_back(ucx)))
        goto close_wake;
    if ((err = ucx_send_init(ucx)))
        goto destroy_worker;
    if ((err = ucx_receive_init(ucx)))
        goto fini_send;
    *self = ucx;
    return MPI_SUCCESS;

fini_send:
    ucx_send_fini(ucx);
destroy_worker:
    ucp_worker_destroy(ucx->worker);
    ucp_cleanup(ucx->context);
close_wake:
    pl_scratch_dir_close(&ucx->scratch_dir);
    close(ucx->wake_fd);
free_buckets:
    free(ucx->bucket);
free_self:
    ucx_log_close();
    free(ucx);
    return err;
}

/* --- address and connection ------------------------------------------------------------------------------------ */

static int get_address(void *self, void *buffer, size_t room, size_t *length)
{
    struct ucx *ucx = self;
    struct ucx_address head = { .engine = ucx->id, .node = ucx->node, .scratch_dir = ucx->scratch_dir.number };
    ucp_address_t *address;
    size_t bytes;
    ucs_status_t status = ucp_worker_get_address(ucx->worker, &address, &bytes);
    if (status != UCS_OK)
        return ucx_error(ucx, status, "cannot get the UCX address");

    int err = MPI_SUCCESS;
    *length = sizeof head + bytes;
    if (*length > room || *length > UCX_ADDRESS_MAX) {
        err = ucx->host->fail(MPI_ERR_OTHER,
                              "the UCX address takes %zu bytes, there is room for %d: "
                              "choose fewer networks with UCX_NET_DEVICES or PLENUM_UCX_TLS",
                              *length, (int)(room < UCX_ADDRESS_MAX ? room : UCX_ADDRESS_MAX));
    } else {
        memcpy(buffer, &head, sizeof head);
        memcpy((char *)buffer + sizeof head, address, bytes);
    }
    ucp_worker_release_address(ucx->worker, address);
    return err;
}

static int connect_endpoint(void *self, const void *address, size_t length, struct pl_peer *peer,
                            struct pl_endpoint **endpoint)
{
    struct ucx *ucx = self;
    struct ucx_address head;
    if (length <= sizeof head || length > UCX_ADDRESS_MAX)
        return ucx->host->fail(PL_UNREACHABLE, "a UCX address has %zu bytes", length);
    memcpy(&head, address, sizeof head);
    struct ucx_link *link = ucx_link_make(ucx, head.engine);
    if (!link)
        return ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for a connection");
    int err = ucx_link_learn(link, address, length);
    if (!err)
        err = ucx_link_open(link);
    if (err)
        return err;
    link->endpoint.peer = peer;
    *endpoint = &link->endpoint;
    return MPI_SUCCESS;
}

/* The link stays: the peer may still send to us, and what it has sent must be answered. What we have sent may get lost
 * from now on: nobody asks the peer about it. */
static void disconnect_endpoint(struct pl_endpoint *endpoint)
{
    struct ucx_link *link = (struct ucx_link *)endpoint;
    endpoint->peer = NULL;
    link->due = link->acked;
    PL_LIST_EACH(send, &link->sends, struct ucx_send, entry)
        send->message = NULL;
}

static void lose_endpoint(struct pl_endpoint *endpoint)
{
    ucx_link_fail((struct ucx_link *)endpoint, MPI_ERR_PROC_ABORTED);
}

/* --- progress and sleep ---------------------------------------------------------------------------------------- */

static int ucx_progress(void *self)
{
    struct ucx *ucx = self;
    ucx->events = 0;
    if (ucp_worker_progress(ucx->worker))
        ucx->events++;
    if (!pl_list_empty(&ucx->failed))
        ucx->events += ucx_link_report(ucx);
    return ucx->events;
}

static bool ucx_flushed(void *self)
{
    return ucx_control_flushed(self);
}

static bool ucx_arm(void *self)
{
    struct ucx *ucx = self;
    return pl_list_empty(&ucx->failed) && ucp_worker_arm(ucx->worker) == UCS_OK;
}

static void sleep_until_event(void *self, long microseconds)
{
    struct ucx *ucx = self;
    struct pollfd fds[] = {
        { .fd = ucx->event_fd, .events = POLLIN },
        { .fd = ucx->wake_fd, .events = POLLIN },
    };
    struct timespec limit = { microseconds / 1000000, microseconds % 1000000 * 1000 };
    ppoll(fds, 2, microseconds < 0 ? NULL : &limit, NULL);
}

static void ucx_disarm(void *self)
{
    struct ucx *ucx = self;
    uint64_t count;
    while (read(ucx->wake_fd, &count, sizeof count) < 0 && errno == EINTR)
        continue;
}

static void ucx_wake(void *self)
{
    struct ucx *ucx = self;
    uint64_t one = 1;
    while (write(ucx->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

__attribute__((visibility("default"))) const struct pl_transport_ops plenum_transport = {
    .abi = PL_TRANSPORT_ABI,
    .name = "ucx",
    .open = ucx_open_transport,
    .close = close_transport,
    .address = get_address,
    .connect = connect_endpoint,
    .disconnect = disconnect_endpoint,
    .send = ucx_send,
    .fetch = ucx_fetch,
    .drop = ucx_drop,
    .withdraw = ucx_withdraw,
    .progress = ucx_progress,
    .flushed = ucx_flushed,
    .arm = ucx_arm,
    .sleep = sleep_until_event,
    .disarm = ucx_disarm,
    .wake = ucx_wake,
    .lose = lose_endpoint,
};
