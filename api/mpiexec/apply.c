/* SPDX-License-Identifier: BSD-3-Clause */
/* See apply.h. */
#include "api/mpiexec/apply.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/mpiexec/configfile.h"
#include "api/mpiexec/machine.h"
#include "api/mpiexec/options.h"
#include "core/base/hash.h"
#include "core/base/memory_libc.h"
#include "core/base/triplet.h"
#include "core/base/words.h"

bool apply_number(struct parse *p, const char *text, long least, long most, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    if (end == text || *end || errno || *value < least || *value > most)
        return parse_fail(p, "%s expects a number from %ld to %ld, not \"%s\"", p->name, least, most, text);
    return true;
}

int apply_word(const char *text, const char *const *words)
{
    size_t length = strcspn(text, ":");
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0)
            return i;
    return -1;
}

/* Of two values the last one counts. */
static void apply_set_variable(struct settings *to, const char *name, const char *value)
{
    for (int i = 0; i < to->count; i++)
        if (strcmp(to->item[i].name, name) == 0) {
            to->item[i].value = value;
            return;
        }
    to->item = parse_append(to->item, &to->count, sizeof *to->item);
    to->item[to->count - 1] = (struct setting){ name, value };
}

/* "0-3,7" */
static bool apply_ranges(const char *text, struct pset_option *pset)
{
    while (*text) {
        int used = 0, first, last;
        if (sscanf(text, "%9d-%9d%n", &first, &last, &used) != 2 || used == 0) {
            if (sscanf(text, "%9d%n", &first, &used) != 1)
                return false;
            last = first;
        }
        if (first < 0 || last < first || (text[used] && (text[used] != ',' || !text[used + 1])))
            return false;
        pset->ranges = parse_append(pset->ranges, &pset->count, sizeof *pset->ranges);
        pset->ranges[pset->count - 1][0] = first;
        pset->ranges[pset->count - 1][1] = last;
        text += used + (text[used] == ',');
    }
    return pset->count > 0;
}

/* --- the options ------------------------------------------------------------------------------------------- */

bool apply_n(struct parse *p, char *const *arg)
{
    long ranks;
    if (!apply_number(p, arg[0], 1, 65536, &ranks))
        return false;
    if (p->s->counted && p->s->ranks != ranks)
        return parse_fail(p, "%s %ld: %d processes were already requested for this program", p->name, ranks,
                          p->s->ranks);
    p->s->ranks = (int)ranks;
    p->s->counted = true;
    return true;
}

bool apply_one_per_node(struct parse *p, char *const *arg)
{
    (void)arg;
    p->s->per_node = 1;
    return true;
}

bool apply_universe(struct parse *p, char *const *arg)
{
    long size;
    if (!apply_number(p, arg[0], 1, 65536, &size))
        return false;
    p->o->universe = (int)size;
    return true;
}

bool apply_per_node(struct parse *p, char *const *arg)
{
    long ranks;
    if (!apply_number(p, arg[0], 1, 65536, &ranks))
        return false;
    p->s->per_node = (int)ranks;
    return true;
}

bool apply_genv(struct parse *p, char *const *arg)
{
    apply_set_variable(&p->o->env, arg[0], arg[1]);
    return true;
}

bool apply_env(struct parse *p, char *const *arg)
{
    apply_set_variable(&p->s->env, arg[0], arg[1]);
    return true;
}

/* For the only program. */
bool apply_envnone(struct parse *p, char *const *arg)
{
    (void)arg;
    p->s->env_clear = true;
    return true;
}

bool apply_genvnone(struct parse *p, char *const *arg)
{
    (void)arg;
    p->o->env_clear = true;
    return true;
}

/* Passes only the variables of the list that exist. */
static bool apply_list(struct parse *p, const char *list, struct settings *env)
{
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        char *name = parse_keep(p, pl_strndup(at, length));
        if (length > 0 && getenv(name))
            apply_set_variable(env, name, getenv(name));
        at += length + (at[length] == ',');
    }
    return true;
}

bool apply_genvlist(struct parse *p, char *const *arg)
{
    p->o->env_clear = true;
    return apply_list(p, arg[0], &p->o->env);
}

bool apply_envlist(struct parse *p, char *const *arg)
{
    p->s->env_clear = true;
    return apply_list(p, arg[0], &p->s->env);
}

