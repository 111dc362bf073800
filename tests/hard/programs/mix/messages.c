/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two ranks. Receives of a pair are posted in the order of its sends, so MPI_ANY_TAG has one result; a
 * receive from MPI_ANY_SOURCE has a tag of its own.
 */
#include "mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OWN_TAGS = 1000, NEVER = 32001, READY = 32002, BUFFER = 4 << 20, BUFFERED = 4096 };
enum send_way {
    SEND,
    SSEND,
    RSEND,
    BSEND,
    ISEND,
    ISSEND,
    IRSEND,
    IBSEND,
    SEND_INIT,
    SSEND_INIT,
    BSEND_INIT,
    PSEND_INIT
};
enum receive_way { RECV, PROBE, MPROBE, IRECV, IMPROBE, IPROBE, RECV_INIT, PRECV_INIT };

static void *buffer;
static int buffered, tags;

void messages_open(void)
{
    buffer = malloc(BUFFER);
    OK(MPI_Buffer_attach(buffer, BUFFER));
}

void messages_close(void)
{
    void *old;
    int size;
    OK(MPI_Buffer_detach(&old, &size));
    if (old != buffer || size != BUFFER)
        fail("MPI_Buffer_detach: another buffer");
    free(buffer);
}

/* Leaves space for one more buffered message. */
static void buffer_use(size_t bytes)
{
    buffered += (int)bytes * 2 + BUFFERED;
    if (buffered < BUFFER)
        return;
    messages_close();
    messages_open();
    buffered = (int)bytes * 2 + BUFFERED;
}

struct message {
    struct comm *c;
    int from, from_side, to, tag, serial;
    size_t elements, capacity; /* capacity: of the receive */
    const struct base *base;
    uint64_t id;
    enum send_way send;
    enum receive_way receive;
    bool any_source, any_tag;
};

/* Returns it if it is persistent. */
static struct op *message_send(const struct message *m)
{
    struct op *op =
        op_new(m->serial, "send %d, %zu bytes to %d, tag %d", m->send, m->elements * m->base->size, m->to, m->tag);
    struct layout l;
    MPI_Comm comm = m->c->comm;
    layout_make(&l, m->base, m->elements);
    area_make(&op->sent, l.span);
    layout_fill(&l, &op->sent, m->elements * m->base->size, m->id, true, true);
    void *at = area_at(&op->sent, 0);
    char ready;
    if (m->send == RSEND || m->send == IRSEND)
        OK(MPI_Recv(&ready, 0, MPI_CHAR, m->to, READY, comm, MPI_STATUS_IGNORE));
    if (m->send == BSEND || m->send == IBSEND)
        buffer_use(m->elements * m->base->size);
#define WITH at, l.count, l.type, m->to, m->tag, comm
    switch (m->send) {
    case SEND: OK(MPI_Send(WITH)); break;
    case SSEND: OK(MPI_Ssend(WITH)); break;
    case RSEND: OK(MPI_Rsend(WITH)); break;
    case BSEND: OK(MPI_Bsend(WITH)); break;
    case ISEND: OK(MPI_Isend(WITH, &op->request)); break;
    case ISSEND: OK(MPI_Issend(WITH, &op->request)); break;
    case IRSEND: OK(MPI_Irsend(WITH, &op->request)); break;
    case IBSEND: OK(MPI_Ibsend(WITH, &op->request)); break;
    case SEND_INIT: OK(MPI_Send_init(WITH, &op->request)); break;
    case SSEND_INIT: OK(MPI_Ssend_init(WITH, &op->request)); break;
    case BSEND_INIT: OK(MPI_Bsend_init(WITH, &op->request)); break;
    case PSEND_INIT:
#if MPI_VERSION >= 4
        op->partitions = 1 + (int)own_below(5);
        while (m->elements % (size_t)op->partitions)
            op->partitions--;
        area_free(&op->sent);
        area_make(&op->sent, m->elements * m->base->size);
        area_fill(&op->sent, 0, m->elements * m->base->size, m->id, 0, true, true);
        OK(MPI_Psend_init(area_at(&op->sent, 0), op->partitions, (MPI_Count)m->elements / op->partitions, m->base->type,
                          m->to, m->tag, comm, MPI_INFO_NULL, &op->request));
#endif
        break;
    }
    layout_free(&l);
    op->persistent = m->send >= SEND_INIT;
    if (m->send < ISEND) {
        op_end(op, NULL);
        return NULL;
    }
    if ((m->send == ISEND || m->send == ISSEND || m->send == IBSEND) && own_below(12) == 0) {
        OK(MPI_Request_free(&op->request));
        op_orphan(op);
        return NULL;
    }
    op_keep(op);
    return m->send >= SEND_INIT ? op : NULL;
}

