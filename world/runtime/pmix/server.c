/* SPDX-License-Identifier: BSD-3-Clause */
/* See server.h: the server's life, and the registration of jobs. */
#include "world/runtime/pmix/server.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/base/sysfs.h"
#include "world/runtime/pmix/upcalls.h"
#include "world/runtime/runtime_error.h"

enum {
    SELECT_MAX = 1000, /* its listener uses select(), so the server's descriptors must be small numbers */
    SERVER_NEEDS = 32  /* descriptors: the server opens 15; the rest is for clients */
};

/* --- the server -------------------------------------------------------------------------------------------- */

/* Does the variable belong to another server, whose client this process is? Where the user has fewer rights than this
 * program, all are foreign: they could name code that the server loads. */
static bool pmix_server_is_foreign(const char *variable)
{
    if (getauxval(AT_SECURE))
        return true;
    return strncmp(variable, "PMIX_", 5) == 0 &&
           (strncmp(variable, "PMIX_MCA_", 9) != 0 || strncmp(variable, "PMIX_MCA_gds=", 13) == 0);
}

/*
 * The server reads two settings from the environment only. One is the store for its data, of which only "hash" keeps no
 * files. The other is where hwloc searches for hardware, which by default includes X displays, and sysfs even where it
 * lists nothing. So the server starts with an environment of its own. It shares the strings with the real environment,
 * which is restored unchanged. The list is not freed, since another thread may be reading it.
 */
static bool pmix_server_set_environment(char ***before, char ***mine)
{
    static char store[] = "PMIX_MCA_gds=hash", search[] = "HWLOC_COMPONENTS=-gl,-opencl,-pci";
    static char unlisted[] = "HWLOC_COMPONENTS=-gl,-opencl,-pci,-linux";
    size_t count = 0, used = 0;
    while (environ && environ[count])
        count++;
    static char **list;
    list = pl_calloc(count + 3, sizeof *list);
    if (!list)
        return false;
    list[used++] = store;
    if (!secure_getenv("HWLOC_COMPONENTS"))
        list[used++] = pl_sysfs_has_processors("/sys") ? search : unlisted;
    for (size_t i = 0; i < count; i++)
        if (!pmix_server_is_foreign(environ[i]))
            list[used++] = environ[i];
    *before = environ;
    *mine = environ = list;
    return true;
}

/* If another thread has set a variable meanwhile, it has made its own list from ours: that one stays. */
static void pmix_server_restore_environment(char **before, char **mine)
{
    if (environ == mine)
        environ = before;
}

/* The server listens on loopback, and prints several lines when it finds no interface. */
static bool pmix_server_has_network(void)
{
    struct ifaddrs *list;
    bool found = false;
    if (getifaddrs(&list) != 0)
        return false;
    for (struct ifaddrs *i = list; i && !found; i = i->ifa_next)
        found = (i->ifa_flags & IFF_UP) && i->ifa_addr && i->ifa_addr->sa_family == AF_INET;
    freeifaddrs(list);
    return found;
}

/* The server aborts the process where these calls are denied. */
static bool pmix_server_can_listen(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool listens = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) == 0 &&
                   bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0 &&
                   accept(fd, NULL, NULL) < 0 && errno == EAGAIN;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return listens;
}

/* The server prints several lines without these, too. */
static int pmix_server_check_descriptors(void)
{
    struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
    int probe = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (probe >= 0)
        close(probe);
    getrlimit(RLIMIT_NOFILE, &limit);
    if (probe < 0 && errno != EMFILE)
        return pl_rt_fail_errno("the PMIx server needs /dev/null");
    if (probe < 0 || (rlim_t)probe + SERVER_NEEDS > limit.rlim_cur)
        return pl_rt_fail(PLENUM_ERR_LIMIT,
                          "the PMIx server needs %d free descriptors, more than the limit allows (ulimit -n)",
                          SERVER_NEEDS);
    if (probe > SELECT_MAX)
        return pl_rt_fail(PLENUM_ERR_LIMIT,
                          "the PMIx server needs descriptors below %d: open it earlier (plenum_runtime_want_pmix)",
                          SELECT_MAX);
    return PLENUM_OK;
}

