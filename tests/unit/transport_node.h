/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for an engine that drives a transport alone: it keeps messages in the order of their arrival, and counts
 * reports.
 *
 * Data is one run (node_solid) or every second byte (node_holes), so that the tests need no datatypes of the library.
 */
#ifndef PLENUM_TESTS_TRANSPORT_NODE_H
#define PLENUM_TESTS_TRANSPORT_NODE_H

#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "core/datatype/cursor.h"
#include "core/engine/transport.h"
#include "core/job/segment.h"

struct arrival {
    struct pl_list link;
    const struct pl_origin *from;
    struct pl_header header;
    struct pl_rndv *rndv;
    unsigned char data[];
};

struct node {
    struct node *next; /* in the list of open nodes */
    uint64_t id;
    const struct pl_transport_ops *ops;
    void *self;
    unsigned char card[PL_CARD_MAX];
    size_t card_length;
    struct pl_list inbox;
    unsigned long arrived, sent, fetched, failed;
    bool content;   /* with one message: it awaits no other */
    int last_error; /* of the last report with an error */
    void (*on_arrival)(struct node *node, const struct pl_origin *from, const struct pl_header *header,
                       const void *data, struct pl_rndv *rndv);
    void (*on_fetched)(struct node *node);
};

static const struct pl_type node_solid = { .size = 1, .extent = 1, .true_extent = 1, .dense = true, .solid = true };
static const struct pl_type node_holes = { .size = 1, .extent = 2, .true_extent = 1, .solid = true };

static const char *node_tls = "", *node_transport = "ucx", *node_net = "";
static bool node_far;
static struct node *node_first;
static long node_eager = 65536;
static long node_ring = 65536;         /* shm */
static const char *node_rndv = "auto"; /* shm */
static char node_detail[512];
static unsigned long node_logged; /* lines of level "warning" or worse */

/* --- the host -------------------------------------------------------------------------------------------------- */

static inline struct pl_cursor node_cursor(const void *base, size_t bytes, const struct pl_type *type)
{
    return (struct pl_cursor){ .type = type, .base = (char *)base, .count = (MPI_Count)bytes, .total = bytes };
}

static inline size_t node_move(struct pl_cursor *cursor, char *packed, size_t max, bool out)
{
    size_t left = cursor->total - cursor->done, bytes = max < left ? max : left, step = (size_t)cursor->type->extent;
    for (size_t i = 0; i < bytes; i++) {
        char *at = cursor->base + (cursor->done + i) * step;
        if (out)
            packed[i] = *at;
        else
            *at = packed[i];
    }
    cursor->done += bytes;
    return bytes;
}

static inline size_t node_pack(struct pl_cursor *cursor, void *packed, size_t max)
{
    return node_move(cursor, packed, max, true);
}

static inline size_t node_unpack(struct pl_cursor *cursor, const void *packed, size_t bytes)
{
    return node_move(cursor, (char *)packed, bytes, false);
}

static inline void node_seek(struct pl_cursor *cursor, size_t offset)
{
    cursor->done = offset;
}

static inline size_t node_run(struct pl_cursor *cursor, size_t max, void **address)
{
    size_t left = cursor->total - cursor->done, bytes = cursor->type->extent == 1 ? left : left > 0;
    if (bytes > max)
        bytes = max;
    *address = cursor->base + cursor->done * (size_t)cursor->type->extent;
    cursor->done += bytes;
    return bytes;
}

static inline bool node_arrived(struct pl_engine *engine, const struct pl_origin *from, const struct pl_header *header,
                                const void *data, struct pl_rndv *rndv)
{
    struct node *node = (struct node *)engine;
    node->arrived++;
    if (node->on_arrival) {
        node->on_arrival(node, from, header, data, rndv);
        return !node->content;
    }
    struct arrival *arrival = malloc(sizeof *arrival + (rndv ? 0 : header->size));
    ck_assert_ptr_nonnull(arrival);
    arrival->from = from;
    arrival->rndv = rndv;
    memcpy(&arrival->header, header, sizeof *header);
    if (!rndv && header->size)
        memcpy(arrival->data, data, header->size);
    pl_list_append(&node->inbox, &arrival->link);
    return !node->content;
}

