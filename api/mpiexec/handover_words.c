/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See handover_words.h. Options about mpiexec's own way of running a job (--grace, --pmix) are dropped with a note.
 * Options without which the job would be a different one are refused.
 */
#include "api/mpiexec/handover_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/mpiexec/allocation.h"
#include "api/mpiexec/parse.h"
#include "api/mpiexec/rankfile.h"
#include "core/base/memory_libc.h"

void handover_add(struct handover *h, const char *word)
{
    int count = h->count + 1; /* with the NULL */
    if (!h->word)
        h->word = parse_append(NULL, &(int){ 0 }, sizeof *h->word);
    h->word = parse_append(h->word, &count, sizeof *h->word);
    h->word[h->count++] = word;
}

void handover_addf(struct handover *h, const char *format, ...)
{
    char *word;
    va_list args;
    va_start(args, format);
    int length = pl_vasprintf(&word, format, args);
    va_end(args);
    if (length < 0) {
        perror("mpiexec");
        exit(1);
    }
    h->kept = parse_append(h->kept, &h->kept_count, sizeof *h->kept);
    h->kept[h->kept_count - 1] = word;
    handover_add(h, word);
}

static void handover_words_note(struct handover *h, bool given, const char *option)
{
    size_t used = strlen(h->not_passed);
    if (given)
        snprintf(h->not_passed + used, sizeof h->not_passed - used, "%s%s", used ? ", " : "", option);
}

const char *handover_words_common(struct handover *h)
{
    const struct options *o = h->options;
    const struct {
        bool given;
        const char *option;
    } own[] = {
        { o->job, "--job" },
        { o->psets, "--pset" },
        { o->json_events, "--json-events" },
        { o->prefix, "--prepend-pattern" },
        { o->timestamp, "--timestamp-output" },
        { o->cpus, "--cpu-set" },
        { o->universe, "--usize" },
        { o->env_clear, "--genvnone" },
        { o->stop_on_exec, "--stop-on-exec" },
    };
    handover_words_note(h, o->grace_given, "--grace");
    handover_words_note(h, o->buffered, "--buffered");
    handover_words_note(h, o->display_map, "--display-map");
    handover_words_note(h, o->pmix_given, "--pmix");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].given)
            return own[i].option;
    return NULL;
}

/* --- Slurm ------------------------------------------------------------------------------------------------- */

/* Translates our pattern of a file name to srun's, where %t stands for the rank. */
static void slurm_add_pattern(struct handover *h, const char *option, const char *pattern, const char *tail)
{
    char name[4096];
    size_t used = 0;
    for (const char *at = pattern; *at && used + 3 < sizeof name; at++) {
        bool special = *at == '%' && (at[1] == 'r' || at[1] == '%');
        name[used++] = *at;
        if (special)
            name[used++] = *++at == 'r' ? 't' : '%';
    }
    name[used] = '\0';
    handover_addf(h, "--%s=%s%s", option, name, tail);
}

static void slurm_add_output(struct handover *h)
{
    const struct options *o = h->options;
    bool one_file = o->output && strstr(o->output, "%r");
    if (one_file)
        slurm_add_pattern(h, "output", o->output, "");
    else if (o->output) {
        if (!o->dry_run)
            mkdir(o->output, 0777); /* srun reports a failure */
        slurm_add_pattern(h, "output", o->output, "/rank.%t.out");
        slurm_add_pattern(h, "error", o->output, "/rank.%t.err");
    }
    if (o->out_pattern)
        slurm_add_pattern(h, "output", o->out_pattern, "");
    if (o->err_pattern)
        slurm_add_pattern(h, "error", o->err_pattern, "");
}

/* The tasks of a node take the processors of the list in turn. */
static void slurm_add_processors(struct handover *h)
{
    char *each = rankfile_each(h->options->cpu_list, "", ',');
    handover_addf(h, "--cpu-bind=%smap_cpu:%s", h->options->report_bindings ? "verbose," : "", each);
    free(each);
}

static int slurm_count_given(const struct options *o)
{
    int ranks = 0;
    for (int i = 0; i < o->sections; i++)
        ranks += o->section[i].ranks;
    return ranks;
}

/* Of an allocation srun would take the number of tasks that was given to it, whatever -N says. 0: srun counts. */
static int slurm_count_ranks(const struct options *o)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES");
    const struct section *s = &o->section[0];
    if (o->sections > 1 || s->counted)
        return slurm_count_given(o);
    if (s->per_node)
        return s->per_node * (o->host_count ? o->host_count : nodes ? (int)strtol(nodes, NULL, 10) : 0);
    return o->host_count ? s->ranks : allocation_slurm_slots(s->ranks);
}

/* Linux takes words of less than 128 KiB. */
enum { SLURM_LIST_MAX = 100 << 10 };

/* The first names of the hosts, each host once or, if `each`, as often as it has slots. The caller frees the list.
 * NULL: out of memory. */
