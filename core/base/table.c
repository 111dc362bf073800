/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing, walking and ending of hash tables. */
#include "core/base/table.h"

#include "core/base/memory.h"

static size_t table_bucket_count(const struct pl_table *table)
{
    return (size_t)1 << (64 - table->shift);
}

static void table_use_buckets(struct pl_table *table, struct pl_list *buckets, unsigned bits)
{
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        pl_list_init(&buckets[i]);
    table->buckets = buckets;
    table->shift = 64 - bits;
    table->limit = (size_t)1 << bits;
}

/* Nodes with the same key share a bucket before and after, and move in order: so their order stays. */
static void table_refill(struct pl_table *table, struct pl_list *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        PL_LIST_EACH(node, &from[i], struct pl_table_node, link)
            pl_list_append(pl_table_bucket(table, node->key), &node->link);
}

/* After a failure the next attempt comes at twice as many nodes, not at every insertion. */
void pl_table_grow(struct pl_table *table)
{
    if (!table->buckets) {
        table_use_buckets(table, table->few, PL_TABLE_FEW_BITS);
        return;
    }
    struct pl_list *from = table->buckets;
    size_t old = table_bucket_count(table);
    unsigned bits = 64 - table->shift;
    while ((size_t)1 << bits <= table->count)
        bits++;
    struct pl_list *more = pl_malloc(((size_t)1 << bits) * sizeof *more);
    if (!more) {
        table->limit *= 2;
        return;
    }
    table_use_buckets(table, more, bits);
    table_refill(table, from, old);
    if (from != table->few)
        free(from);
}

void pl_table_fini(struct pl_table *table)
{
    if (table->buckets != table->few)
        free(table->buckets);
    table->buckets = NULL;
    table->count = table->limit = 0;
}

/* The first node in this bucket or in one behind it. */
static struct pl_table_node *table_first_from(const struct pl_table *table, size_t bucket)
{
    for (; bucket < table_bucket_count(table); bucket++)
        if (!pl_list_empty(&table->buckets[bucket]))
            return PL_CONTAINER(table->buckets[bucket].next, struct pl_table_node, link);
    return NULL;
}

struct pl_table_node *pl_table_first(const struct pl_table *table)
{
    return table->count ? table_first_from(table, 0) : NULL;
}

struct pl_table_node *pl_table_after(const struct pl_table *table, const struct pl_table_node *node)
{
    const struct pl_list *bucket = pl_table_bucket(table, node->key);
    if (node->link.next != bucket)
        return PL_CONTAINER(node->link.next, struct pl_table_node, link);
    return table_first_from(table, (size_t)(bucket - table->buckets) + 1);
}
