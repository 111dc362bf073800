/* SPDX-License-Identifier: BSD-3-Clause */
/* The node transport and damaged memory: rings, FIFOs and inboxes with random bytes. No process crashes or reads beyond
 * mapped memory, and other peers are not affected. */
#include "shm_node.h"
#include "unit.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void scribble(uint64_t *state, void *memory, size_t bytes)
{
    unsigned char *at = memory;
    for (int i = unit_below(state, 8); i >= 0; i--)
        at[(size_t)unit_random(state) % bytes] = (unsigned char)unit_random(state);
}

/* Takes and fetches each message, into a small buffer. */
static unsigned char scrap[1 << 16];
static struct pl_incoming scrap_incoming[64];
static int scrap_next;
static void take_scrap(struct node *node, const struct pl_origin *from, const struct pl_header *header,
                       const void *data, struct pl_rndv *rndv)
{
    (void)from;
    if (!rndv) {
        for (size_t i = 0; i < header->size; i++)
            scrap[i % sizeof scrap] ^= ((const unsigned char *)data)[i];
        return;
    }
    struct pl_incoming *in = &scrap_incoming[scrap_next++ % 64];
    *in = (struct pl_incoming){ .data = node_cursor(scrap, sizeof scrap, &node_solid), .size = header->size };
    ops->fetch(node->self, rndv, in);
}

/* Sends through memory that is being damaged: no process crashes, and messages between other peers arrive. */
static void damaged(void *(*where)(struct node *x, struct pl_shm_peer *peer, size_t *bytes))
{
    uint64_t state = 77;
    struct node *z = node_new(3), *y = node_new(2);
    struct pl_endpoint *zy = node_join(z, y);
    z->on_arrival = y->on_arrival = take_scrap;
    unsigned long failed = 0;
    for (int round = 0; round < 300; round++) {
        struct node *x = node_new(1);
        x->on_arrival = take_scrap;
        struct pl_shm_peer *xy = (struct pl_shm_peer *)node_join(x, y);
        struct message *message[40];
        int sent = 0;
        for (; sent < 40; sent++) {
            size_t bytes = (size_t)unit_below(&state, sent % 4 ? 800 : 20000);
            message[sent] = calloc(1, sizeof **message);
            message[sent]->data = calloc(1, bytes + 1);
            message[sent]->out.header.size = bytes;
            message[sent]->out.data = node_cursor(message[sent]->data, bytes, &node_solid);
            int err = ops->send(&xy->endpoint, &message[sent]->out);
            message[sent]->done = err != PL_PENDING;
            size_t area;
            void *memory = xy->state == PL_SHM_PEER_OPEN ? where(x, xy, &area) : NULL;
            if (memory && sent > 5)
                scribble(&state, memory, area);
            progress(y, 2);
            progress(x, 2);
        }
        failed += y->failed + x->failed;
        y->failed = 0;
        node_close(x); /* gives up all pending messages */
        for (int i = 0; i < sent; i++)
            message_free(message[i]);
        check_peers(y);
    }
    struct message *whole = message_send(z, zy, 1, 50000, &node_solid);
    NODE_UNTIL(z, y, message_done(whole));
    message_free(whole);
    ck_assert_uint_gt(failed, 0);
    ck_assert_uint_eq(z->failed, 0);
    node_close(z);
    node_close(y);
}

static void *in_ring(struct node *x, struct pl_shm_peer *peer, size_t *bytes)
{
    (void)x;
    *bytes = 2048; /* the first records: more of them are hit */
    return peer->out.ring ? peer->out.ring->line : NULL;
}

static void *in_ring_controls(struct node *x, struct pl_shm_peer *peer, size_t *bytes)
{
    (void)x;
    *bytes = offsetof(struct pl_shm_ring, line);
    return peer->out.ring;
}

static void *in_fifo(struct node *x, struct pl_shm_peer *peer, size_t *bytes)
{
    (void)x;
    *bytes = 2 * PL_SHM_LINE;
    return peer->in_fifo ? (void *)peer->in_fifo : in_ring(x, peer, bytes);
}