static struct op *message_receive(const struct message *m, bool self)
{
    struct op *op = op_new(m->serial, "receive %d, %zu bytes from %d, tag %d", m->receive, m->elements * m->base->size,
                           m->from, m->tag);
    struct layout l;
    MPI_Comm comm = m->c->comm;
    MPI_Status status;
    MPI_Message message;
    enum receive_way way = self && m->receive < IRECV ? IRECV : m->receive;
    int flag = 0, count, source = m->any_source ? MPI_ANY_SOURCE : m->from, tag = m->any_tag ? MPI_ANY_TAG : m->tag;
    bool ready = m->send == RSEND || m->send == IRSEND;
    layout_make(&l, m->base, m->capacity);
    area_make(&op->received, l.span);
    layout_fill(&l, &op->received, m->elements * m->base->size, m->id, false, true);
    void *at = area_at(&op->received, 0);
    op->source = m->from;
    op->tag = m->tag;
    op->type = m->base->type;
    op->elements = m->elements;
    if (own_below(12) == 0) { /* a receive that nothing can match */
        MPI_Request none;
        OK(MPI_Irecv(at, 0, MPI_BYTE, source, NEVER, comm, &none));
        OK(MPI_Cancel(&none));
        OK(MPI_Wait(&none, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        if (!flag)
            fail("a receive was not cancelled");
        flag = 0;
    }
    if (way == PROBE || way == IPROBE) {
        while (way == IPROBE && !flag && !self) {
            OK(MPI_Iprobe(source, tag, comm, &flag, &status));
            if (!flag)
                usleep(50);
        }
        if (!self) {
            if (way == PROBE)
                OK(MPI_Probe(source, tag, comm, &status));
            OK(MPI_Get_count(&status, m->base->type, &count));
            if (status.MPI_SOURCE != m->from || status.MPI_TAG != m->tag || count != (int)m->elements)
                fail("%s: a probe found %d from %d with %d", op->what, count, status.MPI_SOURCE, status.MPI_TAG);
        }
    }
    while (way == IMPROBE && !flag && !self) {
        OK(MPI_Improbe(source, tag, comm, &flag, &message, &status));
        if (!flag)
            usleep(50);
    }
    op->persistent = way == RECV_INIT || way == PRECV_INIT;
    switch (way) {
    case PROBE:
    case RECV: OK(MPI_Recv(at, l.count, l.type, source, tag, comm, &status)); break;
    case MPROBE:
        OK(MPI_Mprobe(source, tag, comm, &message, &status));
        OK(MPI_Mrecv(at, l.count, l.type, &message, &status));
        break;
    case IMPROBE:
        if (!self) {
            OK(MPI_Imrecv(at, l.count, l.type, &message, &op->request));
            break;
        } /* fall through */
    case IPROBE:
    case IRECV: OK(MPI_Irecv(at, l.count, l.type, source, tag, comm, &op->request)); break;
    case RECV_INIT: OK(MPI_Recv_init(at, l.count, l.type, source, tag, comm, &op->request)); break;
    case PRECV_INIT:
#if MPI_VERSION >= 4
        area_free(&op->received);
        area_make(&op->received, m->elements * m->base->size);
        area_fill(&op->received, 0, m->elements * m->base->size, m->id, 0, false, true);
        op->source = MPI_UNDEFINED;
        int partitions = m->elements % 2 ? 1 : 2;
        OK(MPI_Precv_init(area_at(&op->received, 0), partitions, (MPI_Count)m->elements / partitions, m->base->type,
                          m->from, m->tag, comm, MPI_INFO_NULL, &op->request));
#endif
        break;
    }
    layout_free(&l);
    bool now = way < IRECV, persistent = op->persistent;
    if (!now)
        op_keep(op);
    if (ready && !self)
        OK(MPI_Send(NULL, 0, MPI_CHAR, m->from, READY, comm));
    if (now)
        op_end(op, &status);
    return persistent ? op : NULL;
}

/* Sides that send in the midst of an access epoch must not wait for others. */
void message_step(bool started_only)
{
    struct comm *c = plan_comm(true);
    struct message m = { .c = c, .serial = c->serial, .base = plan_base() };
    m.from_side = c->inter ? (int)plan_below(2) : 0;
    int to_side = c->inter ? !m.from_side : 0;
    m.from = (int)plan_below((unsigned)c->sizes[m.from_side]);
    m.to = (int)plan_below((unsigned)c->sizes[to_side]);
    bool self = !c->inter && m.from == m.to;
    m.elements = plan_length(1100000) / m.base->size;
    m.capacity = plan_below(3) ? m.elements : m.elements + plan_below(20);
    m.send = plan_below(PSEND_INIT + COMPLETE);
    m.receive = plan_below(PRECV_INIT);
    m.id = mix_hash(mix.plan);
    m.tag = (int)plan_below(4);
    m.any_tag = plan_below(3) == 0;
    m.any_source = plan_below(4) == 0;
    if (started_only || self)
        m.send = m.send < ISEND ? ISEND : m.send;
    if (started_only)
        m.receive = IRECV;
    if ((started_only || self) && m.send == IRSEND)
        m.send = ISSEND;
    /* Messages of channels come again later; those of others must not match their receives. */
    if (m.send >= SEND_INIT || m.receive == RECV_INIT) {
        m.send = m.send < SEND_INIT ? SEND_INIT : m.send;
        m.receive = m.send == PSEND_INIT ? PRECV_INIT : RECV_INIT;
        if (started_only)
            return;
    }
    if (m.send == RSEND || m.send == IRSEND)
        m.receive = IRECV;
    if ((m.send == BSEND || m.send == IBSEND || m.send == BSEND_INIT) && m.elements > 8192)
        m.elements = m.capacity = 8192;
    if (m.send == BSEND_INIT)
        m.send = SEND_INIT; /* each start would need space */
    if (m.any_source) {
        m.tag = OWN_TAGS + tags++ % 30000;
        m.any_tag = false;
    }
    bool sends = c->side == m.from_side && c->rank == m.from, receives = c->side == to_side && c->rank == m.to;
    struct op *receive = receives && self ? message_receive(&m, true) : NULL;
    struct op *send = sends ? message_send(&m) : NULL;
    if (receives && !self)
        receive = message_receive(&m, false);
    if (receive)
        receive->twin = send;
    if (m.send >= SEND_INIT)
        channel_add(receive ? receive : send, m.serial);
}

/* --- all ranks exchange ------------------------------------------------------------------------------------------- */

void exchange_step(void)
{
    struct comm *c = plan_comm(false);
    const struct base *base = plan_base();
    int size = c->sizes[0], by = (int)plan_below((unsigned)size), tag = (int)plan_below(4);
    size_t elements = plan_length(270000) / base->size;
    unsigned way = plan_below(COMPLETE ? 4 : 2);
    uint64_t id = mix_hash(mix.plan);
    if (c->comm == MPI_COMM_NULL)
        return;
    int to = (c->rank + by) % size, from = (c->rank - by + size) % size;
    struct op *op = op_new(c->serial, "exchange %u, %zu bytes", way, elements * base->size);
    struct layout in, out;
    MPI_Status status;
    layout_make(&in, base, elements);
    layout_make(&out, base, elements);
    area_make(&op->received, in.span);
    area_make(&op->sent, out.span);
    layout_fill(&out, &op->sent, elements * base->size, id + (uint64_t)c->rank, true, true);
    if (way % 2)
        layout_fill(&in, &op->received, elements * base->size, id + (uint64_t)c->rank, true, false);
    layout_fill(&in, &op->received, elements * base->size, id + (uint64_t)from, false, true);
    void *at = area_at(&op->received, 0);
    op->source = from, op->tag = tag, op->type = base->type, op->elements = elements;
    if (way == 0)
        OK(MPI_Sendrecv(area_at(&op->sent, 0), out.count, out.type, to, tag, at, in.count, in.type, from, tag, c->comm,
                        &status));
    else if (way == 1)
        OK(MPI_Sendrecv_replace(at, in.count, in.type, to, tag, from, tag, c->comm, &status));
#if COMPLETE
    else if (way == 2)
        OK(MPI_Isendrecv(area_at(&op->sent, 0), out.count, out.type, to, tag, at, in.count, in.type, from, tag, c->comm,
                         &op->request));
    else
        OK(MPI_Isendrecv_replace(at, in.count, in.type, to, tag, from, tag, c->comm, &op->request));
#endif
    layout_free(&in);
    layout_free(&out);
    if (way < 2)
        op_end(op, &status);
    else
        op_keep(op);
}

/* --- MPI_ANY_SOURCE and MPI_ANY_TAG ------------------------------------------------------------------------------- */

/* All send to one rank, which takes what comes and knows it by source and tag. Nothing else is under way there. */
void wild_step(void)
{
    struct comm *c = plan_comm(false);
    int size = c->sizes[0], to = (int)plan_below((unsigned)size), each = 1 + (int)plan_below(4), next[RANKS] = { 0 };
    bool probes = plan_below(2);
    size_t length = plan_length(70000);
    uint64_t id = mix_hash(mix.plan);
    if (c->comm == MPI_COMM_NULL)
        return;
    ops_of(c->serial);
    OK(MPI_Barrier(c->comm));
    for (int k = 0; k < each; k++) {
        struct op *op = op_new(c->serial, "send to any, %zu bytes", length);
        area_make(&op->sent, length);
        area_fill(&op->sent, 0, length, id + (uint64_t)(c->rank * 100 + k), 0, true, true);
        OK(MPI_Isend(area_at(&op->sent, 0), (int)length, MPI_BYTE, to, 100 + k, c->comm, &op->request));
        op_keep(op);
    }
    for (int n = 0; c->rank == to && n < size * each; n++) {
        struct area area;
        MPI_Status status;
        MPI_Message message;
        area_make(&area, length);
        if (probes) {
            OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &message, &status));
            OK(MPI_Mrecv(area_at(&area, 0), (int)length, MPI_BYTE, &message, &status));
        } else {
            OK(MPI_Recv(area_at(&area, 0), (int)length, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &status));
        }
        if (status.MPI_TAG != 100 + next[status.MPI_SOURCE]++)
            fail("messages of rank %d came in another order", status.MPI_SOURCE);
        area_fill(&area, 0, length, id + (uint64_t)(status.MPI_SOURCE * 100 + status.MPI_TAG - 100), 0, false, true);
        area_check(&area, "receive from any", mix.step);
        area_free(&area);
    }
    ops_of(c->serial);
    OK(MPI_Barrier(c->comm));
}

