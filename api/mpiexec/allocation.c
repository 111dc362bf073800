/* SPDX-License-Identifier: BSD-3-Clause */
/* See allocation.h. Each batch system tells its machines in another form; all become a list as for --host. */
#include "api/mpiexec/allocation.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/mpiexec/apply.h"
#include "api/mpiexec/machine.h"
#include "core/base/memory_libc.h"

enum { NAME_SIZE = 256, HOSTS_MAX = 65536 };

/* A list that grows. */
struct list {
    FILE *out;
    int count;
};

static void list_add(struct list *list, const char *name, size_t length, long slots)
{
    if (list->count < HOSTS_MAX)
        fprintf(list->out, "%s%.*s:%ld", list->count ? "," : "", (int)length, name, slots);
    list->count++;
}

/* --- Slurm ----------------------------------------------------------------------------------------------------- */

struct counts {
    const char *at; /* the next of "2(x3),1"; NULL: each has 1 */
    long value, left;
};

static long counts_next(struct counts *c)
{
    char *end;
    if (!c->at)
        return 1;
    if (c->left == 0 && isdigit((unsigned char)*c->at)) {
        c->value = strtol(c->at, &end, 10);
        c->left = strncmp(end, "(x", 2) == 0 ? strtol(end + 2, &end, 10) : 1;
        c->at = end + (*end == ')');
        c->at += *c->at == ',';
    }
    c->left -= c->left > 0;
    return c->value > 0 ? c->value : 1;
}

/* All names of one element of the list, whose brackets are replaced one after the other. False: it is malformed. */
static bool slurm_expand(struct list *list, const char *element, struct counts *counts)
{
    const char *open = strchr(element, '['), *close = open ? strchr(open, ']') : NULL;
    if (!open && element[0])
        list_add(list, element, strlen(element), counts_next(counts));
    if (!open || !close)
        return !open && element[0];
    for (const char *at = open + 1; at < close;) {
        char *end, name[NAME_SIZE];
        unsigned long first = strtoul(at, &end, 10), last = first;
        int width = (int)(end - at);
        if (width == 0 || !isdigit((unsigned char)*at))
            return false;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last < first || last - first >= HOSTS_MAX || (*end != ',' && end != close))
            return false;
        for (unsigned long n = first; n <= last; n++) {
            int length =
                snprintf(name, sizeof name, "%.*s%0*lu%s", (int)(open - element), element, width, n, close + 1);
            if (length >= (int)sizeof name || list->count >= HOSTS_MAX || !slurm_expand(list, name, counts))
                return false;
        }
        at = end + (*end == ',');
    }
    return true;
}

/* The length of the first element: commas in brackets are its own. */
static size_t slurm_element(const char *nodes)
{
    size_t length = 0;
    for (int depth = 0; nodes[length] && (nodes[length] != ',' || depth); length++)
        depth += (nodes[length] == '[') - (nodes[length] == ']');
    return length;
}

char *allocation_slurm(const char *nodes, const char *counts)
{
    char *text = NULL;
    struct list list = { .out = pl_text_open(&text) };
    struct counts each = { .at = counts };
    bool good = list.out != NULL;
    while (good && *nodes) {
        size_t length = slurm_element(nodes);
        char *element = pl_strndup(nodes, length);
        good = element && slurm_expand(&list, element, &each);
        free(element);
        nodes += length + (nodes[length] == ',');
    }
    if (list.out)
        fclose(list.out);
    if (good && list.count > 0)
        return text;
    free(text);
    return NULL;
}

/* Processes on each node if their number was given to Slurm, otherwise the processors. */
static char *allocation_of_slurm(const char *nodes)
{
    const char *counts = getenv(getenv("SLURM_NTASKS") ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE");
    return allocation_slurm(nodes, counts);
}

int allocation_slurm_slots(int otherwise)
{
    const char *nodes = getenv("SLURM_JOB_NODELIST");
    if (!nodes)
        return otherwise;
    char *hosts = allocation_of_slurm(nodes);
    long slots = 0;
    for (const char *at = hosts; at && slots <= INT_MAX && (at = strchr(at, ':')); at++) {
        long more = strtol(at + 1, NULL, 10);
        slots += more < INT_MAX ? more : INT_MAX;
    }
    free(hosts);
    return slots <= INT_MAX ? (int)slots : 0;
}

/* --- the others -------------------------------------------------------------------------------------------------- */

/* A line for each machine or slot; in Grid Engine the second word is the number of slots. */
static char *allocation_of_file(const char *path)
{
    char *text = NULL, *line = NULL;
    size_t capacity = 0;
    struct list list = { 0 };
    FILE *file = fopen(path, "re");
    list.out = file ? pl_text_open(&text) : NULL;
    while (list.out && pl_getline(&line, &capacity, file) >= 0) {
        size_t length = strcspn(line, " \t\r\n");
        long slots = strtol(line + length, NULL, 10);
        if (length > 0)
            list_add(&list, line, length, slots > 0 ? slots : 1);
    }
    if (list.out)
        fclose(list.out);
    if (file)
        fclose(file);
    free(line);
    return text;
}

/* A word for each slot. */
static char *allocation_of_words(const char *words)
{
    char *text = NULL;
    struct list list = { .out = pl_text_open(&text) };
    while (list.out && *(words += strspn(words, " "))) {
        size_t length = strcspn(words, " ");
        list_add(&list, words, length, 1);
        words += length;
    }
    if (list.out)
        fclose(list.out);
    return text;
}

static const struct system {
    const char *variable;
    char *(*read)(const char *value); /* the hosts; the caller frees them. NULL or "": there are none */
} systems[] = {
    { "SLURM_JOB_NODELIST", allocation_of_slurm },
    { "PBS_NODEFILE", allocation_of_file },
    { "PE_HOSTFILE", allocation_of_file },
    { "LSB_HOSTS", allocation_of_words },
};

/* Is a machine in the list that is not this one? Batch systems may add the domain. */
static bool allocation_is_elsewhere(const char *hosts)
{
    while (*hosts) {
        size_t length = strcspn(hosts, ",");
        if (!machine_is_this(hosts, strcspn(hosts, ":")) && !machine_is_this(hosts, strcspn(hosts, ":.")))
            return true;
        hosts += length + (hosts[length] == ',');
    }
    return false;
}

static bool allocation_apply(struct parse *p, const struct system *system, char *hosts)
{
    p->name = system->variable;
    p->value = hosts;
    p->o->allocation = system == systems ? ALLOCATION_SLURM : ALLOCATION_OTHER;
    return apply_host(p, &hosts);
}

bool allocation_take(struct parse *p)
{
    const struct options *o = p->o;
    bool chosen = o->launcher == LAUNCHER_SSH || (o->launcher == LAUNCHER_AUTO && o->launcher_exec);
    if (o->host_count > 0 || (!chosen && (o->launcher != LAUNCHER_AUTO || getenv("PLENUM_JOB"))))
        return true;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        const char *value = getenv(systems[i].variable);
        if (!value || !*value)
            continue;
        if (!chosen && i == 0)
            return true;
        char *hosts = parse_keep(p, systems[i].read(value));
        if (!hosts || !*hosts)
            return chosen ? parse_fail(p, "%s: cannot read the hosts of \"%.200s\"", systems[i].variable, value) : true;
        return chosen || allocation_is_elsewhere(hosts) ? allocation_apply(p, &systems[i], hosts) : true;
    }
    return true;
}