static void *in_head(struct node *x, struct pl_shm_peer *peer, size_t *bytes)
{
    (void)peer;
    *bytes = sizeof *inside(x)->head;
    memset(&inside(x)->head->request[3], 0x5a, sizeof inside(x)->head->request[3]);
    atomic_store(&inside(x)->head->slot[3], PL_SHM_SLOT(getpid(), PL_SHM_SLOT_READY));
    atomic_fetch_add(&inside(x)->head->requests, 1);
    return inside(x)->head;
}

START_TEST(damaged_ring)
{
    damaged(in_ring);
}
END_TEST

START_TEST(damaged_fifo)
{
    damaged(in_fifo);
}
END_TEST

static void survives(void *(*where)(struct node *x, struct pl_shm_peer *peer, size_t *bytes))
{
    uint64_t state = 78;
    for (int round = 0; round < 300; round++) {
        struct node *x = node_new(1), *y = node_new(2);
        struct pl_shm_peer *xy = (struct pl_shm_peer *)node_join(x, y);
        for (int i = 0; i < 20; i++) {
            struct message message = { .out.header.size = 100, .out.data = node_cursor(scrap, 100, &node_solid) };
            ops->send(&xy->endpoint, &message.out);
            size_t area;
            void *memory = xy->state == PL_SHM_PEER_OPEN ? where(x, xy, &area) : NULL;
            if (memory)
                scribble(&state, memory, area);
            progress(y, 2);
            progress(x, 2);
        }
        node_close(x);
        node_close(y);
    }
}

START_TEST(damaged_inbox)
{
    survives(in_head);
}
END_TEST

START_TEST(damaged_ring_controls)
{
    survives(in_ring_controls);
}
END_TEST

/* Callers that died while they filled in a slot of the inbox, or before they freed a refused one. */
START_TEST(abandoned_slots)
{
    struct node *x = node_new(1), *y = node_new(2);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    for (int i = 0; i < PL_SHM_INBOX; i++)
        atomic_store(&inside(y)->head->slot[i], PL_SHM_SLOT(child, i % 2 ? PL_SHM_SLOT_CLAIMED : PL_SHM_SLOT_REFUSED));
    struct pl_endpoint *xy = node_join(x, y);
    struct message *message = message_send(x, xy, 1, 100, &node_solid);
    progress(x, 3), progress(y, 3), progress(x, 3);
    ck_assert_uint_eq(y->arrived, 0);
    check_peers(y);
    NODE_UNTIL(x, y, y->arrived == 1);
    message_free(message);
    node_close(x);
    node_close(y);
}
END_TEST

static void limit_descriptors(rlim_t most)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = most ? most : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* An engine without descriptors cannot map the caller's ring. The link is not lost: it is made when there are some. */
START_TEST(request_postponed)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *xy = node_join(x, y);
    struct message *message = message_send(x, xy, 1, 100, &node_solid);
    limit_descriptors(3);
    progress(y, 1);
    for (int i = 0; i < PL_SHM_POSTPONED_MAX - 1; i++) {
        check_peers(y);
        progress(x, 1);
    }
    limit_descriptors(0);
    ck_assert_uint_eq(y->arrived, 0);
    check_peers(y);
    NODE_UNTIL(x, y, y->arrived == 1);
    NODE_UNTIL(x, y, message_done(message));
    message_free(message);
    node_close(x);
    node_close(y);
}
END_TEST

/* If there are none for long, the caller gets an error instead of waiting for ever. */
START_TEST(request_refused)
{
    struct node *x = node_new(1), *y = node_new(2);
    struct pl_endpoint *xy = node_join(x, y);
    struct message *message = message_send(x, xy, 1, 100, &node_solid);
    limit_descriptors(3);
    progress(y, 1);
    for (int i = 0; i < PL_SHM_POSTPONED_MAX; i++)
        check_peers(y);
    limit_descriptors(0);
    progress(x, 3);
    struct pl_outgoing more = { .header.size = 100, .data = node_cursor(scrap, 100, &node_solid) };
    ck_assert_int_eq(ops->send(xy, &more), MPI_ERR_OTHER);
    message_free(message);
    node_close(x);
    node_close(y);
}
END_TEST

UNIT_MAIN("shm damage", damaged_ring, damaged_fifo, damaged_inbox, damaged_ring_controls, abandoned_slots,
          request_postponed, request_refused)
