/* SPDX-License-Identifier: BSD-3-Clause */
/* See handover_prte.h. PRRTE is the launcher of Open MPI from version 5 on. */
#include "api/mpiexec/handover_prte.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/mpiexec/handover_words.h"
#include "api/mpiexec/rankfile.h"
#include "core/base/memory_libc.h"

extern char **environ;

static void prte_add_variables(struct handover *h, const struct settings *env)
{
    for (int i = 0; i < env->count; i++) {
        handover_add(h, "-x");
        handover_addf(h, "%s=%s", env->item[i].name, env->item[i].value);
    }
}

static bool prte_is_set(const struct settings *env, const char *name, size_t length)
{
    for (int i = 0; i < env->count; i++)
        if (strlen(env->item[i].name) == length && memcmp(env->item[i].name, name, length) == 0)
            return true;
    return false;
}

/* The launchers pass no variables to other machines by themselves. So the variables that the library reads, and
 * LD_LIBRARY_PATH, by which it is found, are passed explicitly. */
static void prte_add_own_variables(struct handover *h, const struct settings *set)
{
    for (char **at = environ; *at; at++) {
        size_t length = strcspn(*at, "=");
        bool wanted = strncmp(*at, "PLENUM_", 7) == 0 || strncmp(*at, "LD_LIBRARY_PATH=", 16) == 0;
        if (!wanted || prte_is_set(set, *at, length))
            continue;
        handover_add(h, "-x");
        handover_addf(h, "%.*s", (int)length, *at);
    }
}

/* Are ranks placed by sockets, NUMA nodes or caches? */
static bool prte_maps_by_object(const struct options *o)
{
    return o->section[0].per_place || o->map == PLENUM_MAP_SOCKET || o->map == PLENUM_MAP_NUMA ||
           o->map == PLENUM_MAP_L3CACHE;
}

/* Lists of cores that mean something else there, or with which they fail. The list is a mapping too. */
static const char *prte_refuses_list(const struct handover *h)
{
    const struct options *o = h->options;
    int ranks = 0;
    long last = -1;
    if (!o->cpu_list)
        return NULL;
    if (o->cpu_numbers)
        return "--bind-to user";
    if (o->map_given || o->section[0].per_node || o->rank_by != PLENUM_RANK_MAPPED || o->bind_count > 0)
        return "--cpu-list with --map-by and the like";
    for (int i = 0; i < o->sections; i++)
        ranks += o->section[i].ranks;
    if (o->cpu_ordered && ranks > rankfile_count(o->cpu_list))
        return "--bind-to cpulist:ordered for more processes than cores";
    for (const char *at = o->cpu_list; h->launcher == LAUNCHER_OPENMPI && o->cpu_ordered && *at;
         at += *at == ',' || *at == '-') {
        char *end;
        long number = strtol(at, &end, 10);
        if (number <= last)
            return "--bind-to cpulist:ordered with another order than that of the numbers";
        last = number;
        at = end;
    }
    return NULL;
}

/* What these launchers refuse with many lines, or take for something else. */
static const char *prte_refuses(const struct handover *h)
{
    const struct options *o = h->options;
    bool single = o->bind == PLENUM_BIND_CORE || o->bind == PLENUM_BIND_THREAD || o->bind == PLENUM_BIND_NONE;
    if (o->bind_count > 0 && !single)
        return "--cpus-per-proc with --bind-to socket or the like";
    const char *refused = prte_refuses_list(h);
    if (refused || h->launcher != LAUNCHER_PRTE)
        return refused;
    for (int i = 0; i < o->sections; i++)
        if (o->section[i].path && strchr(o->section[i].path, ':'))
            return "--path with several directories";
    return o->keep_going ? "--keep-going"
           : o->rank_by == PLENUM_RANK_SPAN && !prte_maps_by_object(o)
               ? "--rank-by span without --map-by socket or the like"
               : NULL;
}

/* PRRTE has another name for --report-bindings. */
static void prte_add_report(struct handover *h)
{
    if (!h->options->report_bindings)
        return;
    handover_add(h, h->launcher == LAUNCHER_PRTE ? "--display" : "--report-bindings");
    if (h->launcher == LAUNCHER_PRTE)
        handover_add(h, "bind");
}

