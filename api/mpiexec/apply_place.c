/* SPDX-License-Identifier: BSD-3-Clause */
/* The options about where processes run: what they are bound to, in which order, and with which GPUs. See apply.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/mpiexec/apply.h"
#include "api/mpiexec/rankfile.h"
#include "core/base/memory_libc.h"

/* A word behind a colon. Open MPI has PE=N, and others that have no effect here; MPICH a number behind --bind-to. */
static bool apply_qualifier(struct parse *p, const char *word, bool number)
{
    static const char *const known[] = {
        "oversubscribe", "nooversubscribe", "overload-allowed", "no-overload", "if-supported", "span", "hwtcpus",
        "corecpus",      "inherit",         "noinherit",        NULL
    };
    if (strncasecmp(word, "pe=", 3) == 0)
        return apply_number(p, word + 3, 1, 65536, &p->o->bind_count);
    if (number && *word && !word[strspn(word, "0123456789")])
        return apply_number(p, word, 1, 65536, &p->o->bind_count);
    return apply_word(word, known) >= 0;
}

/* The words behind the first colon; colons, or commas, are between them. */
static bool apply_qualifiers(struct parse *p, const char *text, bool number)
{
    const char *at = strchr(text, ':');
    while (at) {
        size_t length = strcspn(++at, ":,");
        const char *word = parse_keep(p, pl_strndup(at, length));
        if (!word || !apply_qualifier(p, word, number))
            return false;
        at = at[length] ? at + length : NULL;
    }
    return true;
}

bool apply_cores(struct parse *p, char *const *arg)
{
    return apply_number(p, arg[0], 1, 65536, &p->o->bind_count);
}

bool apply_gpus(struct parse *p, char *const *arg)
{
    long gpus;
    if (!apply_number(p, arg[0], 1, 65536, &gpus))
        return false;
    p->o->gpus = (int)gpus;
    return true;
}

bool apply_rankfile(struct parse *p, char *const *arg)
{
    return rankfile_apply(p, arg[0]);
}

/* "0,2-3" */
bool apply_cpu_list(struct parse *p, char *const *arg)
{
    p->o->cpu_list = arg[0];
    return apply_is_list(arg[0]) || parse_fail(p, "%s expects cores, such as 0-3,8, not \"%s\"", p->name, arg[0]);
}

/* Open MPI: cpulist, or cpulist:ordered, for --cpu-list. MPICH: user:0,1 are the processors of rank 0 and rank 1. */
static bool apply_bind_list(struct parse *p, const char *text)
{
    struct options *o = p->o;
    bool user = strncasecmp(text, "user:", 5) == 0 && apply_is_list(text + 5);
    bool plain = strcasecmp(text, "cpulist") == 0 || strcasecmp(text, "cpu-list") == 0;
    bool ordered = strcasecmp(text, "cpulist:ordered") == 0 || strcasecmp(text, "cpu-list:ordered") == 0;
    if (user)
        o->cpu_list = text + 5;
    if (user || plain || ordered) {
        o->cpu_wanted = true;
        o->cpu_ordered = !plain;
        o->cpu_numbers = user;
    }
    return o->cpu_wanted;
}

bool apply_bind(struct parse *p, char *const *arg)
{
    static const char *const words[] = { "none",    "core",   "socket",  "numa", "hwthread",
                                         "package", "thread", "l3cache", NULL };
    static const enum plenum_bind meaning[] = { PLENUM_BIND_NONE,   PLENUM_BIND_CORE,   PLENUM_BIND_SOCKET,
                                                PLENUM_BIND_NUMA,   PLENUM_BIND_THREAD, PLENUM_BIND_SOCKET,
                                                PLENUM_BIND_THREAD, PLENUM_BIND_L3CACHE };
    bool bare = arg[0][0] == ':'; /* Open MPI: nothing but qualifiers */
    int word = apply_word(arg[0], words);
    if (word < 0 && apply_bind_list(p, arg[0]))
        return true;
    if ((word < 0 && !bare) || !apply_qualifiers(p, arg[0], !bare))
        return parse_fail(p, "%s expects none, core, hwthread, l3cache, socket or numa, not \"%s\"", p->name, arg[0]);
    if (bare)
        return true;
    p->o->bind = meaning[word];
    p->o->bind_given = true;
    return true;
}