static char *slurm_list(const struct host_option *host, int names, bool each)
{
    char *list = NULL;
    FILE *out = pl_text_open(&list);
    for (int i = 0, slot = 0, n = 0; out && n < names; n++) {
        fprintf(out, "%s%s", n > 0 ? "," : "", host[i].name);
        slot = each ? (slot + 1) % host[i].slots : 0;
        i += slot == 0;
    }
    if (out)
        fclose(out);
    return list;
}

/* As a memory file that srun inherits, with one name in a line: srun takes a list with a slash for a file's name. NULL,
 * or what cannot be passed on. */
static const char *slurm_add_file(struct handover *h, const char *list)
{
    int fd = memfd_create("mpiexec", 0);
    FILE *file = fd < 0 ? NULL : fdopen(dup(fd), "w");
    if (!file)
        return "the list of hosts (out of memory)";
    for (; *list; list++)
        putc(*list == ',' ? '\n' : *list, file);
    putc('\n', file);
    bool whole = fclose(file) == 0;
    lseek(fd, 0, SEEK_SET);
    handover_addf(h, "--nodelist=/proc/self/fd/%d", fd);
    return whole ? NULL : "the list of hosts (out of memory)";
}

/* NULL, or what cannot be passed on. The list is freed; a distribution of NULL is that of Slurm. */
static const char *slurm_add_list(struct handover *h, const char *distribution, int nodes, char *list)
{
    if (!list)
        return "the list of hosts (out of memory)";
    if (distribution)
        handover_addf(h, "--distribution=%s", distribution);
    handover_addf(h, "--nodes=%d", nodes);
    const char *refused = NULL;
    if (strlen(list) <= SLURM_LIST_MAX)
        handover_addf(h, "--nodelist=%s", list);
    else
        refused = slurm_add_file(h, list);
    free(list);
    return refused;
}

/* As many ranks on each host as it has slots, as mpiexec itself places them: a list with a name for each rank. If that
 * would be too long, the number of ranks on each host, if it is the same on all. */
static const char *slurm_add_each(struct handover *h, int ranks)
{
    const struct options *o = h->options;
    int first = 0, count = 0, left = ranks;
    size_t length = 0;
    bool equal = true;
    while (first < o->host_count && o->host[first].slots < ranks)
        first++;
    const struct host_option *host = &o->host[first < o->host_count ? first : 0];
    for (; left > 0; count++) {
        int here = host[count].slots < left ? host[count].slots : left;
        length += (size_t)here * (strlen(host[count].name) + 1);
        equal = equal && here == (ranks < host->slots ? ranks : host->slots);
        left -= here;
    }
    if (length <= SLURM_LIST_MAX)
        return slurm_add_list(h, "arbitrary", count, slurm_list(host, ranks, true));
    const char *distribution = equal && !o->map_given ? "block" : NULL; /* srun sorts the hosts in both cases */
    const char *refused = slurm_add_list(h, distribution, count, slurm_list(host, count, false));
    if (equal && !refused)
        handover_addf(h, "--ntasks-per-node=%d", ranks / count);
    return refused;
}

static const char *slurm_add_hosts(struct handover *h)
{
    const struct options *o = h->options;
    int ranks = slurm_count_given(o);
    if (o->map == PLENUM_MAP_SLOT && !o->section[0].per_node && ranks <= o->slots)
        return slurm_add_each(h, ranks);
    return slurm_add_list(h, NULL, o->host_count, slurm_list(o->host, o->host_count, false));
}

static const char *slurm_add_placement(struct handover *h)
{
    static const char *const bind[] = { [PLENUM_BIND_NONE] = "none",
                                        [PLENUM_BIND_CORE] = "cores",
                                        [PLENUM_BIND_SOCKET] = "sockets",
                                        [PLENUM_BIND_NUMA] = "ldoms",
                                        [PLENUM_BIND_THREAD] = "threads" };
    const struct options *o = h->options;
    if (o->map_given && (o->map == PLENUM_MAP_NUMA || o->map == PLENUM_MAP_L3CACHE))
        return o->map == PLENUM_MAP_NUMA ? "--map-by numa" : "--map-by l3cache";
    if (o->rankfile || (o->cpu_list && !o->cpu_numbers)) /* srun takes the kernel's numbers only */
        return o->rankfile ? "--rankfile" : "--cpu-list";
    if (o->bind_given && o->bind == PLENUM_BIND_L3CACHE)
        return "--bind-to l3cache";
    bool mapped = o->rank_by == PLENUM_RANK_MAPPED || (o->rank_by == PLENUM_RANK_SLOT && o->map != PLENUM_MAP_NODE);
    if (!mapped && !(o->rank_by == PLENUM_RANK_NODE && o->map == PLENUM_MAP_NODE))
        return o->section[0].per_place ? "--map-by ppr" : "--rank-by";
    if (o->map_given)
        handover_addf(h, "--distribution=%s:%s", o->map == PLENUM_MAP_NODE ? "cyclic" : "block",
                      o->map == PLENUM_MAP_SOCKET ? "cyclic" : "block");
    if (o->cpu_list)
        slurm_add_processors(h);
    else if (o->bind_given || o->report_bindings)
        handover_addf(h, "--cpu-bind=%s%s", o->report_bindings ? "verbose," : "",
                      bind[o->bind_given ? o->bind : PLENUM_BIND_NONE]);
    if (o->bind_count > 0)
        handover_addf(h, "--cpus-per-task=%ld", o->bind_count);
    if (o->gpus > 0)
        handover_addf(h, "--gpus-per-task=%d", o->gpus);
    const char *refused = o->host_count ? slurm_add_hosts(h) : NULL;
    if (o->section[0].per_node)
        handover_addf(h, "--ntasks-per-node=%d", o->section[0].per_node);
    return refused;
}

