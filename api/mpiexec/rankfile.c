/* SPDX-License-Identifier: BSD-3-Clause */
/* See rankfile.h. The library knows the lists of cores (plenum_job_place()), which are those of Open MPI. */
#include "api/mpiexec/rankfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/mpiexec/machine.h"
#include "core/base/memory_libc.h"

/* The host of a line: a name, or +nN for one of those that --host names, or * for any. */
static bool rankfile_host(struct parse *p, const char *host)
{
    struct place_option *place = &p->o->place[p->o->places - 1];
    if (strcmp(host, "*") != 0)
        place->host = parse_keep(p, pl_strdup(host));
    if (place->host && host[0] != '+' && !p->o->elsewhere && !machine_is_this(host, strlen(host)))
        p->o->elsewhere = place->host;
    return true;
}

/* "rank 3=host slot=0-2"; blanks may be around the first equals sign. */
static bool rankfile_line(struct parse *p, const char *line)
{
    char host[256], slots[256];
    int rank, used = 0;
    if (sscanf(line, " rank %5d = %255s slot = %255[^ \t\r\n#] %n", &rank, host, slots, &used) != 3 ||
        (line[used] && line[used] != '#') || rank < 0 || rank > 65535)
        return parse_fail(p, "%s: \"%.*s\" is not a line such as: rank 0=localhost slot=0-2", p->value,
                          (int)strcspn(line, "\r\n"), line);
    for (int i = 0; i < p->o->places; i++)
        if (p->o->place[i].rank == rank)
            return parse_fail(p, "%s: rank %d is there twice", p->value, rank);
    p->o->place = parse_append(p->o->place, &p->o->places, sizeof *p->o->place);
    p->o->place[p->o->places - 1] = (struct place_option){ rank, parse_keep(p, pl_strdup(slots)), NULL };
    return rankfile_host(p, host);
}

bool rankfile_apply(struct parse *p, const char *name)
{
    char *line = NULL;
    size_t capacity = 0;
    bool good = true;
    FILE *file = fopen(name, "re");
    if (!file)
        return parse_fail(p, "%s: cannot read \"%s\": %s", p->name, name, strerror(errno));
    p->value = name;
    p->o->places = 0; /* of two files the second one counts */
    while (good && pl_getline(&line, &capacity, file) >= 0) {
        const char *word = line + strspn(line, " \t\r\n");
        good = !*word || *word == '#' || rankfile_line(p, word);
    }
    bool failed = good && !feof(file);
    int why = errno;
    free(line);
    fclose(file);
    if (failed)
        return parse_fail(p, "%s: cannot read \"%s\": %s", p->name, name, strerror(why));
    if (good && p->o->places == 0)
        return parse_fail(p, "%s: \"%s\" has no line such as: rank 0=localhost slot=0-2", p->name, name);
    p->o->rankfile = name;
    return good;
}

static bool rankfile_has(const struct options *o, int rank)
{
    for (int i = 0; i < o->places; i++)
        if (o->place[i].rank == rank)
            return true;
    return false;
}

/* Each rank of the job has a line. */
static bool rankfile_check(struct parse *p)
{
    int ranks = 0;
    for (int i = 0; i < p->o->sections; i++)
        ranks += p->o->section[i].ranks;
    for (int r = 0; p->o->places && !p->o->job && r < ranks; r++)
        if (!rankfile_has(p->o, r))
            return parse_fail(p, "\"%s\" has no line for rank %d", p->o->rankfile, r);
    return true;
}

bool rankfile_end(struct parse *p)
{
    struct options *o = p->o;
    if (o->rankfile && o->cpu_list)
        return parse_fail(p, "--rankfile and --cpu-list both say to which cores the ranks are bound");
    if (o->cpu_wanted && !o->cpu_list)
        return parse_fail(p, "--bind-to cpulist needs the processors: --cpu-list 0,1");
    int last = -1;
    for (int i = 0; i < o->places; i++)
        last = o->place[i].rank > last ? o->place[i].rank : last;
    struct section *s = &o->section[0];
    if (last >= 0 && !o->job && o->sections == 1 && !s->counted && !s->per_node && !s->per_place) {
        s->ranks = last + 1;
        s->counted = true;
    }
    return rankfile_check(p);
}