/* The server has large variables, and threads whose stacks follow the limit. It crashed with 220 KiB. */
static int pmix_server_check_stack(void)
{
    enum { STACK_KIB = 256 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >> 10 >= STACK_KIB)
        return PLENUM_OK;
    return pl_rt_fail(PLENUM_ERR_LIMIT,
                      "the PMIx server needs a stack of %d KiB, more than the limit allows (ulimit -s)", STACK_KIB);
}

/* hwloc, which the server uses, asks for the processors for ever where the kernel denies that. More processors than a
 * cpu_set_t has are no problem. */
static bool pmix_server_has_processors(void)
{
    cpu_set_t cpus;
    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 || errno == EINVAL;
}

static int pmix_server_start(void)
{
    if (!pmix_server_has_processors())
        return pl_rt_fail_errno("the PMIx server needs the list of processors");
    if (!pmix_server_has_network())
        return pl_rt_fail(PLENUM_ERR_SYSTEM, "the PMIx server needs a network interface that is up");
    if (!pmix_server_can_listen())
        return pl_rt_fail_errno("the PMIx server needs to listen at a port");
    pmix_server_module_t module = pl_pmix_upcalls; /* the server copies it */
    pmix_info_t info[2];
    pmix_rank_t rank = 0;
    char nspace[64], **before, **mine;
    int err = pmix_server_check_descriptors();
    if (!err)
        err = pmix_server_check_stack();
    if (err)
        return err;
    if (!pmix_server_set_environment(&before, &mine))
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the PMIx server");
    snprintf(nspace, sizeof nspace, "plenum-server.%d", (int)getpid());
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_NSPACE, nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    pmix_status_t status = PMIx_server_init(&module, info, 2);
    pmix_server_restore_environment(before, mine);
    for (int i = 0; i < 2; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    if (status == PMIX_SUCCESS)
        return PLENUM_OK;
    return pl_rt_fail(PLENUM_ERR_SYSTEM, "cannot start the PMIx server: %s", PMIx_Error_string(status));
}

int pl_pmix_open(void)
{
    static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
    static _Atomic pid_t opener; /* a forked child has a copy of the server, without its threads */
    static bool open;
    int err = PLENUM_OK;
    pid_t by = atomic_load(&opener);
    if (by && by != getpid())
        return pl_rt_fail(
            PLENUM_ERR_SYSTEM,
            "the PMIx server belongs to process %d, from which this one was forked, and there is one at most", (int)by);
    pthread_mutex_lock(&opening);
    atomic_store(&opener, getpid());
    if (!open)
        err = pmix_server_start();
    open = !err;
    if (!open)
        atomic_store(&opener, 0);
    pthread_mutex_unlock(&opening);
    return err;
}

int plenum_runtime_want_pmix(struct plenum_runtime *rt)
{
    (void)rt;
    return pl_pmix_open();
}

/* --- jobs -------------------------------------------------------------------------------------------------- */

static bool pmix_server_add_entry(struct plenum_job *job)
{
    struct pl_pmix_entry *entry = pl_calloc(1, sizeof *entry);
    if (!entry)
        return false;
    entry->job = job;
    pthread_mutex_lock(&pl_pmix_registry);
    pl_list_append(&pl_pmix_entries, &entry->node);
    pthread_mutex_unlock(&pl_pmix_registry);
    return true;
}

static void pmix_server_drop_entry(const struct plenum_job *job)
{
    pthread_mutex_lock(&pl_pmix_registry);
    struct pl_pmix_entry *entry = pl_pmix_find(job->nspace);
    if (entry)
        pl_list_remove(&entry->node);
    pl_names_end_job(&pl_pmix_names, job->nspace);
    pthread_mutex_unlock(&pl_pmix_registry);
    free(entry);
}

/* The values that a process may ask about itself. */
static void pmix_server_describe_rank(pmix_info_t *info, uint32_t rank, uint32_t appnum)
{
    pmix_data_array_t data;
    uint32_t node = 0;
    uint16_t local = (uint16_t)rank;
    PMIX_DATA_ARRAY_CONSTRUCT(&data, 6, PMIX_INFO);
    pmix_info_t *at = data.array;
    PMIX_INFO_LOAD(&at[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&at[1], PMIX_APPNUM, &appnum, PMIX_UINT32);
    PMIX_INFO_LOAD(&at[2], PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&at[3], PMIX_NODEID, &node, PMIX_UINT32);
    PMIX_INFO_LOAD(&at[4], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    PMIX_INFO_LOAD(&at[5], PMIX_NODE_RANK, &local, PMIX_UINT16);
    PMIX_INFO_LOAD(info, PMIX_PROC_DATA, &data, PMIX_DATA_ARRAY);
    PMIX_DATA_ARRAY_DESTRUCT(&data);
}

/* "0,1,2" as the server's regular expression for the ranks of one node. */
static pmix_status_t pmix_server_rank_map(int size, char **map)
{
    char *list = NULL;
    FILE *out = pl_text_open(&list);
    for (int r = 0; out && r < size; r++)
        fprintf(out, "%s%d", r ? "," : "", r);
    pmix_status_t status = out && fclose(out) == 0 ? PMIx_generate_ppn(list, map) : PMIX_ERR_NOMEM;
    free(list);
    return status;
}

/* PMIx 4.2 copies a name up to its first number into 50 bytes on its stack. It takes a plain name, too. */
static pmix_status_t pmix_server_node_map(const char *host, char **map)
{
    enum { PREFIX_MAX = 49 };
    if (strcspn(host, "0123456789") <= PREFIX_MAX)
        return PMIx_generate_regex(host, map);
    *map = pl_strdup(host);
    return *map ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

enum { JOB_INFOS = 9 };

/* The maps must come first: without them the server crashes on the size of the job. */
static pmix_status_t pmix_server_describe_job(const struct plenum_job *job, pmix_info_t *info)
{
    char host[256] = "localhost", *nodes = NULL, *ranks = NULL;
    uint32_t size = (uint32_t)job->desc.size, one = 1, programs = (uint32_t)job->desc.program_count;
    uint32_t universe = job->desc.option[PLENUM_JOB_UNIVERSE] ? (uint32_t)job->desc.option[PLENUM_JOB_UNIVERSE] : size;
    gethostname(host, sizeof host - 1);
    pmix_status_t status = pmix_server_node_map(host, &nodes);
    if (status == PMIX_SUCCESS)
        status = pmix_server_rank_map(job->desc.size, &ranks);
    if (status == PMIX_SUCCESS) {
        PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_REGEX);
        PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, ranks, PMIX_REGEX);
        PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[3], PMIX_UNIV_SIZE, &universe, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[4], PMIX_NODE_SIZE, &size, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[5], PMIX_NUM_NODES, &one, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[6], PMIX_JOBID, job->nspace, PMIX_STRING);
        PMIX_INFO_LOAD(&info[7], PMIX_JOB_NUM_APPS, &programs, PMIX_UINT32);
        PMIX_INFO_LOAD(&info[8], PMIX_LOCAL_SIZE, &size, PMIX_UINT32);
        for (int p = 0; p < job->desc.program_count; p++)
            for (int r = 0; r < job->desc.programs[p].ranks; r++)
                pmix_server_describe_rank(&info[JOB_INFOS + job->desc.programs[p].first + r],
                                          (uint32_t)(job->desc.programs[p].first + r), (uint32_t)p);
    }
    free(nodes);
    free(ranks);
    return status;
}

static pmix_status_t pmix_server_register_ranks(const struct plenum_job *job)
{
    pmix_status_t status = PMIX_OPERATION_SUCCEEDED;
    for (int r = 0; status == PMIX_OPERATION_SUCCEEDED && r < job->desc.size; r++) {
        pmix_proc_t proc;
        PMIX_LOAD_PROCID(&proc, job->nspace, (pmix_rank_t)r);
        status = PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL);
    }
    return status;
}

