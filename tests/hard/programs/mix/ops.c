/* SPDX-License-Identifier: BSD-3-Clause */
/* Pending operations, their completion in any order, and persistent ones that start again and again. */
#include "mix.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PENDING = 120, CHANNELS = 24 };

static struct op *pending[PENDING + 1]; /* inactive persistent ones too */
static int count;
static struct {
    struct op *op; /* NULL where this rank has no part */
    int serial;
} channels[CHANNELS];
static int channel_count;

struct op *op_new(int serial, const char *format, ...)
{
    struct op *op = calloc(1, sizeof *op);
    if (!op)
        fail("no memory");
    va_list args;
    va_start(args, format);
    vsnprintf(op->what, sizeof op->what, format, args);
    va_end(args);
    op->request = MPI_REQUEST_NULL;
    op->step = mix.step;
    op->serial = serial;
    op->source = MPI_UNDEFINED;
    return op;
}

void op_free(struct op *op)
{
    if (op->request != MPI_REQUEST_NULL)
        OK(MPI_Request_free(&op->request));
    area_free(&op->sent);
    area_free(&op->received);
    free(op->arrays);
    free(op);
}

void op_end(struct op *op, const MPI_Status *status)
{
    op->active = false;
    area_check(&op->sent, op->what, op->step);
    if (op->loose < op->loose_end)
        area_put(&op->received, op->loose, op->loose_end - op->loose, area_at(&op->received, op->loose), false, true);
    area_check(&op->received, op->what, op->step);
    if (op->source != MPI_UNDEFINED) {
        int elements;
        OK(MPI_Get_count(status, op->type, &elements));
        if (status->MPI_SOURCE != op->source || status->MPI_TAG != op->tag || elements != (int)op->elements)
            fail("%s of step %d: %d elements from %d with tag %d, not %zu from %d with %d", op->what, op->step,
                 elements, status->MPI_SOURCE, status->MPI_TAG, op->elements, op->source, op->tag);
    }
    if (!op->persistent)
        op_free(op);
}

static void op_start(struct op *op)
{
    area_reset(&op->sent);
    area_reset(&op->received);
    op->active = true;
    op->step = mix.step;
    if (own_below(3) == 0)
        OK(MPI_Startall(1, &op->request));
    else
        OK(MPI_Start(&op->request));
#if MPI_VERSION >= 4
    int first = op->partitions ? (int)own_below((unsigned)op->partitions) : 0;
    for (int p = 0; p < op->partitions; p++)
        OK(MPI_Pready((first + p) % op->partitions, op->request));
#endif
}

void op_keep(struct op *op)
{
    op->active = true;
    if (op->persistent)
        op_start(op);
    pending[count++] = op;
    while (count >= PENDING)
        ops_some();
}

static struct op *orphans;

void op_orphan(struct op *op)
{
    op->twin = orphans;
    orphans = op;
}

void orphans_end(void)
{
    for (struct op *op = orphans, *next; op; op = next) {
        next = op->twin;
        op->source = MPI_UNDEFINED;
        op_end(op, NULL);
    }
}

/* --- persistent operations ---------------------------------------------------------------------------------------- */

static void op_wait(struct op *op)
{
    MPI_Status status;
    if (!op->active)
        return;
    OK(MPI_Wait(&op->request, &status));
    op_end(op, &status);
}

static void pending_forget(const struct op *op)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (pending[i] != op)
            pending[kept++] = pending[i];
    count = kept;
}

static void channel_remove(int at, bool wait)
{
    for (struct op *op = channels[at].op, *twin; op; op = twin) {
        twin = op->twin;
        if (wait)
            op_wait(op);
        if (op->active) {
            op->persistent = false; /* the request goes when it is complete, after its communicator */
        } else {
            pending_forget(op);
            op_free(op);
        }
    }
    channels[at] = channels[--channel_count];
}

void channel_add(struct op *op, int serial)
{
    if (channel_count == CHANNELS)
        channel_remove((int)plan_below(CHANNELS), true);
    channels[channel_count].op = op;
    channels[channel_count++].serial = serial;
}

