/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of configuration variables, and their values: the environment's, else the configuration file's
 * (core/base/config_file.h), else the default.
 *
 * Locking: `lock` protects loading; values are read without it. So texts stay valid for the life of the process; equal
 * texts are stored once.
 */
#include "core/base/config.h"

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/config_file.h"
#include "core/base/config_value.h"
#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/base/nearest.h"
#include "core/base/plain_locale.h"

/* An algorithm of a collective to force, where it can do the call (core/coll/select.c). */
#define ALGORITHM(collective, names)                                                                                   \
    {                                                                                                                  \
        "coll_" collective, PL_CONFIG_TEXT, "auto", "auto|" names, 0, 0,                                               \
            "algorithm of " collective " where it can do the call", PL_CONFIG_EQUAL                                    \
    }

/* Sorted by name. */
const struct pl_config pl_config_table[] = {
    ALGORITHM("allgather", "linear|recursive_doubling|bruck|ring"),
    ALGORITHM("allgatherv", "linear|bruck|ring"),
    ALGORITHM("allreduce", "linear|recursive_doubling|ring|rabenseifner|reduce_bcast"),
    ALGORITHM("alltoall", "bruck|pairwise|linear|exchange"),
    ALGORITHM("alltoallv", "pairwise|linear|exchange"),
    ALGORITHM("alltoallw", "pairwise|linear|exchange"),
    ALGORITHM("barrier", "linear|recursive_doubling|dissemination"),
    ALGORITHM("bcast", "binomial|scatter_allgather|chain"),
    ALGORITHM("exscan", "doubling|linear"),
    ALGORITHM("gather", "linear|binomial"),
    ALGORITHM("gatherv", "linear"),
    { "coll_places", PL_CONFIG_TEXT, "auto", NULL, 0, 0,
      "where the processes of a node run, for blocking collectives: auto, as they are bound; none; or packages and "
      "caches of each that they fill in order, such as 2x4",
      PL_CONFIG_FIXED },
    ALGORITHM("reduce", "binomial|in_order|rabenseifner|chain"),
    ALGORITHM("reduce_scatter", "recursive_halving|pairwise|in_order"),
    ALGORITHM("reduce_scatter_block", "recursive_halving|pairwise|in_order"),
    ALGORITHM("scan", "doubling|linear"),
    ALGORITHM("scatter", "linear|binomial"),
    ALGORITHM("scatterv", "linear"),
    { "coll_shm", PL_CONFIG_BOOL, "1", NULL, 0, 0, "blocking collectives of ranks on one node use shared memory",
      PL_CONFIG_FIXED },
    { "coll_table", PL_CONFIG_TEXT, "", NULL, 0, 0,
      "a JSON file that selects the algorithms of collectives (docs/collectives.md); the same on all ranks",
      PL_CONFIG_FIXED },
    { "config", PL_CONFIG_TEXT, "", NULL, 0, 0,
      "the configuration file; not given: ~/.config/plenum.json or else /etc/plenum.json, if there is one; empty: "
      "none",
      PL_CONFIG_FIXED },
    { "crash_report", PL_CONFIG_BOOL, "0", NULL, 0, 0,
      "a crash between MPI_Init and MPI_Finalize tells the launcher where it happened; mpiexec sets it to 1",
      PL_CONFIG_FIXED },
    { "errhandlers", PL_CONFIG_TEXT, "", NULL, 0, 0, "file of rules that map errors to error handlers; empty: none",
      PL_CONFIG_FIXED },
    { "error_range", PL_CONFIG_TEXT, "group", "group|local", 0, 0,
      "what the failure of a process ends: all that its communicators do, or only the operations that need it",
      PL_CONFIG_FIXED },
    { "initial_errhandler", PL_CONFIG_TEXT, "mpi_errors_are_fatal", NULL, 0, 0,
      "error handler before initialization, after finalization and of what is initialized", PL_CONFIG_FIXED },
    { "log", PL_CONFIG_TEXT, "", NULL, 0, 0,
      "what to log to stderr: level, or subsystem:level,...; levels are error, warning, info, debug", PL_CONFIG_LOCAL },
    { "meet_timeout", PL_CONFIG_LONG, "0", NULL, 0, 1 << 30,
      "seconds that the creation of a communicator from a group waits for the other members; 0: for ever",
      PL_CONFIG_LOCAL },
    { "memory_alloc_kinds", PL_CONFIG_TEXT, "mpi,system", NULL, 0, 0,
      "kinds of memory requested by the World, and by sessions whose info has no mpi_memory_alloc_kinds",
      PL_CONFIG_LOCAL },
    { "net", PL_CONFIG_TEXT, "", NULL, 0, 0,
      "network interfaces to use, by name or by the addresses they have: eth0,10.0.0.0/8; empty: all",
      PL_CONFIG_FIXED },
    { "plugin_dir", PL_CONFIG_TEXT, "", NULL, 0, 0,
      "absolute path of the directory of plugins; empty: beside the library", PL_CONFIG_FIXED },
    { "progress", PL_CONFIG_TEXT, "none", "none|thread", 0, 0,
      "thread: the World, and sessions whose info has no plenum_progress, have a thread that makes progress while the "
      "program computes",
      PL_CONFIG_LOCAL },
    { "pset_providers", PL_CONFIG_TEXT, "", NULL, 0, 0, "comma-separated list of plugins that provide process sets",
      PL_CONFIG_FIXED },
    { "psets", PL_CONFIG_TEXT, "", NULL, 0, 0, "a JSON file of process sets (docs/psets.md)", PL_CONFIG_FIXED },
    { "scope", PL_CONFIG_TEXT, "host", "host|network", 0, 0,
      "from where processes can connect: this host alone, or the network too, for all that a job opens",
      PL_CONFIG_FIXED },
    { "shm_eager", PL_CONFIG_SIZE, "16384", NULL, 0, 1 << 20,
      "bytes of the longest eager message through a ring; at most a quarter of the ring", PL_CONFIG_FIXED },
    { "shm_ring", PL_CONFIG_SIZE, "65536", NULL, 4096, 4 << 20,
      "bytes of the ring to each peer on the node; rounded up to a power of 2", PL_CONFIG_FIXED },
    { "shm_rndv", PL_CONFIG_TEXT, "auto", "auto|copy|cma", 0, 0,
      "how long messages travel on the node: copied twice through shared memory, once by the kernel, or automatic",
      PL_CONFIG_FIXED },
    { "strict", PL_CONFIG_BOOL, "0", NULL, 0, 0,
      "objects not freed at the end of a session, or of the World, are an error that names them; so are collectives "
      "that ranks call with different arguments (docs/collectives.md)",
      PL_CONFIG_LOCAL },
    { "transport", PL_CONFIG_LIST, "auto", "auto|self|shm|ucx", 0, 0, "transports to use: auto, or a list",
      PL_CONFIG_FIXED },
    { "ucx_eager", PL_CONFIG_SIZE, "65536", NULL, 0, 1 << 20, "bytes of the longest eager message over UCX",
      PL_CONFIG_FIXED },
    { "ucx_rma", PL_CONFIG_BOOL, "0", NULL, 0, 0,
      "puts and gets of contiguous data go by one-sided transfers of UCX, for networks that have RDMA",
      PL_CONFIG_FIXED },
    { "ucx_tls", PL_CONFIG_TEXT, "", NULL, 0, 0,
      "UCX's own transports, as in UCX_TLS; empty: the network, and with transport=ucx all that UCX finds",
      PL_CONFIG_FIXED },
};
const size_t pl_config_count = sizeof pl_config_table / sizeof pl_config_table[0];