/* Open MPI 4 has the name of the object in place of "span", and fills by default. PRRTE knows "fill" and "span" only
 * for mappings by objects; without these, a machine is filled in the order of the mapping. */
static void prte_add_ranking(struct handover *h)
{
    static const char *const words[] = { [PLENUM_RANK_SLOT] = "slot",
                                         [PLENUM_RANK_NODE] = "node",
                                         [PLENUM_RANK_FILL] = "fill",
                                         [PLENUM_RANK_SPAN] = "span" };
    const struct options *o = h->options;
    const char *word = words[o->rank_by];
    if (!word)
        return;
    if (o->rank_by == PLENUM_RANK_FILL && (h->launcher == LAUNCHER_OPENMPI || !prte_maps_by_object(o)))
        word = "slot";
    if (h->launcher == LAUNCHER_OPENMPI && o->rank_by == PLENUM_RANK_SPAN)
        word = o->map == PLENUM_MAP_NUMA ? "numa:span" : o->map == PLENUM_MAP_L3CACHE ? "l3cache:span" : "socket:span";
    handover_add(h, "--rank-by");
    handover_add(h, word);
}

/* As they were given. The caller frees the list. */
static char *prte_list_hosts(const struct options *o)
{
    char *list = NULL;
    FILE *out = pl_text_open(&list);
    for (int i = 0; out && i < o->host_words; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", o->host_word[i]);
    if (!out || fclose(out) != 0) {
        perror("mpiexec");
        exit(1);
    }
    return list;
}

static void prte_add_hosts(struct handover *h)
{
    const struct options *o = h->options;
    if (o->hostfile) {
        handover_add(h, "--hostfile");
        handover_add(h, o->hostfile);
    } else if (o->host_count > 0) {
        char *list = prte_list_hosts(o);
        handover_add(h, "--host");
        handover_addf(h, "%s", list);
        free(list);
    }
}

/* PRRTE takes a file name with a dash for something else, and a colon or comma for its end. */
static void prte_add_rankfile(struct handover *h)
{
    const char *file = h->options->rankfile;
    int fd = h->launcher == LAUNCHER_PRTE && strpbrk(file, "-:,") ? open(file, O_RDONLY) : -1; /* inherited */
    handover_add(h, h->launcher == LAUNCHER_PRTE ? "--map-by" : "--oversubscribe");
    if (h->launcher == LAUNCHER_OPENMPI)
        handover_add(h, "--rankfile");
    if (h->launcher == LAUNCHER_OPENMPI)
        handover_add(h, file);
    else if (fd >= 0)
        handover_addf(h, "rankfile:file=/proc/self/fd/%d", fd);
    else
        handover_addf(h, "rankfile:file=%s", file);
    prte_add_report(h);
}

static void prte_add_list(struct handover *h)
{
    const struct options *o = h->options;
    if (h->launcher == LAUNCHER_PRTE) {
        char *each = rankfile_each(o->cpu_list, "", ',');
        handover_add(h, "--map-by");
        handover_addf(h, "pe-list=%s:%s", each, o->cpu_ordered ? "ordered" : "OVERSUBSCRIBE");
        free(each);
    } else {
        handover_add(h, "--oversubscribe");
        handover_add(h, "--cpu-list");
        handover_add(h, o->cpu_list);
        handover_add(h, "--bind-to");
        handover_add(h, o->cpu_ordered ? "cpulist:ordered" : "cpulist");
    }
    prte_add_report(h);
}

static void prte_add_placement(struct handover *h)
{
    static const char *const bind[] = {
        [PLENUM_BIND_NONE] = "none", [PLENUM_BIND_CORE] = "core",       [PLENUM_BIND_SOCKET] = "socket",
        [PLENUM_BIND_NUMA] = "numa", [PLENUM_BIND_THREAD] = "hwthread", [PLENUM_BIND_L3CACHE] = "l3cache"
    };
    const struct options *o = h->options;
    bool prte = h->launcher == LAUNCHER_PRTE;
    const char *socket = prte ? "package" : "socket";
    int per_node = o->section[0].per_node;
    const char *map = o->map == PLENUM_MAP_SOCKET    ? socket
                      : o->map == PLENUM_MAP_NUMA    ? "numa"
                      : o->map == PLENUM_MAP_NODE    ? "node"
                      : o->map == PLENUM_MAP_L3CACHE ? "l3cache"
                                                     : "slot";
    if (o->rankfile || o->cpu_list) { /* they also bind */
        (o->rankfile ? prte_add_rankfile : prte_add_list)(h);
        return prte_add_hosts(h);
    }
    const char *place = o->section[0].place == PLENUM_BIND_SOCKET ? socket : bind[o->section[0].place];
    handover_add(h, "--map-by"); /* mpiexec always allows more processes than slots */
    char cores[32] = "";
    if (o->bind_count > 0 && o->bind != PLENUM_BIND_NONE)
        snprintf(cores, sizeof cores, "PE=%ld:", o->bind_count);
    if (per_node)
        handover_addf(h, "ppr:%d:node:%sOVERSUBSCRIBE", per_node, cores);
    else if (o->section[0].per_place)
        handover_addf(h, "ppr:%d:%s:%sOVERSUBSCRIBE", o->section[0].per_place, place, cores);
    else
        handover_addf(h, "%s:%sOVERSUBSCRIBE", map, cores);
    prte_add_ranking(h);
    handover_add(h, "--bind-to");
    handover_add(h, !o->bind_given ? "none" : o->bind == PLENUM_BIND_SOCKET ? socket : bind[o->bind]);
    prte_add_report(h);
    prte_add_hosts(h);
}

static const char *prte_add_output(struct handover *h)
{
    const struct options *o = h->options;
    bool prte = h->launcher == LAUNCHER_PRTE;
    if (o->out_pattern || o->err_pattern)
        return o->out_pattern ? "--outfile-pattern" : "--errfile-pattern";
    if (o->output && strstr(o->output, "%r"))
        return "--output-filename with %r";
    if (prte && (o->tag || o->output)) {
        handover_add(h, "--output");
        handover_addf(h, "%s%s%s%s", o->tag ? "tag" : "", o->tag && o->output ? "," : "", o->output ? "dir=" : "",
                      o->output ? o->output : "");
        return NULL;
    }
    if (o->tag)
        handover_add(h, "--tag-output");
    if (o->output) {
        handover_add(h, "--output-filename");
        handover_add(h, o->output);
    }
    return NULL;
}

static void prte_add_section(struct handover *h, const struct section *s)
{
    if (s->counted || (!s->per_node && !s->per_place)) {
        handover_add(h, "-np");
        handover_addf(h, "%d", s->ranks);
    }
    if (s->wdir) {
        handover_add(h, "--wdir");
        handover_add(h, s->wdir);
    }
    if (s->path) {
        handover_add(h, "--path");
        handover_add(h, s->path);
    }
    prte_add_variables(h, &s->env);
    for (int i = 0; i < s->argc; i++)
        handover_add(h, s->argv[i]);
}

const char *handover_words_prte(struct handover *h)
{
    const struct options *o = h->options;
    const char *refused = handover_words_common(h);
    refused = refused ? refused : prte_refuses(h);
    if (refused)
        return refused;
    for (int i = 1; i < o->sections; i++)
        if (o->section[i].per_node != o->section[0].per_node)
            return "-N for one of several programs";
    if (geteuid() == 0)
        handover_add(h, "--allow-run-as-root");
    if (o->keep_going)
        handover_add(h, "--enable-recovery");
    if (o->timeout) {
        handover_add(h, "--timeout");
        handover_addf(h, "%ld", (o->timeout + 999) / 1000);
    }
    if (o->stdin_given) {
        handover_add(h, "--stdin");
        handover_addf(h, o->stdin_rank == STDIN_ALL ? "all" : o->stdin_rank < 0 ? "none" : "%d", o->stdin_rank);
    }
    refused = o->gpus > 0 ? "--gpus-per-task" : prte_add_output(h);
    prte_add_placement(h);
    for (int i = 0; i < o->sections; i++) {
        if (i > 0)
            handover_add(h, ":");
        prte_add_variables(h, &o->env); /* each program has its own list there */
        prte_add_own_variables(h, &o->env);
        prte_add_section(h, &o->section[i]);
    }
    return refused;
}