bool rankfile_add_hosts(struct parse *p)
{
    struct options *o = p->o;
    if (o->host_count > 0 || !o->elsewhere)
        return true;
    for (int i = 0; i < o->places; i++)
        if (o->place[i].host && o->place[i].host[0] != '+' &&
            !apply_host(p, (char *const[]){ (char *)o->place[i].host }))
            return false;
    return true;
}

/* --- places as the library takes them ------------------------------------------------------------------------ */

/* The name that --host and the like have for a host; NULL: they do not name it. */
static const char *rankfile_find_host(const struct options *o, const char *name)
{
    int number, used = 0;
    if (sscanf(name, "+n%5d%n", &number, &used) == 1 && !name[used])
        return number >= 0 && number < o->host_count ? o->host[number].name : NULL;
    bool here = machine_is_this(name, strlen(name));
    for (int i = 0; i < o->host_count; i++)
        if (strcmp(o->host[i].name, name) == 0 || (here && machine_is_this(o->host[i].name, strlen(o->host[i].name))))
            return o->host[i].name;
    return NULL;
}

bool rankfile_find_hosts(struct options *o, char *error, size_t size)
{
    for (int i = 0; i < o->places; i++) {
        struct place_option *place = &o->place[i];
        const char *name = place->host;
        place->host = name ? rankfile_find_host(o, name) : NULL;
        if (name && !place->host) {
            snprintf(error, size, "\"%s\" puts rank %d on %s, which is not one of the %d hosts that are named",
                     o->rankfile, place->rank, name, o->host_count);
            return false;
        }
    }
    return true;
}

int rankfile_count(const char *list)
{
    long count = 0;
    for (const char *at = list; *at; at += *at == ',') {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        count += last - first + 1;
        at = end;
    }
    return (int)count;
}

char *rankfile_each(const char *list, const char *before, char between)
{
    char *text = NULL;
    FILE *out = pl_text_open(&text);
    for (const char *at = list; out && *at; at += *at == ',') {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long item = first; item <= last; item++)
            fprintf(out, "%s%ld%.1s", before, item, item < last || *end ? (char[]){ between, 0 } : "");
        at = end;
    }
    if (!out || fclose(out) != 0 || !text) {
        perror("mpiexec");
        exit(1);
    }
    return text;
}

int rankfile_describe(struct plenum_job *job, const struct options *o, bool on_hosts)
{
    int err = PLENUM_OK;
    for (int i = 0; !err && i < o->places; i++) {
        err = plenum_job_place(job, o->place[i].rank, o->place[i].cores);
        if (!err && on_hosts)
            err = plenum_job_host(job, o->place[i].rank, o->place[i].host);
    }
    if (err || !o->cpu_list)
        return err;
    char *each = o->cpu_ordered ? rankfile_each(o->cpu_list, o->cpu_numbers ? "p" : "", ' ') : NULL;
    err = plenum_job_place(job, PLENUM_ALL, each ? each : o->cpu_list);
    free(each);
    return err;
}

int rankfile_find_cores(const struct plenum_job *job, const struct options *o)
{
    bool named = o->places > 0 || o->cpu_list; /* then rank 0 has cores, unless those of some rank are not there */
    return named && plenum_job_cpus(job, 0, NULL, 0) == 0 ? PLENUM_ERR_ARGUMENT : PLENUM_OK;
}

void rankfile_print(const struct options *o)
{
    for (int i = 0; i < o->places; i++)
        if (o->place[i].host)
            printf("rank %d: cores %s of %s\n", o->place[i].rank, o->place[i].cores, o->place[i].host);
        else
            printf("rank %d: cores %s\n", o->place[i].rank, o->place[i].cores);
}