enum { VARIABLES = sizeof pl_config_table / sizeof pl_config_table[0], NAME_SIZE = 64 };
#define PREFIX "PLENUM_"

/* Names in the environment that begin with PLENUM_ and are not variables: whole names, or prefixes if they end with
 * '_'. The library and its programs use the first ones; module systems set the others. */
static const char *const known[] = {
    "ALONE",  "ATTACH",  "CC",        "CXX",    "FC",     "JOB",     "LIB",     "LOCAL_RANK",  "LOCAL_SIZE",
    "NODE",   "RANK",    "RESOURCE_", "SIZE",   "TEST_",  "BASE",    "BIN",     "BIN_DIR",     "BINDIR",
    "DIR",    "DOC",     "HOME",      "INC",    "INCDIR", "INC_DIR", "INCLUDE", "INCLUDE_DIR", "INSTALL_DIR",
    "LIBDIR", "LIB_DIR", "MAN",       "MODULE", "PATH",   "PREFIX",  "ROOT",    "VER",         "VERSION",
};

static struct value {
    _Atomic(const char *) text;
    _Atomic long number;
    _Atomic(const char *) origin;
} values[VARIABLES];

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);
static char unknown_names[400]; /* names in the environment that are neither variables nor known */
static _Atomic bool loaded, any_written;
static _Atomic unsigned loads = 1;

