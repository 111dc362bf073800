/* SPDX-License-Identifier: BSD-3-Clause */
/* Two connected nodes in one process, and messages from the first to the second. */
#ifndef PLENUM_TESTS_TRANSPORT_PAIR_H
#define PLENUM_TESTS_TRANSPORT_PAIR_H

#include "transport_node.h"

enum { LARGEST = 1 << 20 };

static struct node *a, *b;
static struct pl_endpoint *ab, *ba;
static unsigned char *received; /* [2 * LARGEST + 64], a receive buffer */

/* Uses the settings of transport_node.h. */
static inline void pair_open(const struct pl_transport_ops *ops)
{
    received = malloc(2 * LARGEST + 64);
    a = node_open(ops, 0xa1);
    b = node_open(ops, 0xb2);
    ab = node_connect(a, b->card, b->card_length);
    ba = node_connect(b, a->card, a->card_length);
}

static inline void close_pair(void)
{
    bool done_a = false, done_b = false;
    NODE_UNTIL(a, b, (done_a = a->ops->flushed(a->self), done_b = b->ops->flushed(b->self), done_a && done_b));
    ck_assert_uint_eq(a->failed + b->failed, 0);
    a->ops->disconnect(ab);
    b->ops->disconnect(ba);
    node_close(a);
    node_close(b);
    free(received);
}

static inline void one_message(size_t bytes, unsigned seed, const struct pl_type *from, const struct pl_type *to)
{
    struct message *message = message_send(a, ab, seed, bytes, from);
    ck_assert_int_eq(message->out.rndv, bytes > (size_t)node_eager);
    struct pl_header header = node_take(b, a, received, bytes, to);
    ck_assert_uint_eq(header.size, bytes);
    ck_assert_int_eq(header.tag, (int)seed);
    ck_assert_msg(node_intact(received, bytes, (size_t)to->extent, seed), "%zu bytes damaged", bytes);
    NODE_UNTIL(a, b, message_done(message));
    message_free(message);
}

#endif
