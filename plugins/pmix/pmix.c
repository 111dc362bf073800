/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstrap through a PMIx server: Open MPI's mpirun, PRRTE, Slurm's `srun --mpi=pmix`.
 *
 * No function here waits for another process. Servers differ in the values that they know and in the values' types:
 * each value has a default, and any numeric type is accepted.
 *
 * PMIx stays initialized from the first open() to the end of the process, even if the process closes and opens again.
 * The server of PMIx 4.2 sometimes takes the end of the earlier connection for the end of the new one, and then hands
 * out nothing that this process publishes. PMIx counts its users, so an application's own use is not disturbed.
 *
 * Locking: the caller's, as core/job/process.h says.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "plugins/pmix/cards.h"
#include "plugins/pmix/claim.h"
#include "plugins/pmix/names.h"
#include "plugins/pmix/pmix_copy.h"
#include "plugins/pmix/pmix_psets.h"

static pmix_proc_t self;

/* --- the process's identity ------------------------------------------------------------------------------------ */

static bool pmix_number_of(const pmix_value_t *value, long *number)
{
    switch (value->type) {
    case PMIX_INT: *number = value->data.integer; return true;
    case PMIX_INT8: *number = value->data.int8; return true;
    case PMIX_INT16: *number = value->data.int16; return true;
    case PMIX_INT32: *number = value->data.int32; return true;
    case PMIX_INT64: *number = (long)value->data.int64; return true;
    case PMIX_UINT: *number = value->data.uint; return true;
    case PMIX_UINT8: *number = value->data.uint8; return true;
    case PMIX_UINT16: *number = value->data.uint16; return true;
    case PMIX_UINT32: *number = value->data.uint32; return true;
    case PMIX_UINT64: *number = (long)value->data.uint64; return true;
    case PMIX_SIZE: *number = (long)value->data.size; return true;
    case PMIX_PROC_RANK: *number = (long)value->data.rank; return true;
    default: return false;
    }
}

/* A value of the job or of this process, to be released; NULL: unknown. The first process in a rank got the values when
 * it initialized PMIx (PMIX_OPTIONAL: the server is not asked); a later process must ask. */
static pmix_value_t *pmix_get(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc;
    pmix_info_t info;
    pmix_value_t *value = NULL;
    bool yes = true;
    int seconds = 5;
    PMIX_LOAD_PROCID(&proc, self.nspace, rank);
    PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (PMIx_Get(&proc, key, &info, 1, &value) == PMIX_SUCCESS)
        return value;
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    return PMIx_Get(&proc, key, &info, 1, &value) == PMIX_SUCCESS ? value : NULL;
}

static long pmix_get_number(pmix_rank_t rank, const char *key, long missing)
{
    pmix_value_t *value = pmix_get(rank, key);
    if (!value)
        return missing;
    long number = missing;
    if (!pmix_number_of(value, &number))
        pl_pmix_copy->host->log("pmix", 2, "%s is of type %s", key, PMIx_Data_type_string(value->type));
    PMIX_VALUE_RELEASE(value);
    return number;
}

static bool pmix_lists(const char *ranks, pmix_rank_t rank)
{
    for (const char *at = ranks; *at; at += strcspn(at, ","), at += *at == ',')
        if (strtoul(at, NULL, 10) == rank)
            return true;
    return false;
}

/* The list of the server, to be freed; NULL: there is none, or one without this process, which is another node's. Every
 * client without shared memory gets the last node's, and so does a second process in a rank. */
static char *pmix_local_ranks_listed(void)
{
    pmix_value_t *value = pmix_get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    if (!value)
        return NULL;
    char *ranks = NULL;
    if (value->type == PMIX_STRING && value->data.string && pmix_lists(value->data.string, self.rank))
        ranks = pl_strdup(value->data.string);
    PMIX_VALUE_RELEASE(value);
    return ranks;
}

/* The host of a rank, to be freed; NULL: unknown. */
static char *pmix_host(pmix_rank_t rank)
{
    pmix_proc_t proc;
    pmix_info_t info;
    pmix_value_t *value = NULL;
    bool yes = true;
    PMIX_LOAD_PROCID(&proc, self.nspace, rank);
    PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (PMIx_Get(&proc, PMIX_HOSTNAME, &info, 1, &value) != PMIX_SUCCESS)
        return NULL;
    char *host = value->type == PMIX_STRING && value->data.string ? pl_strdup(value->data.string) : NULL;
    PMIX_VALUE_RELEASE(value);
    return host;
}