static const char *slurm_check_sections(struct handover *h)
{
    const struct options *o = h->options;
    const struct section *first = &o->section[0];
    for (int i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        if (s->path)
            return "--path";
        if (s->per_place && !s->counted)
            return "--map-by ppr without -n";
        if (s->env.count && o->sections > 1)
            return "--env for one of several programs";
        if (i > 0 && s->per_node != first->per_node)
            return "-N for one of several programs";
        if ((s->wdir != NULL) != (first->wdir != NULL) || (s->wdir && strcmp(s->wdir, first->wdir) != 0))
            return "--wdir for one of several programs";
    }
    return NULL;
}

/* srun's file for several programs has its own quoting: a backslash before each special character. */
static void slurm_write_argument(FILE *file, const char *word)
{
    for (putc(' ', file); *word; word++) {
        if (strchr(" \t\\'\"%#", *word))
            putc('\\', file);
        putc(*word, file);
    }
}

/* Writes "0-2 ./ocean ..." for each program to a memory file that srun inherits, so no file can be left behind. */
static const char *slurm_add_programs(struct handover *h)
{
    const struct options *o = h->options;
    if (o->sections == 1) {
        for (int i = 0; i < o->section[0].argc; i++)
            handover_add(h, o->section[0].argv[i]);
        return NULL;
    }
    int fd = memfd_create("mpiexec", 0), rank = 0;
    FILE *file = fd < 0 ? NULL : fdopen(dup(fd), "w");
    if (!file)
        return "several programs (out of memory for their list)";
    for (int i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        fprintf(file, s->ranks > 1 ? "%d-%d" : "%d", rank, rank + s->ranks - 1);
        rank += s->ranks;
        for (int a = 0; a < s->argc; a++) {
            if (!s->argv[a][0] || strchr(s->argv[a], '\n')) {
                fclose(file);
                return "an argument of one of several programs that is empty or has a line break";
            }
            slurm_write_argument(file, s->argv[a]);
        }
        putc('\n', file);
    }
    fclose(file);
    handover_add(h, "--multi-prog");
    handover_addf(h, "/proc/self/fd/%d", fd);
    return NULL;
}

/* PMIx, unless this Slurm has PMI-2 instead. */
static const char *slurm_choose_interface(void)
{
    char line[256];
    bool pmix = false, pmi2 = false;
    FILE *list = popen("srun --mpi=list 2>&1", "re");
    while (list && fgets(line, sizeof line, list)) {
        pmix |= strstr(line, "pmix") != NULL;
        pmi2 |= strstr(line, "pmi2") != NULL;
    }
    if (list)
        pclose(list);
    return pmi2 && !pmix ? "--mpi=pmi2" : "--mpi=pmix";
}

const char *handover_words_slurm(struct handover *h)
{
    const struct options *o = h->options;
    const char *refused = handover_words_common(h);
    refused = refused ? refused : slurm_check_sections(h);
    if (refused)
        return refused;
    int ranks = slurm_count_ranks(o);
    handover_add(h, slurm_choose_interface());
    handover_add(h, "--overcommit"); /* mpiexec always allows more processes than processors */
    if (ranks > 0)
        handover_addf(h, "--ntasks=%d", ranks);
    handover_add(h, o->keep_going ? "--kill-on-bad-exit=0" : "--kill-on-bad-exit=1");
    if (o->stdin_given && o->stdin_rank < 0)
        handover_add(h, o->stdin_rank == STDIN_ALL ? "--input=all" : "--input=none");
    else
        handover_addf(h, "--input=%d", o->stdin_given ? o->stdin_rank : 0);
    if (o->section[0].wdir)
        handover_addf(h, "--chdir=%s", o->section[0].wdir);
    if (o->timeout)
        handover_addf(h, "--time=%ld:%02ld", (o->timeout + 999) / 60000, (o->timeout + 999) / 1000 % 60);
    if (o->tag)
        handover_add(h, "--label");
    if (o->quiet)
        handover_add(h, "--quiet");
    slurm_add_output(h);
    refused = slurm_add_placement(h);
    for (int i = 0; i < o->env.count; i++) /* srun passes its whole environment on */
        setenv(o->env.item[i].name, o->env.item[i].value, 1);
    for (int i = 0; i < o->section[0].env.count; i++)
        setenv(o->section[0].env.item[i].name, o->section[0].env.item[i].value, 1);
    return refused ? refused : slurm_add_programs(h);
}
