/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a peer at an engine: headers of any kind, for communicators that exist and others, with receives posted,
 * with data or with the promise of data. Each promise is kept or dropped exactly once, and nothing stays behind. */
#include "fuzz_unit.h"
#include "wire.h"

#include "core/engine/match.h"
#include "core/engine/p2p.h"
#include "core/engine/partitioned.h"

enum { MESSAGES_MAX = 24, DATA_MAX = 600, RECEIVES = 4 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")

static struct pl_rndv promise = { .ops = &wire_ops };
static unsigned char buffers[RECEIVES][64];

static struct pl_request *post(struct fuzz *from, int number)
{
    struct pl_request *request = NULL;
    struct pl_type *byte = (struct pl_type *)PL_TYPE_BYTE;
    int source = fuzz_byte(from) % 2 ? 1 : MPI_ANY_SOURCE, tag = (int)fuzz_byte(from) % 4;
    struct pl_comm *comm = comms[fuzz_byte(from) % 2];
    int err = fuzz_byte(from) % 4 == 3
                  ? pl_precv_create(comm, buffers[number], 4, 16, byte, 1, tag, &request)
                  : pl_recv_prepare(comm, buffers[number], 64, byte, source, tag ? tag : MPI_ANY_TAG, &request);
    FUZZ_CHECK(err == MPI_SUCCESS);
    FUZZ_CHECK((pl_is_precv(request) ? request->coll.restart(request) : pl_p2p_start(request)) == MPI_SUCCESS);
    request->is.active = true;
    return request;
}

static void arrives(struct fuzz *from)
{
    unsigned char data[DATA_MAX];
    struct pl_header header = {
        .home = fuzz_byte(from) % 8 ? 1 : fuzz_number(from),
        .serial = fuzz_byte(from) % 8 ? fuzz_byte(from) % 3 : (uint32_t)fuzz_number(from),
        .source = fuzz_byte(from) % 8 ? 1 : (int32_t)fuzz_number(from),
        .tag = fuzz_byte(from) % 4 ? fuzz_byte(from) % 4 : (int32_t)fuzz_number(from),
        .kind = (uint8_t)(fuzz_byte(from) % (PL_MSG_KINDS + 1)),
        .flags = (uint8_t)fuzz_byte(from),
        .part = (uint16_t)(fuzz_byte(from) % 12),
        .token = fuzz_byte(from) % 4 ? fuzz_byte(from) % 4 : fuzz_number(from),
    };
    bool promised = header.kind < PL_QUEUES && fuzz_byte(from) % 4 == 3;
    header.size = promised ? fuzz_number(from) : fuzz_below(from, DATA_MAX);
    for (size_t i = 0; i < DATA_MAX && !promised; i++)
        data[i] = i < header.size && i < 48 ? (unsigned char)fuzz_byte(from) : 0;
    unsigned char *exact = malloc(promised || !header.size ? 1 : header.size);
    memcpy(exact, data, promised || !header.size ? 0 : header.size);
    arrive(&header, exact, promised ? &promise : NULL);
    free(exact);
    if (wire.fetching) { /* the transport answers at once, or with an error */
        struct pl_incoming *in = wire.fetching;
        wire.fetching = NULL;
        if (wire.fetch_result == PL_PENDING) {
            pl_engine_enter(engine);
            pl_engine_host.fetched(engine, in, fuzz_byte(from) % 4 ? MPI_SUCCESS : MPI_ERR_OTHER);
            pl_engine_leave(engine);
        }
    }
    wire.sent = 0;
}

static void finish(struct pl_request *request)
{
    request->is.active = false;
    if (pl_is_precv(request))
        pl_request_let_go(request);
    else
        pl_handle_drop(request);
}

/* What freeing a communicator does to receives that are still posted. */
static void withdraw(struct pl_comm *comm)
{
    pl_engine_enter(engine);
    for (int i = 0; i < PL_QUEUES; i++)
        PL_LIST_EACH(request, &comm->match.queues[i].posted, struct pl_request, link) {
            pl_list_remove(&request->link);
            request->outcome.cancelled = true;
            pl_request_complete(request, MPI_SUCCESS);
        }
    pl_engine_leave(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct pl_request *requests[RECEIVES];
    setenv("PLENUM_CONFIG", "", 1);
    set_up();
    wire.fetch_result = fuzz_byte(&from) % 2 ? MPI_SUCCESS : PL_PENDING;
    for (int i = 0; i < RECEIVES; i++)
        requests[i] = post(&from, i);
    for (int i = 0; i < MESSAGES_MAX && fuzz_left(&from) > 0; i++)
        arrives(&from);
    withdraw(comms[0]);
    withdraw(comms[1]);
    for (int i = 0; i < RECEIVES; i++)
        finish(requests[i]);
    tear_down();
    return 0;
}