static inline void node_sent(struct pl_engine *engine, struct pl_outgoing *message, int error)
{
    struct node *node = (struct node *)engine;
    node->sent++;
    message->transport[5] = 1;
    if (error)
        node->last_error = error;
}

static inline void node_fetched(struct pl_engine *engine, struct pl_incoming *message, int error)
{
    struct node *node = (struct node *)engine;
    node->fetched++;
    message->transport[5] = 1;
    if (error)
        node->last_error = error;
    if (node->on_fetched)
        node->on_fetched(node);
}

static inline void node_failed(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from,
                               int error, const char *why)
{
    (void)endpoint, (void)from, (void)error, (void)why;
    ((struct node *)engine)->failed++;
}

/* Tests see that a peer has closed by what becomes of messages. */
static inline void node_closed(struct pl_engine *engine, struct pl_endpoint *endpoint, const struct pl_origin *from)
{
    (void)engine, (void)endpoint, (void)from;
}

static inline uint64_t node_id(const struct pl_engine *engine)
{
    return ((const struct node *)engine)->id;
}

static inline const void *node_card(const struct pl_engine *engine, size_t *length)
{
    const struct node *node = (const struct node *)engine;
    *length = node->card_length;
    return node->card;
}

static inline bool node_threaded(const struct pl_engine *engine)
{
    (void)engine;
    return true;
}

static inline bool node_is_far(const struct pl_engine *engine)
{
    (void)engine;
    return node_far;
}

__attribute__((format(printf, 2, 3))) static inline int node_fail(int class, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(node_detail, sizeof node_detail, format, arguments);
    va_end(arguments);
    return class;
}

static long node_config_long(const char *name)
{
    if (strcmp(name, "shm_ring") == 0)
        return node_ring;
    return strcmp(name, "ucx_eager") == 0 || strcmp(name, "shm_eager") == 0 ? node_eager : 0;
}

static const char *node_config_text(const char *name)
{
    if (strcmp(name, "shm_rndv") == 0)
        return node_rndv;
    return strcmp(name, "ucx_tls") == 0 ? node_tls : strcmp(name, "net") == 0 ? node_net : node_transport;
}

__attribute__((format(printf, 3, 4))) static inline void node_log(const char *subsystem, int level, const char *format,
                                                                  ...)
{
    node_logged += level <= 1;
    if (!getenv("TEST_LOG"))
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", subsystem, level);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void node_quiet(struct pl_engine *engine)
{
    (void)engine;
}

static inline uint32_t node_runtime(const struct pl_engine *engine)
{
    (void)engine;
    return 0;
}

static const struct pl_transport_host node_host = {
    .abi = PL_TRANSPORT_ABI,
    .arrived = node_arrived,
    .sent = node_sent,
    .fetched = node_fetched,
    .failed = node_failed,
    .closed = node_closed,
    .quiet = node_quiet,
    .engine_id = node_id,
    .engine_card = node_card,
    .threaded = node_threaded,
    .far = node_is_far,
    .runtime = node_runtime,
    .pack = node_pack,
    .unpack = node_unpack,
    .seek = node_seek,
    .run = node_run,
    .fail = node_fail,
    .config_long = node_config_long,
    .config_text = node_config_text,
    .log = node_log,
};

/* --- driving it ------------------------------------------------------------------------------------------------ */

static inline struct node *node_open(const struct pl_transport_ops *ops, uint64_t id)
{
    struct node *node = calloc(1, sizeof *node);
    node->id = id;
    node->ops = ops;
    pl_list_init(&node->inbox);
    node->next = node_first;
    node_first = node;
    int err = ops->open((struct pl_engine *)node, &node_host, &node->self);
    ck_assert_msg(err == MPI_SUCCESS, "open: %d: %s", err, node_detail);
    err = ops->address(node->self, node->card, sizeof node->card, &node->card_length);
    ck_assert_msg(err == MPI_SUCCESS, "address: %d: %s", err, node_detail);
    return node;
}

static inline void node_close(struct node *node)
{
    struct node **at = &node_first;
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    node->ops->close(node->self);
    struct pl_list *entry;
    while ((entry = pl_list_pop(&node->inbox)) != NULL)
        free(PL_CONTAINER(entry, struct arrival, link));
    free(node);
}

static inline struct pl_endpoint *node_connect(struct node *node, const void *card, size_t length)
{
    struct pl_endpoint *endpoint = NULL;
    int err = node->ops->connect(node->self, card, length, (struct pl_peer *)node, &endpoint);
    ck_assert_msg(err == MPI_SUCCESS, "connect: %d: %s", err, node_detail);
    return endpoint;
}

/* Progress on one or two nodes until the condition holds. The test's time limit ends an endless wait. */
#define NODE_UNTIL(a, b, condition)                                                                                    \
    while (!(condition)) {                                                                                             \
        struct node *other_ = (b);                                                                                     \
        (a)->ops->progress((a)->self);                                                                                 \
        if (other_)                                                                                                    \
            other_->ops->progress(other_->self);                                                                       \
    }

/* Each byte of a message depends on its seed and its offset. */
static inline unsigned char node_byte(unsigned seed, size_t i)
{
    return (unsigned char)(seed * 131 + i * 7 + (i >> 8) * 13 + (i >> 16));
}

static inline void node_fill(unsigned char *data, size_t bytes, size_t step, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        data[i * step] = node_byte(seed, i);
}

static inline bool node_intact(const unsigned char *data, size_t bytes, size_t step, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i * step] != node_byte(seed, i))
            return false;
    return true;
}