bool apply_errhandler(struct parse *p, char *const *arg)
{
    static const char *const words[] = { "mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return", NULL };
    if (apply_word(arg[0], words) < 0 && !strstr(arg[0], "://"))
        return parse_fail(p,
                          "%s expects mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return, or a name such as "
                          "plenum://log, not \"%s\"",
                          p->name, arg[0]);
    apply_set_variable(&p->o->env, "PLENUM_INITIAL_ERRHANDLER", arg[0]);
    return true;
}

bool apply_recovery(struct parse *p, char *const *arg)
{
    (void)arg;
    p->o->keep_going = true;
    apply_set_variable(&p->o->env, "PLENUM_ERROR_RANGE", "local");
    return true;
}

bool apply_ft(struct parse *p, char *const *arg)
{
    static const char *const words[] = { "ulfm", "mpi", "yes", "true", "1", "none", "no", "false", "0", NULL };
    enum { NONE = 5 };
    int word = apply_word(arg[0], words);
    if (word < 0)
        return parse_fail(p, "%s expects ulfm or none, not \"%s\"", p->name, arg[0]);
    return word >= NONE || apply_recovery(p, arg);
}

bool apply_alloc_kinds(struct parse *p, char *const *arg)
{
    apply_set_variable(&p->o->env, "PLENUM_MEMORY_ALLOC_KINDS", arg[0]);
    return true;
}

bool apply_export(struct parse *p, char *const *arg)
{
    char *equal = strchr(arg[0], '=');
    if (equal == arg[0])
        return parse_fail(p, "%s expects NAME or NAME=VALUE, not \"%s\"", p->name, arg[0]);
    if (!equal) {
        if (!getenv(arg[0]))
            return parse_fail(p,
                              "%s expects NAME=VALUE, or the NAME of a variable that is set, not \"%s\": the "
                              "environment has no such variable",
                              p->name, arg[0]);
        apply_set_variable(&p->o->env, arg[0], getenv(arg[0])); /* takes effect also with --genvnone */
        return true;
    }
    apply_set_variable(&p->o->env, parse_keep(p, pl_strndup(arg[0], (size_t)(equal - arg[0]))), equal + 1);
    return true;
}

static bool apply_seconds(struct parse *p, const char *text, double least, long *milliseconds)
{
    char *end;
    double given = strtod(text, &end);
    if (end == text || *end || !(given >= least) || given > 2000000)
        return parse_fail(p, "%s expects a number of seconds%s up to 2000000, not \"%s\"", p->name,
                          least > 0 ? " above 0 and" : "", text);
    *milliseconds = given > 0 && given < 0.001 ? 1 : (long)(given * 1000);
    return true;
}

bool apply_timeout(struct parse *p, char *const *arg)
{
    return apply_seconds(p, arg[0], 1e-9, &p->o->timeout);
}

bool apply_heartbeat(struct parse *p, char *const *arg)
{
    return apply_seconds(p, arg[0], 0, &p->o->heartbeat);
}

bool apply_grace(struct parse *p, char *const *arg)
{
    p->o->grace_given = true;
    return apply_seconds(p, arg[0], 0, &p->o->grace);
}

static char *apply_copy(struct parse *p, const char *word, size_t length)
{
    char *copy = parse_keep(p, pl_strndup(word, length));
    if (copy)
        return copy;
    perror("mpiexec");
    exit(1);
}

/* Where a host is in the array, which moves as it grows. */
struct named_host {
    struct pl_table_node by_name;
    int index;
};

static struct host_option *apply_find_host(struct parse *p, const char *name, size_t length)
{
    struct options *o = p->o;
    uint64_t key = pl_hash_bytes(PL_HASH_BEGIN, name, length);
    PL_TABLE_EACH_OF(known, &o->host_by_name, key, struct named_host, by_name)
        if (strlen(o->host[known->index].name) == length && memcmp(o->host[known->index].name, name, length) == 0)
            return &o->host[known->index];
    struct named_host *named = parse_keep(p, parse_append(NULL, &(int){ 0 }, sizeof *named));
    named->index = o->host_count;
    pl_table_insert(&o->host_by_name, &named->by_name, key);
    o->host = parse_append(o->host, &o->host_count, sizeof *o->host);
    o->host[named->index].name = apply_copy(p, name, length);
    return &o->host[named->index];
}

/* Whether what follows the colon cannot belong to a name: addresses have several colons, and Open MPI knows ":*" and
 * ":auto", which are passed on. */