/* --- errors on purpose -------------------------------------------------------------------------------------------- */

/* A message that is longer than its receive, received in several ways; another one comes beside it. */
static int receive_short(struct comm *c, unsigned way, void *at, int capacity, int from, struct area *good)
{
    MPI_Request requests[2];
    MPI_Status statuses[2], status;
    MPI_Message message;
    int err, n, indices[2];
    switch (way) {
    case 0: return MPI_Recv(at, capacity, MPI_BYTE, from, 7, c->comm, MPI_STATUS_IGNORE);
    case 1:
        OK(MPI_Mprobe(from, 7, c->comm, &message, &status));
        return MPI_Mrecv(at, capacity, MPI_BYTE, &message, &status);
    case 2:
        OK(MPI_Irecv(at, capacity, MPI_BYTE, from, 7, c->comm, &requests[0]));
        return MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    OK(MPI_Irecv(at, capacity, MPI_BYTE, from, 7, c->comm, &requests[0]));
    OK(MPI_Irecv(area_at(good, 0), 100, MPI_BYTE, from, 8, c->comm, &requests[1]));
    if (way == 3) {
        RAISES(MPI_ERR_IN_STATUS, MPI_Waitall(2, requests, statuses));
        if (statuses[1].MPI_ERROR != MPI_ERR_PENDING)
            OK(statuses[1].MPI_ERROR);
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        return statuses[0].MPI_ERROR;
    }
    err = MPI_SUCCESS;
    for (int left = 2; left > 0; left -= n) {
        int rc = MPI_Waitsome(2, requests, &n, indices, statuses);
        for (int i = 0; i < n && rc != MPI_SUCCESS; i++)
            if (indices[i] == 0)
                err = statuses[i].MPI_ERROR;
            else
                OK(statuses[i].MPI_ERROR);
    }
    return err;
}

static void truncated(struct comm *c)
{
    int size = c->sizes[0], from = (int)plan_below((unsigned)size), to = (int)plan_below((unsigned)size);
    size_t length = 9 + plan_length(300000), capacity = length / 2;
    unsigned way = plan_below(5);
    MPI_Request request = MPI_REQUEST_NULL, more = MPI_REQUEST_NULL;
    struct area sent, received, beside;
    uint64_t id = mix_hash(mix.plan);
    if (c->rank != from && c->rank != to)
        return;
    area_make(&sent, length);
    area_make(&received, capacity);
    area_make(&beside, 100);
    struct area given;
    area_make(&given, 100);
    area_fill(&given, 0, 100, id, 0, true, true);
    if (c->rank == from) {
        OK(MPI_Isend(area_at(&sent, 0), (int)length, MPI_BYTE, to, 7, c->comm, &request));
        if (way >= 3)
            OK(MPI_Isend(area_at(&given, 0), 100, MPI_BYTE, to, 8, c->comm, &more));
    }
    if (c->rank == to) {
        RAISES(MPI_ERR_TRUNCATE, receive_short(c, way, area_at(&received, 0), (int)capacity, from, &beside));
        if (way >= 3)
            area_fill(&beside, 0, 100, id, 0, false, true);
        area_check(&beside, "beside a truncated receive", mix.step);
        memset(area_at(&received, 0), 0xa5, capacity);
        area_check(&received, "truncated receive", mix.step);
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&more, MPI_STATUS_IGNORE));
    area_free(&sent);
    area_free(&received);
    area_free(&beside);
    area_free(&given);
}