struct message {
    struct pl_outgoing out;
    unsigned char *data;
    bool done;
};

static inline void node_progress_all(void)
{
    for (struct node *each = node_first; each; each = each->next)
        each->ops->progress(each->self);
}

/* Sends a message with `seed` as its tag and its data's seed. The caller frees it with message_free() once it is
 * done. */
static inline struct message *message_send(struct node *node, struct pl_endpoint *endpoint, unsigned seed, size_t bytes,
                                           const struct pl_type *type)
{
    struct message *message = calloc(1, sizeof *message);
    size_t step = (size_t)type->extent;
    message->data = malloc(bytes * step + 1);
    node_fill(message->data, bytes, step, seed);
    message->out.header = (struct pl_header){ .tag = (int32_t)seed, .size = bytes, .kind = PL_MSG_P2P };
    message->out.data = node_cursor(message->data, bytes, type);
    int err;
    while ((err = node->ops->send(endpoint, &message->out)) == PL_AGAIN)
        node_progress_all();
    ck_assert_msg(err == MPI_SUCCESS || err == PL_PENDING, "send: %d: %s", err, node_detail);
    message->done = err == MPI_SUCCESS;
    return message;
}

static inline bool message_done(const struct message *message)
{
    return message->done || message->out.transport[5];
}

static inline void message_free(struct message *message)
{
    free(message->data);
    free(message);
}

/* Takes the oldest arrival; its data goes into `capacity` bytes of `type` at `data`. */
static inline struct pl_header node_take(struct node *node, struct node *other, unsigned char *data, size_t capacity,
                                         const struct pl_type *type)
{
    NODE_UNTIL(node, other, !pl_list_empty(&node->inbox));
    struct arrival *arrival = PL_CONTAINER(pl_list_pop(&node->inbox), struct arrival, link);
    struct pl_header header = arrival->header;
    struct pl_incoming incoming = { .data = node_cursor(data, capacity, type), .size = header.size };
    if (arrival->rndv) {
        int err = node->ops->fetch(node->self, arrival->rndv, &incoming);
        ck_assert_msg(err == MPI_SUCCESS || err == PL_PENDING, "fetch: %d: %s", err, node_detail);
        if (err == PL_PENDING)
            NODE_UNTIL(node, other, incoming.transport[5]);
    } else {
        node_unpack(&incoming.data, arrival->data, header.size);
    }
    free(arrival);
    return header;
}

#endif
