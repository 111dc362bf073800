/* SPDX-License-Identifier: BSD-3-Clause */
/* See mapping.h. The text is walked twice: for the node of the rank, and for the ranks of that node. */
#include "plugins/pmi/mapping.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* A place in the walk: the next rank has node `node`. */
struct walk {
    const char *first, *next; /* blocks */
    int start, nodes, ranks;  /* of this block */
    int node, rank_of_node;   /* offsets in it */
};

/* Reads the next block; after the last one the first one again. */
static bool walk_read_block(struct walk *w)
{
    int bytes = 0;
    w->next += *w->next == ',';
    if (*w->next != '(')
        w->next = w->first;
    w->node = w->rank_of_node = 0;
    if (sscanf(w->next, "(%d,%d,%d)%n", &w->start, &w->nodes, &w->ranks, &bytes) != 3 || bytes == 0)
        return false;
    w->next += bytes;
    return w->start >= 0 && w->nodes > 0 && w->ranks > 0 && w->start <= INT_MAX - w->nodes;
}

static bool walk_begin(struct walk *w, const char *mapping)
{
    static const char head[] = "(vector,";
    *w = (struct walk){ 0 };
    if (strncmp(mapping, head, sizeof head - 1) != 0)
        return false;
    w->first = w->next = mapping + sizeof head - 1;
    return walk_read_block(w);
}

/* The node of the next rank; -1: the text is damaged. */
static int walk_step(struct walk *w)
{
    if (w->node == w->nodes && !walk_read_block(w))
        return -1;
    int node = w->start + w->node;
    if (++w->rank_of_node == w->ranks) {
        w->rank_of_node = 0;
        w->node++;
    }
    return node;
}

static int mapping_node_of(const char *mapping, int rank)
{
    struct walk w;
    int node = walk_begin(&w, mapping) ? 0 : -1;
    for (int i = 0; node >= 0 && i <= rank; i++)
        node = walk_step(&w);
    return node;
}

char *pl_pmi_mapping_local(const char *mapping, int rank, int size, int *count)
{
    struct walk w;
    int node = mapping_node_of(mapping, rank);
    char *list = node >= 0 && walk_begin(&w, mapping) ? pl_malloc((size_t)size * 12 + 1) : NULL;
    size_t used = 0;
    *count = 0;
    for (int i = 0; list && i < size; i++) {
        int at = walk_step(&w);
        if (at < 0) {
            free(list);
            return NULL;
        }
        if (at == node)
            used += (size_t)sprintf(list + used, "%s%d", (*count)++ ? "," : "", i);
    }
    return list;
}