int pl_pmix_register(struct plenum_job *job)
{
    size_t count = JOB_INFOS + (size_t)job->desc.size;
    pmix_info_t *info;
    pmix_status_t status = PMIX_ERR_NOMEM;
    PMIX_INFO_CREATE(info, count);
    if (info && pmix_server_add_entry(job)) {
        job->launch.registered = true;
        status = pmix_server_describe_job(job, info);
        if (status == PMIX_SUCCESS)
            status = PMIx_server_register_nspace(job->nspace, job->desc.size, info, count, NULL, NULL);
        if (status == PMIX_OPERATION_SUCCEEDED)
            status = pmix_server_register_ranks(job);
    }
    if (info)
        PMIX_INFO_FREE(info, count);
    if (status == PMIX_OPERATION_SUCCEEDED)
        return PLENUM_OK;
    pl_pmix_deregister(job);
    return pl_rt_fail(PLENUM_ERR_SYSTEM, "the PMIx server rejects the job: %s", PMIx_Error_string(status));
}

static void pmix_server_notified(pmix_status_t status, void *arg)
{
    pmix_info_t *info = arg;
    (void)status;
    PMIX_INFO_FREE(info, 1);
}

void pl_pmix_deregister(struct plenum_job *job)
{
    if (!job->launch.registered)
        return;
    job->launch.registered = false;
    pmix_server_drop_entry(job);
    for (int r = 0; r < job->desc.size; r++) {
        pmix_proc_t proc;
        PMIX_LOAD_PROCID(&proc, job->nspace, (pmix_rank_t)r);
        PMIx_server_deregister_client(&proc, NULL, NULL);
    }
    PMIx_server_deregister_nspace(job->nspace, NULL, NULL);
}

