/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport to oneself: order, rendezvous, truncation, cancelled and withdrawn messages, sends from callbacks. */
#include "transport_node.h"
#include "unit.h"

extern const struct pl_transport_ops pl_transport_self;
static const struct pl_transport_ops *const ops = &pl_transport_self;

enum { LARGE = 100000 };
static struct node *node;
static struct pl_endpoint *endpoint;
static unsigned char received[2 * LARGE];

static void setup(void)
{
    node = node_open(ops, 7);
    endpoint = node_connect(node, node->card, node->card_length);
}

static void teardown(void)
{
    NODE_UNTIL(node, NULL, ops->flushed(node->self));
    ops->disconnect(endpoint);
    node_close(node);
}

START_TEST(sizes_and_shapes)
{
    static const struct pl_type *const types[] = { &node_solid, &node_holes };
    static const size_t sizes[] = { 0, 1, 8, 100, 4095, 4096, 4097, LARGE };
    setup();
    for (unsigned i = 0; i < 8 * 4; i++) {
        size_t bytes = sizes[i / 4];
        struct message *message = message_send(node, endpoint, i, bytes, types[i & 1]);
        struct pl_header header = node_take(node, NULL, received, bytes, types[i >> 1 & 1]);
        ck_assert_uint_eq(header.size, bytes);
        ck_assert(node_intact(received, bytes, (size_t)types[i >> 1 & 1]->extent, i));
        NODE_UNTIL(node, NULL, message_done(message));
        message_free(message);
    }
    teardown();
}
END_TEST

START_TEST(synchronous_is_rndv)
{
    setup();
    struct message *message = calloc(1, sizeof *message);
    message->out.header = (struct pl_header){ .flags = PL_FLAG_SYNC };
    message->out.data = node_cursor(NULL, 0, &node_solid);
    ck_assert_int_eq(ops->send(endpoint, &message->out), PL_PENDING);
    for (int i = 0; i < 10; i++)
        ops->progress(node->self);
    ck_assert(!message_done(message)); /* not before it is matched */
    node_take(node, NULL, received, 0, &node_solid);
    NODE_UNTIL(node, NULL, message_done(message));
    message_free(message);
    teardown();
}
END_TEST

START_TEST(truncated)
{
    setup();
    struct message *message = message_send(node, endpoint, 1, LARGE, &node_solid);
    memset(received, 0xee, sizeof received);
    node_take(node, NULL, received, 1000, &node_solid);
    ck_assert(node_intact(received, 1000, 1, 1));
    ck_assert_uint_eq(received[1000], 0xee);
    NODE_UNTIL(node, NULL, message_done(message));
    message_free(message);
    teardown();
}
END_TEST

static struct arrival *next_arrival(void)
{
    NODE_UNTIL(node, NULL, !pl_list_empty(&node->inbox));
    return PL_CONTAINER(pl_list_pop(&node->inbox), struct arrival, link);
}

START_TEST(dropped_and_withdrawn)
{
    setup();
    struct message *message[3];
    for (unsigned i = 0; i < 3; i++)
        message[i] = message_send(node, endpoint, i, LARGE, &node_solid);
    struct arrival *dropped = next_arrival(), *cancelled = next_arrival(), *withdrawn = next_arrival();
    ops->drop(node->self, dropped->rndv, false);
    NODE_UNTIL(node, NULL, message_done(message[0]));
    ops->drop(node->self, cancelled->rndv, true);
    ck_assert(ops->withdraw(endpoint, &message[1]->out));
    ck_assert(ops->withdraw(endpoint, &message[2]->out)); /* while it waits to be received */
    struct pl_incoming incoming = { .data = node_cursor(received, LARGE, &node_solid) };
    ck_assert_int_gt(ops->fetch(node->self, withdrawn->rndv, &incoming), MPI_SUCCESS);
    struct message *early = message_send(node, endpoint, 4, LARGE, &node_solid);
    ck_assert(ops->withdraw(endpoint, &early->out)); /* before it has even arrived */
    for (int i = 0; i < 10; i++)
        ops->progress(node->self);
    ck_assert_uint_eq(node->sent, 1);
    ck_assert_uint_eq(node->arrived, 3);
    for (int i = 0; i < 3; i++)
        message_free(message[i]);
    message_free(early);
    free(dropped), free(cancelled), free(withdrawn);
    teardown();
}
END_TEST

/* Every arrival sends the next message: the stack stays flat, and the order is kept. */
static unsigned chain;
static int depth, deepest;
static void answer(struct node *to, const struct pl_origin *from, const struct pl_header *header, const void *data,
                   struct pl_rndv *rndv)
{
    (void)from, (void)rndv;
    if (++depth > deepest)
        deepest = depth;
    ck_assert_int_eq(header->tag, (int)chain);
    ck_assert(node_intact(data, header->size, 1, chain));
    if (++chain < 1000)
        message_free(message_send(to, endpoint, chain, chain, &node_solid));
    depth--;
}

START_TEST(chain_of_answers)
{
    setup();
    node->on_arrival = answer;
    message_free(message_send(node, endpoint, 0, 0, &node_solid));
    NODE_UNTIL(node, NULL, chain == 1000);
    ck_assert_int_eq(deepest, 1);
    teardown();
}
END_TEST

START_TEST(other_engines_address)
{
    setup();
    uint64_t other = 8;
    struct pl_endpoint *none;
    ck_assert_int_eq(ops->connect(node->self, &other, sizeof other, NULL, &none), PL_UNREACHABLE);
    ck_assert_int_eq(ops->connect(node->self, &other, 3, NULL, &none), PL_UNREACHABLE);
    teardown();
}
END_TEST

/* Closing drops what is still queued. */
START_TEST(closed_with_messages)
{
    setup();
    struct message *message = message_send(node, endpoint, 1, LARGE, &node_solid);
    struct message *behind = message_send(node, endpoint, 2, 10, &node_solid);
    ops->disconnect(endpoint);
    node_close(node);
    message_free(message);
    message_free(behind);
}
END_TEST

UNIT_MAIN("self", sizes_and_shapes, synchronous_is_rndv, truncated, dropped_and_withdrawn, chain_of_answers,
          other_engines_address, closed_with_messages)
