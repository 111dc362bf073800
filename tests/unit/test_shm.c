/* SPDX-License-Identifier: BSD-3-Clause */
/* The node transport alone: messages of all sizes and shapes, between two nodes in one process and in two. */
#include "transport_pair.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/shm/fifo.h"
#include "plugins/shm/shm_peer.h"
#include "shm_sandbox.h"

extern const struct pl_transport_ops pl_transport_shm;
static const struct pl_transport_ops *const ops = &pl_transport_shm;

enum { EAGER = 4096 };

static void open_pair(const char *rndv, long ring)
{
    node_rndv = rndv;
    node_ring = ring;
    node_eager = EAGER;
    pair_open(ops);
}

/* --- sizes and shapes ------------------------------------------------------------------------------------------- */

/* Around the boundaries of a record's first line, of lines, of eager messages, and of a FIFO's chunks and capacity. */
static void all_sizes(void)
{
    static const struct pl_type *const types[] = { &node_solid, &node_holes };
    static const size_t edges[] = { 0,        16,       48,       64,        80,        1024,      EAGER,
                                    16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, LARGEST };
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
        for (int off = -2; off <= 2; off++) {
            if ((off < 0 && edges[e] < (size_t)-off) || (off > 0 && edges[e] == LARGEST))
                continue;
            size_t bytes = edges[e] + (size_t)off;
            for (int shape = 0; shape<4; shape += edges[e]> 64 << 10 ? 3 : 1)
                one_message(bytes, (unsigned)(e * 5) + (unsigned)shape, types[shape & 1], types[shape >> 1]);
        }
    for (size_t bytes = 0; bytes < 300; bytes++)
        one_message(bytes, (unsigned)bytes, &node_solid, &node_solid);
}

START_TEST(sizes_by_fifo)
{
    open_pair("copy", 65536);
    all_sizes();
    close_pair();
}
END_TEST

START_TEST(sizes_by_kernel)
{
    open_pair("cma", 65536);
    all_sizes();
    close_pair();
}
END_TEST

START_TEST(sizes_kernel_refuses)
{
    forbid(SYS_process_vm_readv, EPERM); /* each test is a process of its own */
    open_pair("cma", 65536);
    all_sizes();
    close_pair();
}
END_TEST

START_TEST(large_by_kernel_in_slices)
{
    enum { SIZE = 5 << 20 };
    open_pair("cma", 65536);
    unsigned char *into = malloc(SIZE);
    struct message *message = message_send(a, ab, 3, SIZE, &node_solid);
    node_take(b, a, into, SIZE, &node_solid);
    ck_assert(node_intact(into, SIZE, 1, 3));
    NODE_UNTIL(a, b, message_done(message));
    message_free(message);
    free(into);
    close_pair();
}
END_TEST

START_TEST(truncated)
{
    static const char *const modes[] = { "copy", "cma" };
    static const size_t sizes[] = { EAGER + 1, 100000, LARGEST }, capacities[] = { 0, 1, 1000, 70001 };
    for (int m = 0; m < 2; m++) {
        open_pair(modes[m], 65536);
        for (int s = 0; s < 3; s++)
            for (int r = 0; r < 4; r++) {
                size_t fits = capacities[r] < sizes[s] ? capacities[r] : sizes[s];
                struct message *message = message_send(a, ab, 9, sizes[s], &node_solid);
                memset(received, 0xee, fits + 64);
                struct pl_header header = node_take(b, a, received, fits, &node_solid);
                ck_assert_uint_eq(header.size, sizes[s]);
                ck_assert(node_intact(received, fits, 1, 9));
                for (size_t i = 0; i < 64; i++)
                    ck_assert_uint_eq(received[fits + i], 0xee);
                NODE_UNTIL(a, b, message_done(message));
                message_free(message);
                one_message(50000, 1, &node_solid, &node_solid);
            }
        close_pair();
    }
}
END_TEST

/* --- order and flow --------------------------------------------------------------------------------------------- */

static size_t mixed_size(uint64_t *state)
{
    static const int most[] = { 16, 200, EAGER, 5000, 40000, 300000 };
    return (size_t)unit_below(state,
                              most[unit_below(state, 100) < 90 ? unit_below(state, 3) : 3 + unit_below(state, 3)] + 1);
}

/* Like message_send(), except that there may be no space: returns false then. */
static bool try_send(struct node *node, struct pl_endpoint *endpoint, struct message *message)
{
    int err = node->ops->send(endpoint, &message->out);
    ck_assert_msg(err == MPI_SUCCESS || err == PL_PENDING || err == PL_AGAIN, "send: %d: %s", err, node_detail);
    message->done = err == MPI_SUCCESS;
    return err != PL_AGAIN;
}