struct kept {
    struct kept *next;
    char text[];
};
static struct kept *kept;

/* The first texts lie here, and go with this code when a library that contains it is unloaded. */
enum { KEPT_BYTES = 4096, KEPT_ALIGN = sizeof(struct kept) };
static _Alignas(struct kept) char kept_space[KEPT_BYTES];
static size_t kept_used;

struct setting {
    const char *text;
    long number;
    const char *origin;
};
static struct setting defaults[VARIABLES]; /* text NULL: not yet filled in */
static struct setting given[VARIABLES];    /* by environment, file and table */
static struct setting written[VARIABLES];  /* by pl_config_set(); text NULL: not set */

static const char *keep_locked(const char *text)
{
    for (struct kept *k = kept; k; k = k->next)
        if (strcmp(k->text, text) == 0)
            return k->text;
    size_t bytes = (sizeof(struct kept) + strlen(text) + KEPT_ALIGN) / KEPT_ALIGN * KEPT_ALIGN;
    bool fits = bytes <= KEPT_BYTES - kept_used;
    struct kept *k = fits ? (struct kept *)(kept_space + kept_used) : pl_malloc(bytes);
    if (!k)
        return NULL;
    kept_used += fits ? bytes : 0;
    strcpy(k->text, text);
    k->next = kept;
    kept = k;
    return k->text;
}

/* --- names --------------------------------------------------------------------------------------------------- */

static void environment_name(const struct pl_config *variable, char name[NAME_SIZE])
{
    size_t at = strlen(PREFIX); /* by hand: done for every variable whenever a session begins */
    memcpy(name, PREFIX, at);
    for (const char *from = variable->name; *from; from++) {
        assert(at < NAME_SIZE - 1);
        name[at++] = *from >= 'a' && *from <= 'z' ? (char)(*from - 'a' + 'A') : *from;
    }
    name[at] = 0;
}

static bool name_is_known(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i]);
        bool beginning = known[i][length - 1] == '_';
        if (beginning ? strncmp(name, known[i], length) == 0 : strcmp(name, known[i]) == 0)
            return true;
    }
    return false;
}

static int config_distance(const char *name, const struct pl_config *variable)
{
    char small[NAME_SIZE];
    size_t length = 0;
    for (; name[length] && length + 1 < sizeof small; length++)
        small[length] = pl_plain_lower(name[length]);
    small[length] = '\0';
    return pl_nearest_distance(small, variable->name);
}

/* The variable with the nearest name. */
static int config_nearest(const char *name)
{
    int best = INT_MAX, at = 0;
    for (int i = 0; i < VARIABLES; i++) {
        int d = config_distance(name, &pl_config_table[i]);
        if (d < best) {
            best = d;
            at = i;
        }
    }
    return at;
}

/* Adds a name to the warning, with the variable that it may be meant for. */
static void note_unknown_locked(const char *entry, size_t length)
{
    char name[NAME_SIZE], candidate[NAME_SIZE];
    size_t used = strlen(unknown_names);
    snprintf(name, sizeof name, "%.*s", (int)length, entry);
    const char *short_name = name + strlen(PREFIX);
    const struct pl_config *nearest = &pl_config_table[config_nearest(short_name)];
    environment_name(nearest, candidate);
    bool near = length < sizeof name && config_distance(short_name, nearest) < pl_nearest_limit(short_name);
    snprintf(unknown_names + used, sizeof unknown_names - used, "%s%s%s%s%s", used ? ", " : "", name,
             near ? " (did you mean " : "", near ? candidate : "", near ? "?)" : "");
}

