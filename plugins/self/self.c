/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport from an engine to itself.
 *
 * send() hands a short message to the engine at once. A long message is a rendezvous message: it waits in place, and
 * its data is copied once, from one user buffer to the other. A synchronous message is a rendezvous message whatever
 * its length, since its completion already implies that it was matched.
 *
 * While the engine handles a message or a completion it may send further messages. Those are queued, and progress()
 * hands them over. So the stack does not grow with the length of a chain, and sent() is never called before the send()
 * that it belongs to has returned.
 *
 * Locking: none; the engine's lock is held in all functions.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/list.h"
#include "core/base/memory.h"
#include "core/engine/transport.h"

enum { EAGER_MAX = 4096 };

struct self {
    struct pl_engine *engine;
    const struct pl_transport_host *host;
    struct pl_origin origin;
    struct pl_list arriving; /* of struct message.link, in the order in which they were sent */
    struct pl_list finished; /* of struct message.link: rendezvous messages whose sends complete next */
    bool delivering;         /* inside host->arrived() */
};

struct endpoint {
    struct pl_endpoint base;
    struct self *self;
};

/* A queued short message, with a copy of its data; or a rendezvous message, whose data stays with its sender. */
struct message {
    struct pl_rndv rndv;
    struct pl_list link;     /* in arriving, then in none (the engine has it), then in finished */
    struct pl_outgoing *out; /* NULL: short, or withdrawn */
    struct pl_header header;
    unsigned char data[];
};

const struct pl_transport_ops pl_transport_self;

static int self_open(struct pl_engine *engine, const struct pl_transport_host *host, void **self)
{
    struct self *made = pl_calloc(1, sizeof *made);
    if (!made)
        return host->fail(MPI_ERR_NO_MEM, "out of memory for transport self");
    made->engine = engine;
    made->host = host;
    made->origin.engine = host->engine_id(engine);
    pl_list_init(&made->arriving);
    pl_list_init(&made->finished);
    *self = made;
    return MPI_SUCCESS;
}

static void self_free_messages(struct pl_list *list)
{
    struct pl_list *node;
    while ((node = pl_list_pop(list)) != NULL)
        free(PL_CONTAINER(node, struct message, link));
}

static void self_close(void *self)
{
    struct self *s = self;
    self_free_messages(&s->arriving);
    self_free_messages(&s->finished);
    free(s);
}

static int self_address(void *self, void *buffer, size_t capacity, size_t *length)
{
    struct self *s = self;
    if (capacity < sizeof s->origin.engine)
        return s->host->fail(MPI_ERR_INTERN, "transport self: its address takes %zu bytes, there is space for %zu",
                             sizeof s->origin.engine, capacity);
    memcpy(buffer, &s->origin.engine, sizeof s->origin.engine);
    *length = sizeof s->origin.engine;
    return MPI_SUCCESS;
}

static int self_connect(void *self, const void *address, size_t length, struct pl_peer *peer,
                        struct pl_endpoint **endpoint)
{
    struct self *s = self;
    if (length != sizeof s->origin.engine || memcmp(address, &s->origin.engine, length) != 0)
        return PL_UNREACHABLE; /* without words: it is the next transport's turn */
    struct endpoint *made = pl_malloc(sizeof *made);
    if (!made)
        return s->host->fail(MPI_ERR_NO_MEM, "out of memory for an endpoint");
    made->base = (struct pl_endpoint){ .ops = &pl_transport_self, .peer = peer };
    made->self = s;
    *endpoint = &made->base;
    return MPI_SUCCESS;
}

static void self_disconnect(struct pl_endpoint *endpoint)
{
    free(endpoint);
}

/* The origin's card is fetched late: the engine writes it after it has opened its transports. */
static void self_deliver(struct self *s, const struct pl_header *header, const void *data, struct pl_rndv *rndv)
{
    s->origin.card = s->host->engine_card(s->engine, &s->origin.card_length);
    s->delivering = true;
    s->host->arrived(s->engine, &s->origin, header, data, rndv);
    s->delivering = false;
}

/* A rendezvous message has no copy of its data. */
static struct message *self_message_create(struct self *s, struct pl_outgoing *out, bool rndv)
{
    size_t copied = rndv ? 0 : out->header.size;
    struct message *message = pl_malloc(sizeof *message + copied);
    if (!message)
        return NULL;
    message->rndv.ops = &pl_transport_self;
    message->out = rndv ? out : NULL;
    message->header = out->header;
    pl_list_init(&message->link);
    if (copied)
        s->host->pack(&out->data, message->data, copied);
    return message;
}