static struct message *message_new(unsigned seed, size_t bytes)
{
    struct message *message = calloc(1, sizeof *message);
    message->data = malloc(bytes + 1);
    node_fill(message->data, bytes, 1, seed);
    message->out.header = (struct pl_header){ .tag = (int32_t)seed, .size = bytes, .kind = PL_MSG_P2P };
    message->out.data = node_cursor(message->data, bytes, &node_solid);
    return message;
}

/* Sends `count` messages of mixed sizes while taking as many from the other side; several are pending at a time. */
enum { PENDING = 24 };
struct exchange {
    struct node *node;
    struct pl_endpoint *endpoint;
    uint64_t sizes_out, sizes_in;
    int sent, taken, count;
    struct message *pending[PENDING];
    struct message *next;
    unsigned char *into;
};

static void exchange_open(struct exchange *x, struct node *node, struct pl_endpoint *endpoint, uint64_t out,
                          uint64_t in, int count)
{
    *x = (struct exchange){
        .node = node, .endpoint = endpoint, .sizes_out = out, .sizes_in = in, .count = count, .into = malloc(LARGEST)
    };
}

static void exchange_send(struct exchange *x)
{
    for (int i = 0; i < PENDING; i++) {
        if (x->pending[i] && message_done(x->pending[i])) {
            message_free(x->pending[i]);
            x->pending[i] = NULL;
        }
        if (x->pending[i] || x->sent == x->count)
            continue;
        if (!x->next)
            x->next = message_new((unsigned)x->sent, mixed_size(&x->sizes_out));
        if (!try_send(x->node, x->endpoint, x->next))
            return;
        x->pending[i] = x->next;
        x->next = NULL;
        x->sent++;
    }
}

static void exchange_take(struct exchange *x, struct node *other)
{
    if (pl_list_empty(&x->node->inbox))
        return;
    size_t bytes = mixed_size(&x->sizes_in);
    struct pl_header header = node_take(x->node, other, x->into, bytes, &node_solid);
    ck_assert_int_eq(header.tag, x->taken);
    ck_assert_uint_eq(header.size, bytes);
    ck_assert_msg(node_intact(x->into, bytes, 1, (unsigned)x->taken), "message %d of %zu bytes is damaged", x->taken,
                  bytes);
    x->taken++;
}

static bool exchange_done(const struct exchange *x)
{
    for (int i = 0; i < PENDING; i++)
        if (x->pending[i])
            return false;
    return x->sent == x->count && x->taken == x->count;
}

static void exchange_step(struct exchange *x, struct node *other)
{
    exchange_send(x);
    if (x->node->ops->progress(x->node->self) == 0 && !other)
        sched_yield();
    exchange_take(x, other);
}

static void exchange_in_one_process(const char *rndv, long ring, int count)
{
    struct exchange there, back;
    open_pair(rndv, ring);
    exchange_open(&there, a, ab, 11, 22, count);
    exchange_open(&back, b, ba, 22, 11, count);
    while (!exchange_done(&there) || !exchange_done(&back)) {
        exchange_step(&there, b);
        exchange_step(&back, a);
    }
    free(there.into);
    free(back.into);
    close_pair();
}

START_TEST(ten_thousand_in_order)
{
    exchange_in_one_process("auto", 65536, 10000);
    exchange_in_one_process("cma", 65536, 2000);
}
END_TEST

START_TEST(smallest_ring)
{
    exchange_in_one_process("auto", 4096, 3000);
}
END_TEST

/* Two processes: each opens a node, and they swap addresses through a pair of pipes. */
static struct node *exchange_connect(uint64_t id, int in, int out, struct pl_endpoint **endpoint)
{
    unsigned char card[PL_CARD_MAX];
    node_ring = 65536;
    node_eager = EAGER;
    struct node *node = node_open(ops, id);
    ck_assert_int_eq(write(out, node->card, node->card_length), (ssize_t)node->card_length);
    ck_assert_int_eq(read(in, card, sizeof card), (ssize_t)node->card_length);
    *endpoint = node_connect(node, card, node->card_length);
    return node;
}

static void exchange_close(struct node *node, struct pl_endpoint *endpoint, int in, int out)
{
    char byte = 0;
    NODE_UNTIL(node, NULL, ops->flushed(node->self));
    ops->disconnect(endpoint);
    ck_assert_uint_eq(node->failed, 0);
    ck_assert_int_eq(write(out, &byte, 1), 1); /* the other process may still need us to read on */
    ck_assert_int_eq(read(in, &byte, 1), 1);
    node_close(node);
}

static void exchange_as(uint64_t id, int in, int out, uint64_t sizes_out, uint64_t sizes_in)
{
    struct pl_endpoint *endpoint;
    struct exchange x;
    struct node *node = exchange_connect(id, in, out, &endpoint);
    exchange_open(&x, node, endpoint, sizes_out, sizes_in, 3000);
    while (!exchange_done(&x))
        exchange_step(&x, NULL);
    free(x.into);
    exchange_close(node, endpoint, in, out);
}