/* The ranks of this node, as a list "0,1,2" to be freed; NULL: unknown. */
static char *pmix_local_ranks(pmix_rank_t size)
{
    enum { LONGEST = sizeof "4294967295," };
    char *ranks = pmix_local_ranks_listed();
    if (ranks)
        return ranks;
    char *here = pmix_host(self.rank);
    if (!here || !(ranks = pl_calloc(size, LONGEST)))
        goto free_here;
    size_t length = 0;
    for (pmix_rank_t rank = 0; rank < size; rank++) {
        char *host = pmix_host(rank);
        if (!host) {
            free(ranks);
            ranks = NULL;
            break;
        }
        if (strcmp(host, here) == 0)
            length += (size_t)sprintf(ranks + length, "%s%u", length ? "," : "", (unsigned)rank);
        free(host);
    }
free_here:
    free(here);
    return ranks;
}

/* Cores of this node that the job may use: all of them, or fewer if Slurm says so. This rank's binding does not count:
 * other ranks are bound to other cores. */
static int pmix_cores(void)
{
    const char *slurm = secure_getenv("SLURM_CPUS_ON_NODE");
    long online = sysconf(_SC_NPROCESSORS_ONLN), given = slurm ? strtol(slurm, NULL, 10) : 0;
    return (int)(given > 0 && given < online ? given : online);
}

/* Set when PMIx was initialized; constant from then on. */
static struct {
    bool done;
    pid_t pid;
    struct pl_identity identity;
    char *local_ranks;
} known;

static int pmix_learn(uint32_t generation)
{
    long size = pmix_get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 0);
    if (size <= 0 || size > INT32_MAX || self.rank >= (pmix_rank_t)size)
        return pl_pmix_copy->host->fail(MPI_ERR_OTHER, "the PMIx server calls this rank %u of %ld", (unsigned)self.rank,
                                        size);
    long local = pmix_get_number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, 1);
    long universe = pmix_get_number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, 0);
    if (universe > 0 && universe < size) /* Open MPI's slots, with more processes than these */
        universe = size;
    known.identity = (struct pl_identity){
        .rank = (int)self.rank,
        .size = (int)size,
        .local_size = local >= 1 && local <= size ? (int)local : 1,
        .appnum = (int)pmix_get_number(self.rank, PMIX_APPNUM, -1),
        .universe = universe > 0 && universe <= INT32_MAX ? (int)universe : 0,
        .slots = pmix_cores(),
        .generation = generation,
    };
    snprintf(known.identity.nspace, sizeof known.identity.nspace, "%s", self.nspace);
    known.local_ranks = pmix_local_ranks((pmix_rank_t)size);
    known.identity.local_ranks = known.local_ranks;
    return MPI_SUCCESS;
}

/* --- opening --------------------------------------------------------------------------------------------------- */

/* Under Plenum's launcher the job segment alone decides: a process that could not claim its rank there must not get it
 * from a server. */
static bool pmix_is_launcher(void)
{
    return secure_getenv("PMIX_NAMESPACE") && secure_getenv("PMIX_RANK") && !secure_getenv(PL_JOB_ENV);
}

/* Launchers take a process that ends without PMIx_Finalize() for a failed one. Children made by fork() must not call
 * it. */
static void pmix_finalize_at_exit(void)
{
    if (known.pid == getpid())
        PMIx_Finalize(NULL, 0);
}

/* Open MPI of version 5.0 or later in this process: unlike 4.1 it has sessions. From version 6 on its library of the
 * standard ABI may be the one that is loaded. A handle to close, or NULL. */
