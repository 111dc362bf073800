/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX's settings, its context and its worker. */
#include "plugins/ucx/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/file_limit.h"
#include "plugins/ucx/devices.h"
#include "plugins/ucx/fds.h"
#include "plugins/ucx/gate.h"

enum {
    UCX_SPACE = 64 << 20,      /* bytes that opening a context maps, generously */
    UCX_SHARED_FILE = 4 << 20, /* bytes of a file of memory that UCX shares; 0.8 to 1 MB with UCX 1.13 */
    UCX_DESCRIPTORS = 12, /* that a worker and its gate have; fewer are open while UCX has only some of its parts */
};

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

void pl_ucx_worker_close(struct pl_ucx *ucx)
{
    pl_ucx_gate_close(ucx);
    ucp_worker_destroy(ucx->worker);
}

/* Does ucp_cleanup() abort the process if a transfer still has registered memory? With UCX 1.18 it does, with 1.13 it
 * does not. */
static bool ucx_counts_registrations(void)
{
    unsigned major, minor, release;
    ucp_get_version(&major, &minor, &release);
    return major > 1 || minor > 13;
}

void pl_ucx_context_close(struct pl_ucx *ucx, bool unfinished)
{
    if (!unfinished || !ucx_counts_registrations())
        ucp_cleanup(ucx->context);
}

/*
 * Nothing makes progress on the worker before its gate is there: nothing that an unrelated process has sent is read.
 *
 * One worker opens at a time. Its sockets are those that appear meanwhile and have a port whose two bytes are in its
 * address. They are in some other address, too: so sockets of other workers must not appear at the same time.
 */
int pl_ucx_worker_open(struct pl_ucx *ucx)
{
    static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
    struct pl_ucx_fds before;
    pthread_mutex_lock(&opening);
    int err = pl_ucx_fds_remember(&before) ? ucx_init_or_fall_back(ucx)
                                           : ucx->host->fail(MPI_ERR_NO_MEM, "out of memory for the UCX transport");
    if (!err && (err = pl_ucx_gate_open(ucx, &before))) {
        pl_ucx_worker_close(ucx);
        pl_ucx_context_close(ucx, false);
    }
    pl_ucx_fds_forget(&before);
    pthread_mutex_unlock(&opening);
    return err;
}