static bool apply_is_no_name(const char *host, const char *colon, size_t length)
{
    size_t rest = (size_t)(host + length - colon - 1);
    return memchr(host, ':', length) == colon && !(rest == 1 && colon[1] == '*') &&
           !(rest == 4 && strncasecmp(colon + 1, "auto", 4) == 0);
}

/* One host, optionally followed by a colon and slots. */
static bool apply_add_host(struct parse *p, const char *host, size_t length)
{
    size_t name = length;
    const char *colon = memrchr(host, ':', length);
    bool number = colon && colon + 1 + strspn(colon + 1, "0123456789") == host + length;
    if (colon && (number || apply_is_no_name(host, colon, length)) && !machine_is_this(host, length))
        name = (size_t)(colon - host);
    if (name == 0)
        return parse_fail(p, "%s expects names of hosts such as a,b:4, not \"%s\": a name is empty", p->name, p->value);
    long slots = name == length ? 1 : number ? strtol(colon + 1, NULL, 10) : 0;
    if (slots < 1 || slots > 65536 - p->o->slots)
        return parse_fail(p,
                          "%s expects names of hosts such as a,b:4, not \"%s\": the number of slots of %.*s must be "
                          "from 1 to 65536",
                          p->name, p->value, (int)length, host);
    p->o->slots += (int)slots;
    apply_find_host(p, host, name)->slots += (int)slots;
    p->o->host_word = parse_append(p->o->host_word, &p->o->host_words, sizeof *p->o->host_word);
    p->o->host_word[p->o->host_words - 1] = apply_copy(p, host, length);
    if (!p->o->elsewhere && !machine_is_this(host, name))
        p->o->elsewhere = parse_keep(p, pl_strndup(host, name));
    return true;
}

bool apply_host(struct parse *p, char *const *arg)
{
    for (const char *at = arg[0]; *at;) {
        size_t length = strcspn(at, ",");
        if (!apply_add_host(p, at, length))
            return false;
        at += length + (at[length] == ',');
    }
    return true;
}

/* Adds the number behind "slots=" in the rest of a line, which begins with the host. */
static bool apply_add_slots(struct parse *p, const char *host, size_t length)
{
    const char *rest = host + length;
    const char *found = strstr(rest, "slots=");
    while (found && found > rest && found[-1] != ' ' && found[-1] != '\t') /* max_slots= */
        found = strstr(found + 1, "slots=");
    long slots = found ? strtol(found + strlen("slots="), NULL, 10) : 1;
    if (slots < 1 || slots - 1 > 65536 - p->o->slots) /* the first one is counted */
        return parse_fail(p, "%s: \"%.*s\": the number of slots must be from 1 to 65536", p->name,
                          (int)strcspn(found, "\r\n"), found);
    p->o->slots += (int)slots - 1;
    if (slots > 1)
        apply_find_host(p, host, length)->slots += (int)slots - 1;
    return true;
}

/* Reads the name of each line and its slots. The rest is for the launcher that the file is passed to. */
bool apply_hostfile(struct parse *p, char *const *arg)
{
    char *line = NULL;
    size_t capacity = 0;
    bool good = true, named = false;
    FILE *file = fopen(arg[0], "re");
    if (!file)
        return parse_fail(p, "%s: cannot read \"%s\": %s", p->name, arg[0], strerror(errno));
    while (good && pl_getline(&line, &capacity, file) >= 0) {
        char *word = line + strspn(line, " \t");
        size_t length = strcspn(word, " \t\r\n#");
        named |= length > 0;
        good = length == 0 || (apply_add_host(p, word, length) && apply_add_slots(p, word, length));
    }
    bool failed = good && !feof(file);
    int why = errno;
    free(line);
    fclose(file);
    p->o->hostfile = arg[0];
    if (failed)
        return parse_fail(p, "%s: cannot read \"%s\": %s", p->name, arg[0], strerror(why));
    return !good || named ? good : parse_fail(p, "%s: \"%s\" names no host", p->name, arg[0]);
}

bool apply_launcher(struct parse *p, char *const *arg)
{
    static const char *const words[] = {
        "auto", "embedded", "slurm", "prte", "openmpi", "ssh", NULL
    }; /* as in enum launcher */
    int which = strcmp(arg[0], "fork") == 0 ? LAUNCHER_EMBEDDED : pl_words_find(words, arg[0]); /* fork: of MPICH */
    if (which >= 0) {
        p->o->launcher = (enum launcher)which;
        return true;
    }
    return parse_fail(p, "%s expects auto, embedded, ssh, slurm, prte or openmpi, not \"%s\"", p->name, arg[0]);
}

