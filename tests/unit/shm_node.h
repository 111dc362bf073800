/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of the node transport: nodes with a small ring, and access to their insides. */
#ifndef PLENUM_TESTS_SHM_NODE_H
#define PLENUM_TESTS_SHM_NODE_H

#include "transport_node.h"

#include "plugins/shm/shm_peer.h"

static const struct pl_transport_ops *const ops = &pl_transport_shm;

enum { EAGER = 4096, LARGE = 300000 };

static inline struct node *node_new(uint64_t id)
{
    node_ring = 16384;
    node_eager = EAGER;
    return node_open(ops, id);
}

static inline struct pl_endpoint *node_join(struct node *from, struct node *to)
{
    return node_connect(from, to->card, to->card_length);
}

static inline struct pl_shm *inside(struct node *node)
{
    return node->self;
}

static inline void progress(struct node *node, int rounds)
{
    for (int i = 0; i < rounds; i++)
        ops->progress(node->self);
}

/* Checks the peers now, not when it is time again. */
static inline void check_peers(struct node *node)
{
    inside(node)->checked = 0;
    pl_shm_peers_check(inside(node));
    progress(node, 3);
}

static inline void exchange_one(struct node *from, struct pl_endpoint *endpoint, struct node *to, size_t bytes,
                                unsigned seed)
{
    static unsigned char data[LARGE];
    struct message *message = message_send(from, endpoint, seed, bytes, &node_solid);
    struct pl_header header = node_take(to, from, data, bytes, &node_solid);
    ck_assert_int_eq(header.tag, (int)seed);
    ck_assert(node_intact(data, bytes, 1, seed));
    NODE_UNTIL(from, to, message_done(message));
    message_free(message);
}

#endif