/* --- values -------------------------------------------------------------------------------------------------- */

static void set_defaults_locked(struct setting *settings)
{
    for (int i = 0; i < VARIABLES && !defaults[VARIABLES - 1].text; i++) {
        defaults[i] = (struct setting){ .text = pl_config_table[i].standard, .origin = "default" };
        bool fits = pl_config_is_value(&pl_config_table[i], defaults[i].text, &defaults[i].number);
        assert(fits && "the defaults in the table must be well-formed");
        assert((i == 0 || strcmp(pl_config_table[i - 1].name, pl_config_table[i].name) < 0) &&
               "its names must be sorted");
        (void)fits;
    }
    memcpy(settings, defaults, sizeof defaults);
}

static int set_locked(struct setting *setting, const char *text, const char *origin)
{
    setting->text = keep_locked(text);
    setting->origin = keep_locked(origin);
    return setting->text && setting->origin ? MPI_SUCCESS : pl_fail_memory("a configuration variable");
}

/* --- the environment ----------------------------------------------------------------------------------------- */

/* One "NAME=value" of the environment. */
static int take_entry_locked(const char *entry, struct setting *settings)
{
    const char *equals = strchr(entry, '=');
    size_t length = equals ? (size_t)(equals - entry) : 0;
    if (!equals || strncmp(entry, PREFIX, strlen(PREFIX)) != 0)
        return MPI_SUCCESS;
    char name[NAME_SIZE], allowed[PL_CONFIG_ALLOWED];
    for (int i = 0; i < VARIABLES; i++) {
        environment_name(&pl_config_table[i], name);
        if (strlen(name) != length || strncmp(entry, name, length) != 0)
            continue;
        if (!equals[1] && pl_config_table[i].standard[0])
            return MPI_SUCCESS; /* counts as unset */
        if (!pl_config_parse(&pl_config_table[i], equals + 1, &settings[i].number, allowed))
            return pl_fail(MPI_ERR_ARG, "%s is \"%.80s\": it must be %s", name, equals + 1, allowed);
        return set_locked(&settings[i], equals + 1, "environment");
    }
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), entry);
    if (!name_is_known(name + strlen(PREFIX)))
        note_unknown_locked(entry, length);
    return MPI_SUCCESS;
}

/* A program that runs with more rights than its user ignores the user's environment. */
static int read_environment_locked(struct setting *settings)
{
    unknown_names[0] = '\0';
    if (getauxval(AT_SECURE))
        return MPI_SUCCESS;
    int err = MPI_SUCCESS;
    for (char **entry = environ; entry && *entry && !err; entry++)
        err = take_entry_locked(*entry, settings);
    return err;
}

/* --- the file ------------------------------------------------------------------------------------------------ */

static int take_value_locked(const struct pl_config_file *file, const char *name, const json_t *value,
                             struct setting *settings)
{
    char text[PL_CONFIG_TEXT_SIZE], origin[PL_CONFIG_TEXT_SIZE], allowed[PL_CONFIG_ALLOWED];
    int i = config_nearest(name);
    if (strcmp(pl_config_table[i].name, name) != 0)
        return pl_config_file_fail(file, name, "is not a variable of Plenum; the nearest name is %s",
                                   pl_config_table[i].name);
    if (strcmp(name, "config") == 0)
        return pl_config_file_fail(file, name, "can only be set in the environment, as PLENUM_CONFIG");
    int err = pl_config_file_text(file, name, value, text, origin);
    if (err)
        return err;
    if (!pl_config_parse(&pl_config_table[i], text, &settings[i].number, allowed))
        return pl_config_file_fail(file, name, "is \"%.80s\": it must be %s", text, allowed);
    return set_locked(&settings[i], text, origin);
}