/* A soft request accepts fewer processes than -n. mpiexec always starts all, so it only checks the list. */
bool apply_soft(struct parse *p, char *const *arg)
{
    const char *at = arg[0];
    long triplet[3];
    do {
        if (!pl_triplet_read(&at, triplet) || triplet[0] < 0 || triplet[1] < 0 || (*at && *at != ','))
            return parse_fail(p, "%s expects triplets such as 2:8:2,16, not \"%s\"", p->name, arg[0]);
    } while (*at++ == ',');
    return true;
}

bool apply_stdin(struct parse *p, char *const *arg)
{
    long rank = strcmp(arg[0], "all") == 0 ? STDIN_ALL : -1;
    if (rank == -1 && strcmp(arg[0], "none") != 0 && !apply_number(p, arg[0], 0, 65535, &rank))
        return parse_fail(p, "%s expects the rank that gets standard input, or all, or none, not \"%s\"", p->name,
                          arg[0]);
    p->o->stdin_rank = (int)rank;
    p->o->stdin_given = true;
    return true;
}

bool apply_dry_run(struct parse *p, char *const *arg)
{
    p->o->dry_run = DRY_RUN_TEXT;
    if (!arg[0])
        return true;
    p->o->dry_run = strcmp(arg[0], "json") == 0 ? DRY_RUN_JSON : DRY_RUN_TEXT;
    return p->o->dry_run == DRY_RUN_JSON || strcmp(arg[0], "text") == 0 ||
           parse_fail(p, "--dry-run may be --dry-run=json or --dry-run=text, not \"%s\"", arg[0]);
}

bool apply_pmix(struct parse *p, char *const *arg)
{
    static const char *const words[] = { "off", "on", "auto", NULL }; /* as in enum plenum_pmix */
    int word = apply_word(arg[0], words);
    if (word < 0 || strchr(arg[0], ':'))
        return parse_fail(p, "%s expects auto, on or off, not \"%s\"", p->name, arg[0]);
    p->o->pmix = (enum plenum_pmix)word;
    p->o->pmix_given = true;
    return true;
}

bool apply_is_list(const char *text)
{
    struct pset_option list = { 0 };
    bool good = apply_ranges(text, &list);
    for (int i = 0; good && i < list.count; i++)
        good = list.ranges[i][1] < CPU_SETSIZE;
    free(list.ranges);
    return good;
}

/* main() keeps to them. */
bool apply_cpus(struct parse *p, char *const *arg)
{
    p->o->cpus = arg[0];
    return apply_is_list(arg[0]) || parse_fail(p, "%s expects processors, such as 0-3,8, not \"%s\"", p->name, arg[0]);
}

bool apply_pset(struct parse *p, char *const *arg)
{
    char *equal = strrchr(arg[0], '=');
    p->o->pset = parse_append(p->o->pset, &p->o->psets, sizeof *p->o->pset);
    struct pset_option *pset = &p->o->pset[p->o->psets - 1];
    if (!equal || equal == arg[0] || !apply_ranges(equal + 1, pset))
        return parse_fail(p, "%s expects NAME=RANKS with ranks such as 0-3,7, not \"%s\"", p->name, arg[0]);
    pset->name = parse_keep(p, pl_strndup(arg[0], (size_t)(equal - arg[0])));
    return true;
}

bool apply_configfile(struct parse *p, char *const *arg)
{
    char *text = NULL;
    size_t size = 0;
    int count = 0;
    FILE *file = fopen(arg[0], "r");
    if (!file)
        return parse_fail(p, "%s: cannot read \"%s\": %s", p->name, arg[0], strerror(errno));
    ssize_t length = pl_getdelim(&text, &size, '\0', file);
    bool failed = length < 0 && !feof(file);
    int why = errno;
    if (length < 0 && text)
        *text = '\0'; /* an empty file leaves it as it was allocated */
    fclose(file);
    parse_keep(p, text);
    if (failed)
        return parse_fail(p, "%s: cannot read \"%s\": %s", p->name, arg[0], strerror(why));
    if (p->depth >= 8)
        return parse_fail(p, "\"%s\": configuration files include each other too deeply", arg[0]);
    char **word = config_split(text, &count);
    if (!word)
        return parse_fail(p, "\"%s\": a quote is not closed", arg[0]);
    parse_keep(p, word);
    p->depth++;
    bool good = options_parse_words(p, count, word);
    p->depth--;
    return good;
}
