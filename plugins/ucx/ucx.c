/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX transport: opening and closing, its address, progress and sleep. */
#include "plugins/ucx/ucx.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "core/base/boot_id.h"
#include "core/base/clock.h"
#include "core/base/file_limit.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "plugins/ucx/control.h"
#include "plugins/ucx/devices.h"
#include "plugins/ucx/link.h"
#include "plugins/ucx/receive.h"
#include "plugins/ucx/remote.h"
#include "plugins/ucx/send.h"
#include "plugins/ucx/ucx_log.h"

enum { CLAIM_MS = 20 }; /* between two searches for new connections */

enum {
    UCX_SPACE = 64 << 20,      /* bytes that opening a context maps, generously */
    UCX_SHARED_FILE = 4 << 20, /* bytes of a file of memory that UCX shares; 0.8 to 1 MB with UCX 1.13 */
    UCX_DESCRIPTORS = 12, /* that a worker and its gate have; fewer are open while UCX has only some of its parts */
};

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

/* --- opening --------------------------------------------------------------------------------------------------- */

/* Changes a setting of UCX, which ucp_config_modify() knows as `key`, unless the user has set it in the environment
 * (UCX_<name>). */
static void ucx_set(ucp_config_t *config, const char *name, const char *key, const char *value)
{
    char variable[64] = "UCX_";
    strncat(variable, name, sizeof variable - sizeof "UCX_");
    if (!secure_getenv(variable))
        ucp_config_modify(config, key, value);
}

/* The same for a setting of one transport. Up to UCX 1.16 its key differs from the name in the environment. */
static void ucx_set_inner(ucp_config_t *config, const char *name, const char *before_1_17, const char *value)
{
    unsigned major, minor, patch;
    ucp_get_version(&major, &minor, &patch);
    ucx_set(config, name, major == 1 && minor < 17 ? before_1_17 : name, value);
}

/*
 * Chooses the transports that UCX may use. Where the library's own shared memory serves the node, UCX serves only the
 * network: a second set of shared segments would cost memory. And peers that share no memory must be told apart from
 * dead ones, which UCX can do over networks alone.
 */
static void ucx_choose_transports(struct pl_ucx *ucx, ucp_config_t *config)
{
    const char *wanted = ucx->host->config_text("ucx_tls");
    const char *transports = ucx->host->config_text("transport");
    bool network_only = !strcmp(transports, "auto") || strstr(transports, "shm") || ucx->memory_refused;
    if (wanted && *wanted)
        ucp_config_modify(config, "TLS", wanted);
    else if (network_only)
        ucx_set(config, "TLS", "TLS", "^sm");
    else
        wanted = secure_getenv("UCX_TLS");
    ucx->shared_memory = wanted && *wanted ? strstr(wanted, "posix") || strstr(wanted, "sysv") ||
                                                 strstr(wanted, "sm") || strstr(wanted, "all")
                                           : !network_only;
    ucx->tcp_only = !ucx->shared_memory && access("/sys/class/infiniband", F_OK) != 0;
}

const char *pl_ucx_choice(const struct pl_ucx *ucx, char words[PL_UCX_CHOICE])
{
    const char *wanted = ucx->host->config_text("ucx_tls"), *users = secure_getenv("UCX_TLS");
    words[0] = '\0';
    if (wanted && *wanted)
        snprintf(words, PL_UCX_CHOICE, " with PLENUM_UCX_TLS=%.80s", wanted);
    else if (users)
        snprintf(words, PL_UCX_CHOICE, " with UCX_TLS=%.80s", users);
    return words;
}

/* Within the host, the loopback alone. Other hosts: the interfaces that PLENUM_NET selects, or all. */
static int ucx_choose_devices(struct pl_ucx *ucx, ucp_config_t *config)
{
    const char *wanted = ucx->host->config_text("net");
    char devices[PL_UCX_DEVICES];
    int err = MPI_SUCCESS;
    if (!ucx->host->far(ucx->engine))
        ucx_set(config, "NET_DEVICES", "NET_DEVICES", "lo");
    else if (*wanted && !(err = pl_ucx_devices(ucx->host, wanted, devices)))
        ucp_config_modify(config, "NET_DEVICES", devices);
    else if (!*wanted && !(err = pl_ucx_devices_guarded(ucx->host, devices)) && *devices)
        ucx_set(config, "NET_DEVICES", "NET_DEVICES", devices);
    return err;
}