static int read_file_locked(struct setting *settings)
{
    struct pl_config_file file;
    if (!pl_config_file_find(&file))
        return MPI_SUCCESS;
    int err = pl_json_open(file.path, &file.json);
    if (err)
        return err;
    for (void *at = json_object_iter(file.json.root); at && !err; at = json_object_iter_next(file.json.root, at))
        err = take_value_locked(&file, json_object_iter_key(at), json_object_iter_value(at), settings);
    pl_json_close(&file.json);
    return err;
}

static void apply_locked(void)
{
    for (int i = 0; i < VARIABLES; i++) {
        const struct setting *setting = written[i].text ? &written[i] : &given[i];
        atomic_store(&values[i].text, setting->text);
        atomic_store(&values[i].number, setting->number);
        atomic_store(&values[i].origin, setting->origin);
        if (strcmp(pl_config_table[i].name, "log") == 0)
            pl_log_filter(setting->text);
    }
    atomic_fetch_add(&loads, 1);
    atomic_store_explicit(&loaded, true, memory_order_release);
}

int pl_config_load(void)
{
    struct setting settings[VARIABLES];
    pl_lock_take(&lock);
    set_defaults_locked(settings);
    int err = read_file_locked(settings);
    if (!err)
        err = read_environment_locked(settings);
    if (err)
        set_defaults_locked(settings);
    if (!err || !atomic_load(&loaded)) {
        memcpy(given, settings, sizeof given);
        apply_locked();
    }
    pl_lock_drop(&lock);
    return err;
}

void pl_config_warning(char *text, size_t size)
{
    pl_lock_take(&lock);
    bool cut = strlen(unknown_names) + 1 == sizeof unknown_names;
    snprintf(text, size, "%s%s%s", unknown_names, cut ? "..." : "",
             unknown_names[0]
                 ? " in the environment: not of Plenum, and without effect; `plenum-info config` lists the "
                   "variables"
                 : "");
    pl_lock_drop(&lock);
}

/* --- reading ------------------------------------------------------------------------------------------------- */

/* The first request loads the configuration if the process has not been opened yet. Errors are reported when the
 * process opens. */
static const struct value *config_find(const char *name)
{
    if (!atomic_load_explicit(&loaded, memory_order_acquire) && pl_config_load() != MPI_SUCCESS)
        pl_error_clear();
    int first = 0, end = VARIABLES;
    while (first < end) {
        int middle = (first + end) / 2, order = strcmp(name, pl_config_table[middle].name);
        if (order == 0)
            return &values[middle];
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    assert(!"the variable must be in the table");
    abort();
}

int pl_config_set(const struct pl_config *variable, const char *text)
{
    char allowed[PL_CONFIG_ALLOWED];
    struct setting new;
    if (!pl_config_parse(variable, text, &new.number, allowed))
        return pl_fail(MPI_ERR_ARG, "%s is \"%.80s\": it must be %s", variable->name, text, allowed);
    config_find(variable->name); /* loads the configuration */
    pl_lock_take(&lock);
    int err = set_locked(&new, text, "MPI_T");
    if (!err) {
        written[variable - pl_config_table] = new;
        atomic_store(&any_written, true);
        apply_locked();
    }
    pl_lock_drop(&lock);
    return err;
}

long pl_config_long(const char *name)
{
    return atomic_load(&config_find(name)->number);
}

bool pl_config_bool(const char *name)
{
    return atomic_load(&config_find(name)->number) != 0;
}

const char *pl_config_text(const char *name)
{
    return atomic_load(&config_find(name)->text);
}

const char *pl_config_given(const char *name)
{
    const struct value *value = config_find(name);
    pl_lock_take(&lock);
    const char *text = given[value - values].text;
    pl_lock_drop(&lock);
    return text;
}

bool pl_config_given_bool(const char *name)
{
    const struct pl_config *variable = &pl_config_table[config_find(name) - values];
    long number;
    return pl_config_is_value(variable, pl_config_given(name), &number) && number != 0;
}

bool pl_config_written(void)
{
    return atomic_load(&any_written);
}

unsigned pl_config_loads(void)
{
    return atomic_load_explicit(&loads, memory_order_acquire);
}

const char *pl_config_origin(const char *name)
{
    return atomic_load(&config_find(name)->origin);
}