void pl_pmix_process_failed(const struct plenum_job *job, int rank)
{
    pmix_proc_t proc;
    pmix_info_t *info;
    if (!job->launch.registered)
        return;
    PMIX_LOAD_PROCID(&proc, job->nspace, (pmix_rank_t)rank);
    PMIX_INFO_CREATE(info, 1);
    if (!info)
        return;
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    if (PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &proc, PMIX_RANGE_NAMESPACE, info, 1, pmix_server_notified, info) !=
        PMIX_SUCCESS)
        pmix_server_notified(PMIX_ERROR, info);
}

int pl_pmix_environment(const struct plenum_job *job, int rank, struct pl_vars *vars)
{
    pmix_proc_t proc;
    char **list = NULL;
    PMIX_LOAD_PROCID(&proc, job->nspace, (pmix_rank_t)rank);
    pmix_status_t status = PMIx_server_setup_fork(&proc, &list);
    bool good = status == PMIX_SUCCESS && pl_vars_import(vars, list);
    PMIX_ARGV_FREE(list);
    return good ? PLENUM_OK
                : pl_rt_fail(PLENUM_ERR_SYSTEM, "the PMIx server has no environment for rank %d: %s", rank,
                             PMIx_Error_string(status));
}

bool pl_pmix_next_abort(struct plenum_runtime *rt, struct pl_pmix_abort *abort)
{
    bool found = false;
    pthread_mutex_lock(&pl_pmix_registry);
    PL_LIST_EACH(entry, &pl_pmix_entries, struct pl_pmix_entry, node)
        if (!found && entry->aborted && !entry->handled && entry->job->runtime == rt) {
            entry->handled = found = true;
            *abort = entry->abort;
        }
    pthread_mutex_unlock(&pl_pmix_registry);
    return found;
}