/* "ppr:N:" before the resource: N processes for each. The rest of the text; NULL: it is something else. */
static const char *apply_per_resource(struct parse *p, const char *text)
{
    int ranks, used = 0;
    if (strncasecmp(text, "ppr:", 4) != 0)
        return text;
    if (sscanf(text + 4, "%d:%n", &ranks, &used) != 1 || used == 0 || ranks < 1 || ranks > 65536)
        return NULL;
    text += 4 + used;
    if (strcspn(text, ":") == 4 && strncasecmp(text, "node", 4) == 0)
        p->s->per_node = ranks;
    else
        p->s->per_place = ranks;
    return text;
}

bool apply_map(struct parse *p, char *const *arg)
{
    static const char *const words[] = { "slot",   "core",    "hwthread", "seq",     "node",
                                         "socket", "package", "numa",     "l3cache", NULL };
    static const struct {
        enum plenum_map map;
        enum plenum_bind place;
    } meaning[] = { { PLENUM_MAP_SLOT, PLENUM_BIND_CORE },      { PLENUM_MAP_SLOT, PLENUM_BIND_CORE },
                    { PLENUM_MAP_SLOT, PLENUM_BIND_THREAD },    { PLENUM_MAP_SLOT, PLENUM_BIND_CORE },
                    { PLENUM_MAP_NODE, PLENUM_BIND_CORE },      { PLENUM_MAP_SOCKET, PLENUM_BIND_SOCKET },
                    { PLENUM_MAP_SOCKET, PLENUM_BIND_SOCKET },  { PLENUM_MAP_NUMA, PLENUM_BIND_NUMA },
                    { PLENUM_MAP_L3CACHE, PLENUM_BIND_L3CACHE } };
    const char *file = strchr(arg[0], '=');
    if (file && strncasecmp(arg[0], "rankfile:file=", 14) == 0)
        return rankfile_apply(p, parse_keep(p, pl_strndup(file + 1, strcspn(file + 1, ":,"))));
    const char *text = apply_per_resource(p, arg[0]);
    bool bare = text == arg[0] && text[0] == ':'; /* Open MPI: nothing but qualifiers */
    int word = text ? apply_word(text, words) : -1;
    if ((word < 0 && !bare) || !apply_qualifiers(p, text, false))
        return parse_fail(p,
                          "%s expects slot, core, hwthread, l3cache, node, socket or numa, or ppr:N: before one, not "
                          "\"%s\"",
                          p->name, arg[0]);
    if (bare)
        return true;
    p->s->place = meaning[word].place;
    p->o->map = text == arg[0] || meaning[word].map != PLENUM_MAP_NODE ? meaning[word].map : PLENUM_MAP_SLOT;
    p->o->map_given = true;
    return true;
}

bool apply_byslot(struct parse *p, char *const *arg)
{
    (void)arg;
    return apply_map(p, (char *const[]){ (char *)"slot" });
}

bool apply_bynode(struct parse *p, char *const *arg)
{
    (void)arg;
    return apply_map(p, (char *const[]){ (char *)"node" });
}

/* Open MPI: also binds to the socket. */
bool apply_per_socket(struct parse *p, char *const *arg)
{
    long ranks;
    if (!apply_number(p, arg[0], 1, 65536, &ranks) || !apply_map(p, (char *const[]){ (char *)"socket" }))
        return false;
    p->s->per_place = (int)ranks;
    if (p->o->bind_given)
        return true;
    return apply_bind(p, (char *const[]){ (char *)"socket" });
}

/* The words of Open MPI 5; and of Open MPI 4, which ranks from the objects of a machine in turn. */
bool apply_rank(struct parse *p, char *const *arg)
{
    static const char *const words[] = { "slot",   "core",    "hwthread", "node",    "fill", "span",
                                         "socket", "package", "numa",     "l3cache", NULL };
    static const enum plenum_rank meaning[] = { PLENUM_RANK_SLOT, PLENUM_RANK_SLOT, PLENUM_RANK_SLOT, PLENUM_RANK_NODE,
                                                PLENUM_RANK_FILL, PLENUM_RANK_SPAN, PLENUM_RANK_SPAN, PLENUM_RANK_SPAN,
                                                PLENUM_RANK_SPAN, PLENUM_RANK_SPAN };
    static const char *const qualifiers[] = { "span", NULL };
    int word = apply_word(arg[0], words);
    const char *colon = strchr(arg[0], ':');
    if (word < 0 || (colon && apply_word(colon + 1, qualifiers) < 0))
        return parse_fail(p, "%s expects slot, node, fill or span, not \"%s\"", p->name, arg[0]);
    p->o->rank_by = meaning[word];
    return true;
}
