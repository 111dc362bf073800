/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table by 64-bit keys. It is intrusive: an item contains its node, so an insertion never fails.
 *
 *     struct peer { struct pl_table_node by_id; ... };
 *     struct pl_table peers = { 0 };
 *
 *     pl_table_insert(&peers, &peer->by_id, id);
 *     struct peer *found = PL_TABLE_FIND(&peers, id, struct peer, by_id);
 *
 * Keys need not be unique: items of one key stay in the order of their insertion, and PL_TABLE_EACH_OF walks them. That
 * serves queues per key, and items whose real key is longer than 64 bits.
 *
 * The table grows with its items. When memory runs out it keeps the buckets that it has, and its chains get longer.
 * The first PL_TABLE_FEW items need no memory besides the table. Finding takes a multiplication and a walk along one
 * chain, whose average length is at most 1; removing needs no search. Keys need not be random.
 *
 * A table of zeros is empty. It must not be moved once something was inserted. No locking.
 */
#ifndef PLENUM_CORE_BASE_TABLE_H
#define PLENUM_CORE_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/list.h"

enum { PL_TABLE_FEW_BITS = 3, PL_TABLE_FEW = 1 << PL_TABLE_FEW_BITS };

struct pl_table_node {
    struct pl_list link;
    uint64_t key;
};

struct pl_table {
    struct pl_list *buckets;          /* [1 << (64 - shift)] of pl_table_node.link; NULL: nothing was inserted yet */
    unsigned shift;                   /* what a product is shifted by to become the index of a bucket */
    size_t count;                     /* nodes in the table; callers may read it */
    size_t limit;                     /* the table grows before it has more nodes */
    struct pl_list few[PL_TABLE_FEW]; /* the first buckets */
};

/* For a node that may be removed without ever having been inserted. */
static inline void pl_table_node_init(struct pl_table_node *node)
{
    pl_list_init(&node->link);
}

/* Fibonacci hashing: the upper bits of the product depend on all bits of the key. */
static inline struct pl_list *pl_table_bucket(const struct pl_table *table, uint64_t key)
{
    return &table->buckets[key * UINT64_C(0x9e3779b97f4a7c15) >> table->shift];
}

static inline struct pl_table_node *pl_table_scan(const struct pl_list *before, const struct pl_list *end, uint64_t key)
{
    for (struct pl_list *link = before->next; link != end; link = link->next)
        if (PL_CONTAINER(link, struct pl_table_node, link)->key == key)
            return PL_CONTAINER(link, struct pl_table_node, link);
    return NULL;
}

/* The first node that was inserted with this key; NULL: there is none. */
static inline struct pl_table_node *pl_table_find(const struct pl_table *table, uint64_t key)
{
    if (table->count == 0)
        return NULL;
    const struct pl_list *bucket = pl_table_bucket(table, key);
    return pl_table_scan(bucket, bucket, key);
}

/* The next node with the key of this one, in the order of insertion; NULL: it was the last one. */
static inline struct pl_table_node *pl_table_find_next(const struct pl_table *table, const struct pl_table_node *node)
{
    return pl_table_scan(&node->link, pl_table_bucket(table, node->key), node->key);
}

/* For pl_table_insert(). */
PL_COLD void pl_table_grow(struct pl_table *table);

/* Behind all nodes with the same key. The node must not be in a table. */
static inline void pl_table_insert(struct pl_table *table, struct pl_table_node *node, uint64_t key)
{
    if (pl_unlikely(table->count >= table->limit))
        pl_table_grow(table);
    node->key = key;
    pl_list_append(pl_table_bucket(table, key), &node->link);
    table->count++;
}

/* Does nothing with a node that was removed already. */
static inline void pl_table_remove(struct pl_table *table, struct pl_table_node *node)
{
    if (pl_list_empty(&node->link))
        return;
    pl_list_remove(&node->link);
    table->count--;
}

/* Frees the buckets and leaves an empty table. The items are the caller's. A node that was still in the table must not
 * be removed from it any more. */
void pl_table_fini(struct pl_table *table);

/* All nodes, in no order: the first one, and the one after a node. NULL: there are no more. */
struct pl_table_node *pl_table_first(const struct pl_table *table);
struct pl_table_node *pl_table_after(const struct pl_table *table, const struct pl_table_node *node);

/* --- items ------------------------------------------------------------------------------------------------------ */

static inline void *pl_table_item(struct pl_table_node *node, size_t offset)
{
    return node ? (char *)node - offset : NULL;
}

/* The first item with a key; NULL: there is none. */
#define PL_TABLE_FIND(table, key, type, member)                                                                        \
    ((type *)pl_table_item(pl_table_find(table, key), offsetof(type, member)))

/* For every item, and for every item with a key. The current item may be removed inside the loop; no other may, and
 * nothing may be inserted. */
#define PL_TABLE_EACH(item, table, type, member)                                                                       \
    for (type *item = pl_table_item(pl_table_first(table), offsetof(type, member)), *item##_next;                      \
         item && (item##_next = pl_table_item(pl_table_after(table, &item->member), offsetof(type, member)), true);    \
         item = item##_next)
#define PL_TABLE_EACH_OF(item, table, key, type, member)                                                               \
    for (type *item = PL_TABLE_FIND(table, key, type, member), *item##_next;                                           \
         item &&                                                                                                       \
         (item##_next = pl_table_item(pl_table_find_next(table, &item->member), offsetof(type, member)), true);        \
         item = item##_next)

#endif
