/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCX transport alone: messages between two nodes in one process. */
#include "ucx_node.h"

/* Sizes around every limit, with the data of either side in one run or with holes. */
START_TEST(test_sizes)
{
    static const size_t limits[] = { 8, 64, 128, 256, 1024, 4096, 8192, 8256, 16384, 65536, 131072, 262144, LARGEST };
    static const struct pl_type *const types[] = { &node_solid, &node_holes };
    open_pair(_i);
    one_message(0, 1, &node_solid, &node_solid);
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
        for (size_t bytes = limits[l] - 1; bytes <= limits[l] + 1; bytes++)
            for (unsigned kind = 0; kind < 4; kind++)
                if (bytes <= LARGEST)
                    one_message(bytes, (unsigned)bytes + kind, types[kind & 1], types[kind >> 1]);
    close_pair();
}
END_TEST

/* A receiver checks the number and the content of each message when it arrives. */
static unsigned long expected_a, expected_b;

static void in_order(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data,
                     struct pl_rndv *rndv)
{
    unsigned long *expected = node == a ? &expected_a : &expected_b;
    ck_assert_uint_eq(from->engine, node == a ? b->id : a->id);
    ck_assert_uint_eq((unsigned)header->tag, (unsigned)*expected);
    ck_assert_uint_eq(header->size, size_of(*expected));
    unsigned seed = (unsigned)(*expected)++;
    if (!rndv) {
        ck_assert_msg(node_intact(data, header->size, 1, seed), "message %u of %zu bytes damaged", seed,
                      (size_t)header->size);
        return;
    }
    struct arrival *arrival = calloc(1, sizeof *arrival);
    arrival->header = *header;
    arrival->rndv = rndv;
    pl_list_append(&node->inbox, &arrival->link);
}

static void fetch_all(struct node *node, struct node *other, size_t leave)
{
    size_t waiting = 0;
    PL_LIST_EACH(arrival, &node->inbox, struct arrival, link)
        waiting += arrival != NULL;
    for (; waiting > leave; waiting--) {
        struct pl_header header = node_take(node, other, received, 2 * LARGEST, &node_solid);
        ck_assert(node_intact(received, header.size, 1, (unsigned)header.tag));
    }
}

/* Both directions at once; up to ten rendezvous messages wait while later messages overtake them. */
START_TEST(test_order)
{
    enum { MESSAGES = 10000, WINDOW = 64 };
    struct message *pending[2][WINDOW] = { 0 };
    open_pair(_i);
    a->on_arrival = b->on_arrival = in_order;
    for (unsigned n = 0; n < MESSAGES; n++) {
        for (int side = 0; side < 2; side++) {
            struct message **slot = &pending[side][n % WINDOW];
            if (*slot) {
                while (!message_done(*slot)) {
                    a->ops->progress(a->self);
                    b->ops->progress(b->self);
                    fetch_all(a, b, 0);
                    fetch_all(b, a, 0);
                }
                message_free(*slot);
            }
            *slot = message_send(side ? b : a, side ? ba : ab, n, size_of(n), &node_solid);
        }
        a->ops->progress(a->self);
        b->ops->progress(b->self);
        fetch_all(a, b, 10);
        fetch_all(b, a, 10);
    }
    while (expected_a < MESSAGES || expected_b < MESSAGES) {
        a->ops->progress(a->self);
        b->ops->progress(b->self);
    }
    fetch_all(a, b, 0);
    fetch_all(b, a, 0);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < WINDOW; i++) {
            NODE_UNTIL(a, b, message_done(pending[side][i]));
            message_free(pending[side][i]);
        }
    ck_assert_uint_eq(a->arrived, MESSAGES);
    ck_assert_uint_eq(b->arrived, MESSAGES);
    a->on_arrival = b->on_arrival = NULL;
    close_pair();
}
END_TEST

/* A receive buffer that is too small gets what fits, no byte behind it changes, and the send completes. */
START_TEST(test_truncation)
{
    static const size_t sizes[] = { 100, 65537, 300000 }, capacities[] = { 0, 1, 99, 50000 };
    open_pair(_i);
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < 4; r++)
            for (size_t step = 1; step <= 2; step++) {
                size_t fits = capacities[r] < sizes[s] ? capacities[r] : sizes[s];
                struct message *message = message_send(a, ab, 7, sizes[s], &node_solid);
                memset(received, 0xee, 2 * sizes[s] + 2);
                struct pl_header header =
                    node_take(b, a, received, capacities[r], step == 1 ? &node_solid : &node_holes);
                ck_assert_uint_eq(header.size, sizes[s]);
                ck_assert(node_intact(received, fits, step, 7));
                ck_assert_uint_eq(received[fits * step], 0xee);
                NODE_UNTIL(a, b, message_done(message));
                message_free(message);
            }
    close_pair();
}
END_TEST

/* Dropped rendezvous messages: the send completes, also when the message is dropped while it arrives. */
static void drop_now(struct node *node, const struct pl_origin *from, const struct pl_header *header, const void *data,
                     struct pl_rndv *rndv)
{
    (void)from, (void)header, (void)data;
    if (rndv)
        node->ops->drop(node->self, rndv, false);
}