static void both_directions(const char *rndv)
{
    int there[2], back[2], status;
    node_rndv = rndv;
    ck_assert(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    if (child == 0) {
        exchange_as(2, there[0], back[1], 22, 11);
        _exit(0);
    }
    exchange_as(1, back[0], there[1], 11, 22);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

START_TEST(both_directions_by_fifo)
{
    both_directions("copy");
}
END_TEST

START_TEST(both_directions_by_kernel)
{
    both_directions("cma");
}
END_TEST

START_TEST(ring_full)
{
    open_pair("auto", 16384);
    int sent = 0;
    struct message *message;
    while (try_send(a, ab, message = message_new((unsigned)sent, 1000))) {
        message_free(message);
        sent++;
    }
    ck_assert_int_ge(sent, 8);
    ck_assert_int_le(sent, 16);
    ck_assert(!ops->flushed(a->self));
    for (int i = 0; i < 5; i++)
        ck_assert(!try_send(a, ab, message));
    node_take(b, NULL, received, 1000, &node_solid); /* the first progress round reads all of them */
    ck_assert(try_send(a, ab, message));
    message_free(message);
    for (int i = 1; i <= sent; i++) {
        struct pl_header header = node_take(b, a, received, 1000, &node_solid);
        ck_assert_int_eq(header.tag, i);
    }
    close_pair();
}
END_TEST

/* Data that equals the sequence numbers that the reader will wait for, wherever a later record may begin. */
START_TEST(data_that_looks_like_records)
{
    uint64_t state = 5;
    open_pair("auto", 4096); /* 64 lines */
    for (uint32_t position = 0, i = 0; i < 5000; i++) {
        uint32_t bytes = (uint32_t)unit_below(&state, 900), lines = bytes <= 16 ? 1 : 1 + (bytes + 63) / 64;
        if (position % 64 + lines > 64)
            position += 64 - position % 64;
        struct message *message = message_new(0, bytes);
        for (uint32_t at = 0; bytes > 16 && at + 4 <= bytes; at += 64) { /* the first word of every further line */
            uint32_t one_lap_on = position + 1 + at / 64 + 64 + 1;
            memcpy(message->data + at, &one_lap_on, 4);
        }
        ck_assert(try_send(a, ab, message));
        struct pl_header header = node_take(b, NULL, received, bytes, &node_solid);
        ck_assert_uint_eq(header.size, bytes);
        ck_assert_int_eq(memcmp(received, message->data, bytes), 0);
        ck_assert_int_eq(ops->progress(b->self), 0);
        message_free(message);
        position += lines;
    }
    close_pair();
}
END_TEST

/* --- unwanted messages ------------------------------------------------------------------------------------------ */

static struct arrival *next_arrival(struct node *node, struct node *other)
{
    NODE_UNTIL(node, other, !pl_list_empty(&node->inbox));
    return PL_CONTAINER(pl_list_pop(&node->inbox), struct arrival, link);
}

START_TEST(dropped)
{
    open_pair("auto", 65536);
    struct message *message = message_send(a, ab, 1, 100000, &node_solid);
    struct arrival *arrival = next_arrival(b, a);
    ops->drop(b->self, arrival->rndv, false);
    free(arrival);
    NODE_UNTIL(a, b, message_done(message));
    message_free(message);
    close_pair();
}
END_TEST

START_TEST(cancelled)
{
    open_pair("auto", 65536);
    struct message *message = message_send(a, ab, 1, 100000, &node_solid);
    struct arrival *arrival = next_arrival(b, a);
    ops->drop(b->self, arrival->rndv, true);
    free(arrival);
    for (int i = 0; i < 100; i++) {
        ops->progress(a->self);
        ops->progress(b->self);
    }
    ck_assert(!message_done(message));
    ck_assert(ops->withdraw(ab, &message->out));
    ck_assert_uint_eq(a->sent, 0);
    message_free(message);
    one_message(100000, 2, &node_solid, &node_solid);
    close_pair();
}
END_TEST

/* The sender withdraws a message while the receiver's CTS is on its way: the receiver gets an error. */
START_TEST(withdrawn)
{
    open_pair("auto", 65536);
    struct message *message = message_send(a, ab, 1, 100000, &node_solid);
    struct arrival *arrival = next_arrival(b, a);
    ck_assert(ops->withdraw(ab, &message->out));
    memset(message->data, 0, 100000);
    message_free(message);
    struct pl_incoming incoming = { .data = node_cursor(received, 100000, &node_solid), .size = 100000 };
    ck_assert_int_eq(ops->fetch(b->self, arrival->rndv, &incoming), PL_PENDING);
    NODE_UNTIL(a, b, incoming.transport[5]);
    ck_assert_int_ne(b->last_error, MPI_SUCCESS);
    free(arrival);
    one_message(100000, 2, &node_solid, &node_solid);
    close_pair();
}
END_TEST

START_TEST(no_withdrawal_after_cts)
{
    open_pair("copy", 65536);
    struct message *message = message_send(a, ab, 1, LARGEST, &node_solid);
    struct arrival *arrival = next_arrival(b, a);
    struct pl_incoming incoming = { .data = node_cursor(received, LARGEST, &node_solid), .size = LARGEST };
    ck_assert_int_eq(ops->fetch(b->self, arrival->rndv, &incoming), PL_PENDING);
    ops->progress(a->self);
    ops->progress(a->self);
    ck_assert(!ops->withdraw(ab, &message->out));
    NODE_UNTIL(a, b, incoming.transport[5] && message_done(message));
    ck_assert(node_intact(received, LARGEST, 1, 1));
    message_free(message);
    free(arrival);
    close_pair();
}
END_TEST

/* A FIFO is full when a message ends in the middle of a line, and the next one begins with a line. More bytes than the
 * capacity then lie between the sender's position and the receiver's. The test plays the receiver. */
START_TEST(full_amid_a_line)
{
    enum { FIRST = EAGER + 100, SECOND = PL_SHM_FIFO_BYTES - 28, THIRD = 3 * EAGER, COUNT = 3, FULL = 4 };
    static const size_t bytes[COUNT] = { FIRST, SECOND, THIRD };
    struct message *message[COUNT];
    struct arrival *arrival[COUNT];
    struct pl_incoming incoming[COUNT];
    open_pair("copy", 65536);
    for (unsigned i = 0; i < COUNT; i++)
        message[i] = message_send(a, ab, i, bytes[i], &node_solid);
    for (int i = 0; i < COUNT; i++) {
        arrival[i] = next_arrival(b, a);
        incoming[i] = (struct pl_incoming){ .data = node_cursor(received, bytes[i], &node_solid), .size = bytes[i] };
        ck_assert_int_eq(ops->fetch(b->self, arrival[i]->rndv, &incoming[i]), PL_PENDING);
    }
    const struct pl_shm_peer *peer = (const struct pl_shm_peer *)ab;
    const uint64_t taken[] = { 0, FIRST, FIRST + PL_SHM_FIFO_BYTES },
                   filled[] = { PL_SHM_FIFO_BYTES, FIRST + PL_SHM_FIFO_BYTES, FIRST + PL_SHM_FIFO_BYTES + 28 + THIRD };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (i > 0)
            atomic_store(&peer->out_fifo->shared->drained, taken[i]);
        for (int round = 0; round < FULL; round++)
            ops->progress(a->self);
        ck_assert_uint_eq(a->failed, 0);
        ck_assert_uint_eq(atomic_load(&peer->out_fifo->shared->filled), filled[i]);
    }
    for (int i = 0; i < COUNT; i++)
        ck_assert(message_done(message[i]));
    ops->disconnect(ab);
    ops->disconnect(ba);
    node_close(a);
    node_close(b);
    for (int i = 0; i < COUNT; i++) {
        message_free(message[i]);
        free(arrival[i]);
    }
    free(received);
}
END_TEST

/* The sender disconnects amid a message's data: the receiver gets an error, and later messages are intact. */
START_TEST(disconnected_amid_data)
{
    open_pair("copy", 65536);
    struct message *message = message_send(a, ab, 1, 2 * LARGEST, &node_solid);
    struct arrival *arrival = next_arrival(b, a);
    struct pl_incoming incoming = { .data = node_cursor(received, 2 * LARGEST, &node_solid), .size = 2 * LARGEST };
    ck_assert_int_eq(ops->fetch(b->self, arrival->rndv, &incoming), PL_PENDING);
    for (int i = 0; i < 4; i++) {
        ops->progress(a->self);
        ops->progress(b->self);
    }
    ops->disconnect(ab);
    message_free(message);
    NODE_UNTIL(a, b, incoming.transport[5]);
    ck_assert_int_ne(b->last_error, MPI_SUCCESS);
    free(arrival);
    ab = node_connect(a, b->card, b->card_length);
    one_message(LARGEST, 2, &node_solid, &node_solid);
    close_pair();
}
END_TEST

UNIT_MAIN("shm", sizes_by_fifo, sizes_by_kernel, sizes_kernel_refuses, large_by_kernel_in_slices, truncated,
          ten_thousand_in_order, smallest_ring, both_directions_by_fifo, both_directions_by_kernel, ring_full,
          full_amid_a_line, data_that_looks_like_records, dropped, cancelled, withdrawn, no_withdrawal_after_cts,
          disconnected_amid_data)