static bool self_send_now(struct pl_endpoint *endpoint, const struct pl_header *header, int tag, size_t size,
                          const void *data)
{
    struct self *s = ((struct endpoint *)endpoint)->self;
    if (size > EAGER_MAX || s->delivering || !pl_list_empty(&s->arriving))
        return false;
    struct pl_header whole = *header;
    whole.tag = tag;
    whole.size = size;
    self_deliver(s, &whole, data, NULL);
    return true;
}

static int self_send(struct pl_endpoint *endpoint, struct pl_outgoing *out)
{
    struct self *s = ((struct endpoint *)endpoint)->self;
    size_t size = out->header.size;
    bool rndv = size > EAGER_MAX || (out->header.flags & PL_FLAG_SYNC);

    if (!rndv && !s->delivering && pl_list_empty(&s->arriving)) {
        unsigned char packed[EAGER_MAX];
        const void *data = pl_cursor_direct(&out->data);
        if (!data) {
            s->host->pack(&out->data, packed, size);
            data = packed;
        }
        self_deliver(s, &out->header, data, NULL);
        return MPI_SUCCESS;
    }
    struct message *message = self_message_create(s, out, rndv);
    if (!message)
        return s->host->fail(MPI_ERR_NO_MEM, "out of memory for a message of %zu bytes to this process", size);
    out->rndv = rndv;
    out->transport[0] = (uint64_t)(uintptr_t)message;
    pl_list_append(&s->arriving, &message->link);
    return rndv ? PL_PENDING : MPI_SUCCESS;
}

/* Unpacks straight from a source that is one run; else packs the source into each run of the destination. */
static void self_copy(const struct pl_transport_host *host, struct pl_cursor *from, struct pl_cursor *to, size_t bytes)
{
    void *data = pl_cursor_direct(from);
    if (data && bytes) {
        host->unpack(to, data, bytes);
        return;
    }
    while (bytes > 0) {
        void *at;
        size_t run = host->run(to, bytes, &at);
        if (run == 0)
            return;
        host->pack(from, at, run);
        bytes -= run;
    }
}

static void self_finish(struct self *s, struct message *message)
{
    if (message->out)
        pl_list_append(&s->finished, &message->link);
    else
        free(message);
}

static int self_fetch(void *self, struct pl_rndv *rndv, struct pl_incoming *in)
{
    struct self *s = self;
    struct message *message = PL_CONTAINER(rndv, struct message, rndv);
    struct pl_outgoing *out = message->out;
    if (out)
        self_copy(s->host, &out->data, &in->data,
                  out->header.size < in->data.total ? out->header.size : in->data.total);
    self_finish(s, message);
    return out ? MPI_SUCCESS : s->host->fail(MPI_ERR_OTHER, "the message was withdrawn while it was being received");
}

static void self_drop(void *self, struct pl_rndv *rndv, bool cancelled)
{
    struct message *message = PL_CONTAINER(rndv, struct message, rndv);
    if (cancelled && message->out) {
        message->out->transport[0] = 0;
        message->out = NULL;
    }
    self_finish(self, message);
}

static bool self_withdraw(struct pl_endpoint *endpoint, struct pl_outgoing *out)
{
    (void)endpoint;
    struct message *message = (struct message *)(uintptr_t)out->transport[0];
    if (!message)
        return true; /* already dropped */
    message->out = NULL;
    if (!pl_list_empty(&message->link)) { /* else the engine has it, and will fetch or drop it */
        pl_list_remove(&message->link);
        free(message);
    }
    return true;
}

static int self_progress(void *self)
{
    struct self *s = self;
    if (pl_likely(pl_list_empty(&s->arriving) && pl_list_empty(&s->finished)))
        return 0;
    int events = 0;
    struct pl_list *node;
    while ((node = pl_list_pop(&s->finished)) != NULL) {
        struct message *message = PL_CONTAINER(node, struct message, link);
        struct pl_outgoing *out = message->out;
        free(message);
        s->host->sent(s->engine, out, MPI_SUCCESS);
        events++;
    }
    while ((node = pl_list_pop(&s->arriving)) != NULL) {
        struct message *message = PL_CONTAINER(node, struct message, link);
        bool rndv = message->out != NULL;
        self_deliver(s, &message->header, message->data, rndv ? &message->rndv : NULL);
        if (!rndv)
            free(message);
        events++;
    }
    return events;
}

static bool self_flushed(void *self)
{
    struct self *s = self;
    return pl_list_empty(&s->arriving) && pl_list_empty(&s->finished);
}

const struct pl_transport_ops pl_transport_self = {
    .abi = PL_TRANSPORT_ABI,
    .name = "self",
    .open = self_open,
    .close = self_close,
    .address = self_address,
    .connect = self_connect,
    .disconnect = self_disconnect,
    .send = self_send,
    .send_now = self_send_now,
    .fetch = self_fetch,
    .drop = self_drop,
    .withdraw = self_withdraw,
    .progress = self_progress,
    .flushed = self_flushed,
};