START_TEST(test_drop)
{
    open_pair(_i);
    for (int i = 0; i < 20; i++) {
        struct message *message = message_send(a, ab, 1, 200000, i & 1 ? &node_holes : &node_solid);
        if (i < 10) {
            NODE_UNTIL(b, a, !pl_list_empty(&b->inbox));
            struct arrival *arrival = PL_CONTAINER(pl_list_pop(&b->inbox), struct arrival, link);
            ck_assert(!message_done(message));
            ops->drop(b->self, arrival->rndv, false);
            free(arrival);
        } else {
            b->on_arrival = drop_now;
        }
        NODE_UNTIL(a, b, message_done(message));
        message_free(message);
    }
    b->on_arrival = NULL;
    one_message(1000, 3, &node_solid, &node_solid);
    close_pair();
}
END_TEST

/* A cancelled message: the send does not complete, and can be withdrawn once the receiver's next message has
 * arrived. */
START_TEST(test_cancel)
{
    open_pair(_i);
    for (int i = 0; i < 10; i++) {
        struct message *message = message_send(a, ab, 1, 200000, &node_holes);
        NODE_UNTIL(b, a, !pl_list_empty(&b->inbox));
        struct arrival *arrival = PL_CONTAINER(pl_list_pop(&b->inbox), struct arrival, link);
        ck_assert(!ops->withdraw(ab, &message->out));
        ops->drop(b->self, arrival->rndv, true);
        free(arrival);
        struct message *answer = message_send(b, ba, 2, 10, &node_solid);
        node_take(a, b, received, 10, &node_solid);
        ck_assert(ops->withdraw(ab, &message->out));
        message_free(message);
        one_message(300000, 3, &node_solid, &node_solid);
        NODE_UNTIL(a, b, message_done(answer));
        message_free(answer);
    }
    close_pair();
}
END_TEST

/* What fetches the next message of the inbox. */
static struct pl_incoming *fetch_next(struct node *node, struct node *other, unsigned char *to, size_t bytes)
{
    static struct pl_incoming incoming[2];
    struct pl_incoming *next = &incoming[node == b];
    NODE_UNTIL(node, other, !pl_list_empty(&node->inbox));
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&node->inbox), struct arrival, link);
    *next = (struct pl_incoming){ .data = node_cursor(to, bytes, &node_solid), .size = bytes };
    ck_assert_int_eq(ops->fetch(node->self, arrival->rndv, next), PL_PENDING);
    free(arrival);
    return next;
}

/* Long messages in both directions over TCP: one that has come is fetched once the other is sent, or in progress(). */
START_TEST(test_exchange)
{
    enum { BYTES = 500000 };
    open_pair(1);
    one_message(BYTES, 1, &node_solid, &node_solid);
    for (unsigned i = 0; i < 6; i++) {
        struct message *to_a = message_send(b, ba, 2 + i, BYTES, &node_solid), *to_b = NULL;
        struct pl_incoming *at_a = fetch_next(a, b, received, BYTES), *at_b = NULL;
        for (int rounds = 0; rounds < 1000; rounds++)
            ops->progress(b->self);
        if (i != 3) /* in the round before, this side has not sent */
            ck_assert(!at_a->transport[5]);
        if (i != 2) {
            to_b = message_send(a, ab, 20 + i, BYTES, &node_solid);
            NODE_UNTIL(b, NULL, !pl_list_empty(&b->inbox) || message_done(to_a)); /* without progress at a */
            at_b = fetch_next(b, a, received + LARGEST, BYTES);
        }
        NODE_UNTIL(a, b,
                   at_a->transport[5] && message_done(to_a) && (!to_b || (at_b->transport[5] && message_done(to_b))));
        ck_assert(node_intact(received, BYTES, 1, 2 + i));
        message_free(to_a);
        if (to_b) {
            ck_assert(node_intact(received + LARGEST, BYTES, 1, 20 + i));
            message_free(to_b);
        }
    }
    close_pair();
}
END_TEST

/* An engine that sends to itself. */
START_TEST(test_self)
{
    open_pair(_i);
    struct pl_endpoint *aa = node_connect(a, a->card, a->card_length);
    for (size_t bytes = 0; bytes <= 300000; bytes += 100000) {
        struct message *message = message_send(a, aa, 5, bytes, &node_solid);
        node_take(a, NULL, received, bytes, &node_solid);
        ck_assert(node_intact(received, bytes, 1, 5));
        NODE_UNTIL(a, NULL, message_done(message));
        message_free(message);
    }
    ops->disconnect(aa);
    close_pair();
}
END_TEST

int main(void)
{
    Suite *suite = suite_of("ucx");
    add(suite, "test_sizes", test_sizes, CHOICES);
    add(suite, "test_order", test_order, CHOICES);
    add(suite, "test_truncation", test_truncation, CHOICES);
    add(suite, "test_drop", test_drop, CHOICES);
    add(suite, "test_cancel", test_cancel, CHOICES);
    add(suite, "test_exchange", test_exchange, 1);
    add(suite, "test_self", test_self, CHOICES);
    return unit_end(suite);
}