void channel_step(void)
{
    for (unsigned n = plan_below(4); channel_count > 0 && n > 0; n--) {
        struct op *first = channels[plan_below((unsigned)channel_count)].op;
        for (struct op *op = first; op; op = op->twin)
            op_wait(op);
        for (struct op *op = first; op; op = op->twin)
            op_start(op);
    }
}

void channel_retire(int serial)
{
    for (int c = channel_count - 1; c >= 0; c--)
        if (channels[c].serial == serial)
            channel_remove(c, false);
}

/* --- completion --------------------------------------------------------------------------------------------------- */

static MPI_Request requests[PENDING];
static MPI_Status statuses[PENDING];
static struct op *chosen[PENDING];
static int indices[PENDING];

/* The request of chosen[at] was completed: the functions may have changed the handle. */
static void chosen_end(int at, const MPI_Status *status)
{
    struct op *op = chosen[at];
    if (!op->active)
        return;
    bool goes = !op->persistent;
    bool was_persistent = requests[at] != MPI_REQUEST_NULL; /* of a channel that was retired meanwhile */
    op->request = was_persistent ? requests[at] : MPI_REQUEST_NULL;
    if (goes) {
        pending_forget(op);
        requests[at] = MPI_REQUEST_NULL;
    }
    op_end(op, status);
}

/* Only some of the pending are shown to MPI, in an order of their own. */
static int choose(int most)
{
    int n = 0;
    for (int i = 0; i < count && n < most; i++)
        if (own_below(3)) {
            unsigned to = own_below((unsigned)n + 1);
            chosen[n] = chosen[to];
            chosen[to] = pending[i];
            n++;
        }
    for (int i = 0; i < n; i++)
        requests[i] = chosen[i]->request;
    return n;
}

static void complete_listed(int done)
{
    for (int i = 0; done != MPI_UNDEFINED && i < done; i++)
        chosen_end(indices[i], &statuses[i]);
}

void ops_some(void)
{
    int n = choose(own_below(2) ? 8 : PENDING), done = 0, at, flag;
    MPI_Status status;
    if (n == 0)
        return;
    switch (own_below(8)) {
    case 0:
        OK(MPI_Waitall(n, requests, statuses));
        for (int i = 0; i < n; i++)
            chosen_end(i, &statuses[i]);
        break;
    case 1:
        OK(MPI_Waitsome(n, requests, &done, indices, statuses));
        complete_listed(done);
        break;
    case 2:
        OK(MPI_Testsome(n, requests, &done, indices, statuses));
        complete_listed(done);
        break;
    case 3:
        OK(MPI_Testall(n, requests, &flag, statuses));
        for (int i = 0; flag && i < n; i++)
            chosen_end(i, &statuses[i]);
        break;
    case 4:
        OK(MPI_Testany(n, requests, &at, &flag, &status));
        if (flag && at != MPI_UNDEFINED)
            chosen_end(at, &status);
        break;
    case 5:
        OK(MPI_Wait(&requests[0], &status));
        chosen_end(0, &status);
        break;
    case 6:
        if (requests[0] == MPI_REQUEST_NULL)
            fail("a request is null");
        OK(MPI_Request_get_status(requests[0], &flag, &status));
        OK(MPI_Test(&requests[0], &flag, &status));
        if (flag)
            chosen_end(0, &status);
        break;
    default:
        for (unsigned k = 1 + own_below((unsigned)n); k > 0; k--) {
            OK(MPI_Waitany(n, requests, &at, &status));
            if (at == MPI_UNDEFINED)
                break;
            chosen_end(at, &status);
        }
    }
}

static void ops_wait(int serial)
{
    for (int i = count - 1; i >= 0; i--) {
        struct op *op = pending[i];
        if (serial >= 0 && op->serial != serial)
            continue;
        MPI_Status status;
        bool goes = !op->persistent;
        if (op->active)
            OK(MPI_Wait(&op->request, &status));
        if (goes)
            pending_forget(op);
        if (op->active)
            op_end(op, &status);
    }
}

void ops_of(int serial)
{
    ops_wait(serial);
}

void ops_all(void)
{
    while (channel_count > 0)
        channel_remove(0, true);
    ops_wait(-1);
}