/*
 * The bytes that TCP moves at once, the same in all processes that may meet. UCX's default of 64 KiB splits our longest
 * eager message, which has a header, in two. Long messages are moved in segments, as UCX does where it reports errors:
 * one has space for 512 KiB and a header.
 *
 * One event of the sockets at a time. Two connections to a peer that dies fail together. UCX destroys both at the event
 * of the first one. If it has fetched the event of the second one already, it then aborts the process, or reads freed
 * memory.
 */
static void ucx_set_up_network(ucp_config_t *config)
{
    ucx_set_inner(config, "TCP_MAX_POLL", "MAX_POLL", "1");
    ucx_set_inner(config, "TCP_TX_SEG_SIZE", "TX_SEG_SIZE", "520k");
    ucx_set_inner(config, "TCP_RX_SEG_SIZE", "RX_SEG_SIZE", "520k");
}

/*
 * Memory that UCX shares must not stay behind when the process is killed. It lies in files, in a directory that is
 * removed with them; System V segments have no such thing, so they are not used.
 *
 * Peers find the files by name. UCX's default is by process and descriptor: a peer that connects to a worker that has
 * gone then finds the memory of the next worker. UCX polls that for messages before the worker has set up its handlers,
 * and crashes.
 *
 * A worker needs one chunk of receive buffers to begin with: 0.4 MB instead of 2.1, and half the time.
 */
static int ucx_set_up_memory(struct pl_ucx *ucx, ucp_config_t *config)
{
    if (!pl_file_may_have(UCX_SHARED_FILE))
        return ucx->host->fail(PL_UNREACHABLE, "UCX shares memory in files of up to %d MiB: %s (ulimit -f)",
                               UCX_SHARED_FILE >> 20, strerror(errno));
    pl_stale_files_sweep(0);
    pl_scratch_dir_open(&ucx->scratch_dir, ucx->host->runtime(ucx->engine));
    ucx_set_inner(config, "POSIX_RX_BUFS_GROW", "MM_RX_BUFS_GROW", "96");
    if (secure_getenv("UCX_POSIX_DIR"))
        return MPI_SUCCESS;
    if (ucx->scratch_dir.fd < 0) /* UCX would name its files in a way that the peers do not expect */
        return ucx->host->fail(PL_UNREACHABLE, "no directory for the memory that UCX shares");
    struct statfs st;
    if (statfs(ucx->scratch_dir.name, &st) != 0) /* UCX would go on without shared memory, and its peers expect some */
        return ucx->host->fail(PL_UNREACHABLE, "no information about %s: %s", ucx->scratch_dir.name, strerror(errno));
    ucx_set_inner(config, "POSIX_DIR", "DIR", ucx->scratch_dir.name);
    ucx_set_inner(config, "POSIX_USE_PROC_LINK", "USE_PROC_LINK", "n");
    const char *wanted = ucx->host->config_text("ucx_tls");
    if (!wanted || !*wanted)
        ucx_set(config, "TLS", "TLS", "^sysv");
    return MPI_SUCCESS;
}

static void *ucx_do_nothing(void *nothing)
{
    return nothing;
}