static void *pmix_find_open_mpi(void)
{
    static const struct {
        const char *library, *beside;
    } names[] = { { "libmpi.so.40", NULL }, { "libmpi_abi.so.1", "libopen_mpi.so.40" } };
    for (int i = 0; i < 2; i++) {
        void *beside = dlopen(names[i].beside, RTLD_LAZY | RTLD_NOLOAD); /* without a name, the program */
        void *library = beside ? dlopen(names[i].library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (beside)
            dlclose(beside);
        if (library && dlsym(library, "MPI_Session_init"))
            return library;
        if (library)
            dlclose(library);
    }
    return NULL;
}

/* Is there an Open MPI 5.0 or later in this process that is still to be initialized? It does not call PMIx_Init() if
 * another library has, does not know its own rank then, and fails. */
static bool pmix_open_mpi_waits(void)
{
    void *library = pmix_find_open_mpi();
    int (*ask)(int *) = library ? (int (*)(int *))dlsym(library, "MPI_Initialized") : NULL;
    int initialized = 1;
    if (ask)
        ask(&initialized);
    if (library)
        dlclose(library);
    return !initialized && !PMIx_Initialized();
}

/* Is the rank free for this process? */
static int pmix_claim_rank(const char *nspace, unsigned rank, uint32_t *generation)
{
    if (pmix_open_mpi_waits())
        return pl_pmix_copy->host->fail(
            MPI_ERR_OTHER,
            "Open MPI, of version 5.0 or later, is in this process, and cannot be initialized after another library "
            "has joined the job: call its MPI_Init first (to run alone, set PLENUM_ALONE=1)");
    pid_t owner = pl_pmix_claim_take(secure_getenv("PMIX_SERVER_TMPDIR"), nspace, rank, generation);
    if (owner)
        return pl_pmix_copy->host->fail(
            MPI_ERR_OTHER,
            "rank %u of job %s is process %d, and this is another one, such as a program that a rank has "
            "started: to run it alone, set PLENUM_ALONE=1",
            rank, nspace, (int)owner);
    return MPI_SUCCESS;
}

static int pmix_join(const char *nspace, unsigned rank)
{
    pmix_status_t status = PMIx_Init(&self, NULL, 0);
    if (status == PMIX_ERR_UNREACH)
        return pl_pmix_copy->host->fail(
            MPI_ERR_OTHER,
            "no PMIx server answers for rank %u of the job \"%s\" (PMIX_RANK, PMIX_NAMESPACE): its "
            "launcher has ended, or cannot be reached from here (to run alone, set PLENUM_ALONE=1)",
            rank, nspace);
    if (status != PMIX_SUCCESS)
        return pl_pmix_copy->host->fail(MPI_ERR_OTHER, "the PMIx server does not accept this process: %s",
                                        PMIx_Error_string(status));
    return MPI_SUCCESS;
}

static int pmix_initialize(void)
{
    const char *nspace = secure_getenv("PMIX_NAMESPACE");
    unsigned rank = (unsigned)strtoul(secure_getenv("PMIX_RANK"), NULL, 10);
    uint32_t generation;
    int err = pmix_claim_rank(nspace, rank, &generation);
    if (err)
        return err;
    if ((err = pmix_join(nspace, rank)))
        goto release;
    if ((err = pmix_learn(generation)))
        goto finalize;
    known.pid = getpid();
    known.done = true;
    pl_pmix_cards_open(&self, known.identity.generation, known.local_ranks);
    atexit(pmix_finalize_at_exit);
    return MPI_SUCCESS;

finalize:
    PMIx_Finalize(NULL, 0);
release:
    pl_pmix_claim_release();
    return err;
}

/* Copies of the library may open at the same time; the first one connects. */
static int pmix_connect(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int err = known.done ? MPI_SUCCESS : pmix_is_launcher() ? pmix_initialize() : PL_UNREACHABLE;
    pthread_mutex_unlock(&lock);
    return err;
}

static int pmix_open(struct pl_identity *identity)
{
    int err = pl_pmix_copy ? pmix_connect() : MPI_ERR_NO_MEM;
    if (err)
        return err;
    if (known.pid != getpid())
        return pl_pmix_copy->host->fail(
            MPI_ERR_OTHER,
            "this process was forked from process %d, which is rank %d of job %s: to use MPI here alone, "
            "set PLENUM_ALONE=1",
            (int)known.pid, known.identity.rank, known.identity.nspace);
    *identity = known.identity;
    return MPI_SUCCESS;
}

static void pmix_close(void)
{
    pl_pmix_cards_close();
}

/* The server ends the job. It gets the reason, but few servers show it, so it is printed here too. */
static void pmix_abort_job(int code, const char *object, const char *message)
{
    (void)object;
    pl_process_wait_for_launcher(code);
    fprintf(stderr, "%s\n", message);
    fflush(stderr);
    PMIx_Abort(code, message, NULL, 0);
}

/* These servers notice by themselves when a process ends without having finalized. */
static void pmix_state(enum pl_process_state state)
{
    (void)state;
}

static int pmix_psets(int (*found)(void *to, const char *name, const int *ranks, int count), void *to)
{
    return pl_pmix_psets_each(pl_pmix_copy->host, &self, found, to);
}

PL_EXPORT const struct pl_bootstrap_ops plenum_bootstrap = {
    .abi = PL_BOOTSTRAP_ABI,
    .name = "pmix",
    .open = pmix_open,
    .close = pmix_close,
    .publish = pl_pmix_cards_publish,
    .lookup = pl_pmix_cards_lookup,
    .abort = pmix_abort_job,
    .state = pmix_state,
    .attach = pl_pmix_copy_enter,
    .psets = pmix_psets,
    .publish_name = pl_pmix_names_publish,
    .withdraw_name = pl_pmix_names_withdraw,
    .find_name = pl_pmix_names_find,
};