void error_step(void)
{
    struct comm *c = plan_comm(false);
    unsigned way = plan_below(10);
    MPI_Comm comm = c->comm, made;
    MPI_Request request;
    char byte = 0;
    if (way >= 8) {
        truncated(c);
        return;
    }
    if (comm == MPI_COMM_NULL || own_below(2))
        return;
    switch (way) {
    case 0: RAISES(MPI_ERR_RANK, MPI_Send(&byte, 1, MPI_BYTE, c->sizes[0], 0, comm)); break;
    case 1: RAISES(MPI_ERR_TAG, MPI_Send(&byte, 1, MPI_BYTE, 0, -5, comm)); break;
    case 2: RAISES(MPI_ERR_COUNT, MPI_Irecv(&byte, -1, MPI_BYTE, 0, 0, comm, &request)); break;
    case 3: RAISES(MPI_ERR_TYPE, MPI_Isend(&byte, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request)); break;
    case 4: RAISES(MPI_ERR_ROOT, MPI_Bcast(&byte, 1, MPI_BYTE, -7, comm)); break;
    case 5: RAISES(MPI_ERR_OP, MPI_Allreduce(MPI_IN_PLACE, &byte, 1, MPI_BYTE, MPI_OP_NULL, comm)); break;
    case 6: RAISES(MPI_ERR_TAG, MPI_Recv(&byte, 1, MPI_BYTE, 0, -5000, comm, MPI_STATUS_IGNORE)); break;
    default: RAISES(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &made)); break;
    }
}