/* Can UCX_DESCRIPTORS more be open? 0, or an errno. */
static int ucx_check_descriptors(int wake_fd)
{
    int fd[UCX_DESCRIPTORS], count = 0, error = 0;
    while (count < UCX_DESCRIPTORS && (fd[count] = fcntl(wake_fd, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    if (count < UCX_DESCRIPTORS)
        error = errno;
    while (count > 0)
        close(fd[--count]);
    return error;
}

/* UCX starts a thread of its own, opens descriptors for it and maps memory, and aborts the process if it cannot: it is
 * not asked to where there is no space for these. Another process of the user may take the last thread in between. */
static int ucx_check_space(struct pl_ucx *ucx)
{
    pthread_t thread;
    int lacking = ucx_check_descriptors(ucx->wake_fd);
    if (lacking)
        return ucx->host->fail(PL_UNREACHABLE, "UCX needs %d descriptors: %s (ulimit -n)", UCX_DESCRIPTORS,
                               strerror(lacking));
    void *space = mmap(NULL, UCX_SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        return ucx->host->fail(PL_UNREACHABLE, "UCX needs %d MiB of address space: %s", UCX_SPACE >> 20,
                               strerror(errno));
    int number = pthread_create(&thread, NULL, ucx_do_nothing, NULL);
    munmap(space, UCX_SPACE);
    if (number)
        return ucx->host->fail(PL_UNREACHABLE, "UCX needs a thread, and none can be created: %s", strerror(number));
    pthread_join(thread, NULL);
    return MPI_SUCCESS;
}

static int ucx_open_context(struct pl_ucx *ucx)
{
    ucp_config_t *config;
    int lacking = ucx_check_space(ucx);
    if (lacking)
        return lacking;
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return ucx->host->fail(PL_UNREACHABLE, "UCX does not accept its own settings (UCX_* in the environment): %s",
                               ucs_status_string(status));
    ucx_choose_transports(ucx, config);
    ucx_set_up_network(config);
    int err = ucx_choose_devices(ucx, config);
    if (!err && ucx->shared_memory)
        err = ucx_set_up_memory(ucx, config);
    if (err) {
        ucp_config_release(config);
        return err;
    }

    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | (ucx->rma ? UCP_FEATURE_RMA : 0),
        .name = "plenum",
    };
    status = ucp_init(&params, config, &ucx->context);
    ucp_config_release(config);
    if (status == UCS_OK)
        return MPI_SUCCESS;
    char choice[PL_UCX_CHOICE];
    pl_ucx_choice(ucx, choice);
    return ucx->host->fail(PL_UNREACHABLE, "UCX finds no transport that works here%s: %s%s", choice,
                           ucs_status_string(status),
                           *choice ? "; tcp works anywhere, \"ucx_info -d\" lists all names, and without the variable "
                                     "Plenum chooses"
                                   : "");
}

/* SERIALIZED at every thread level: the engine's lock admits one thread at a time, but not always the same one. */
static int ucx_open_worker(struct pl_ucx *ucx)
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

static int ucx_init(struct pl_ucx *ucx)
{
    int err = ucx_open_context(ucx);
    if (err)
        return err;
    err = ucx_open_worker(ucx);
    if (err)
        ucp_cleanup(ucx->context);
    return err;
}

/* Without shared memory UCX uses the network, unless the user has chosen transports. This process then has a node of
 * its own, for its peers too. */
static int ucx_init_or_fall_back(struct pl_ucx *ucx)
{
    const char *wanted = ucx->host->config_text("ucx_tls");
    int err = ucx_init(ucx);
    if (!err || !ucx->shared_memory || (wanted && *wanted) || secure_getenv("UCX_TLS"))
        return err;
    pl_scratch_dir_close(&ucx->scratch_dir);
    ucx->memory_refused = true;
    ucx->node = ucx->id;
    return ucx_init(ucx);
}

/*
 * Nothing makes progress on the worker before its gate is there: nothing that an unrelated process has sent is read.
 *
 * One worker opens at a time. Its sockets are those that appear meanwhile and have a port whose two bytes are in its
 * address. They are in some other address, too: so sockets of other workers must not appear at the same time.
 */
static int ucx_init_guarded(struct pl_ucx *ucx)
{
    static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
    struct pl_ucx_fds before;
    pthread_mutex_lock(&opening);
    int err = pl_ucx_fds_remember(&before) ? ucx_init_or_fall_back(ucx)
                                           : ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for the UCX transport");
    if (!err && (err = pl_ucx_gate_open(ucx, &before))) {
        pl_ucx_gate_close(ucx);
        ucp_worker_destroy(ucx->worker);
        ucp_cleanup(ucx->context);
    }
    pl_ucx_fds_forget(&before);
    pthread_mutex_unlock(&opening);
    return err;
}

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

/* Then the context has a cache of registered memory, and cleaning up aborts the process where a transfer still has some
 * of it: with 1.18, not with 1.13. */
static bool ucx_counts_registrations(void)
{
    unsigned major, minor, release;
    ucp_get_version(&major, &minor, &release);
    return major > 1 || minor > 13;
}

static void ucx_destroy(struct pl_ucx *ucx)
{
    pl_ucx_gate_close(ucx);
    ucp_worker_destroy(ucx->worker);
    bool unfinished = pl_ucx_links_free(ucx);
    pl_ucx_receive_fini(ucx);
    pl_ucx_send_fini(ucx);
    if (!unfinished || !ucx_counts_registrations())
        ucp_cleanup(ucx->context);
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
static struct pl_ucx *ucx_create(struct pl_engine *engine, const struct pl_host *host)
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

static int ucx_open(struct pl_engine *engine, const struct pl_host *host, void **self)
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
    if ((err = ucx_init_guarded(ucx)))
        goto close_wake;
    if ((err = pl_ucx_send_init(ucx)))
        goto destroy_worker;
    if ((err = pl_ucx_receive_init(ucx)))
        goto fini_send;
    *self = ucx;
    return MPI_SUCCESS;

fini_send:
    pl_ucx_send_fini(ucx);
destroy_worker:
    pl_ucx_gate_close(ucx);
    ucp_worker_destroy(ucx->worker);
    ucp_cleanup(ucx->context);
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
