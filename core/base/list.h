/* SPDX-License-Identifier: BSD-3-Clause */
/* Intrusive doubly linked lists. A list head is a node; an empty list points to itself. No locking. */
#ifndef PLENUM_CORE_BASE_LIST_H
#define PLENUM_CORE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct pl_list {
    struct pl_list *next, *prev;
};

#define PL_CONTAINER(node, type, member) ((type *)((char *)(node)-offsetof(type, member)))

/* For every element; the current one may be removed inside the loop. */
#define PL_LIST_EACH(item, head, type, member)                                                                         \
    for (type *item = PL_CONTAINER((head)->next, type, member), *item##_next;                                          \
         item##_next = PL_CONTAINER(item->member.next, type, member), &item->member != (head); item = item##_next)

static inline void pl_list_init(struct pl_list *head)
{
    head->next = head->prev = head;
}

static inline bool pl_list_empty(const struct pl_list *head)
{
    return head->next == head;
}

static inline void pl_list_append(struct pl_list *head, struct pl_list *node)
{
    node->next = head;
    node->prev = head->prev;
    head->prev->next = node;
    head->prev = node;
}

static inline void pl_list_push(struct pl_list *head, struct pl_list *node)
{
    pl_list_append(head->next, node);
}

/* Removing twice is harmless: a removed node is an empty list. */
static inline void pl_list_remove(struct pl_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->next = node->prev = node;
}

static inline struct pl_list *pl_list_pop(struct pl_list *head)
{
    struct pl_list *node = head->next;
    if (node == head)
        return NULL;
    pl_list_remove(node);
    return node;
}

/* Makes `to` the head of all of `from`'s elements, and `from` empty. */
static inline void pl_list_move(struct pl_list *to, struct pl_list *from)
{
    pl_list_init(to);
    if (pl_list_empty(from))
        return;
    *to = *from;
    to->next->prev = to->prev->next = to;
    pl_list_init(from);
}

#endif
