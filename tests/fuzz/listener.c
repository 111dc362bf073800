/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between listeners, for exchanges and ports. A real exchange waits, and a port is open. What arrives is
 * valid, damaged, or anything. The senders' cards are bytes of the input too. */
#include "fuzz.h"

#include "core/base/bytes.h"
#include "core/base/config.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/job/process.h"
#include "sessions/create/exchange_message.h"
#include "sessions/create/listener.h"
#include "sessions/port/calls.h"
#include "sessions/port/name.h"
#include "sessions/port/port.h"

enum { MESSAGES_MAX = 16 };

FUZZ(NULL, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")

static uint64_t ranks[3] = { 0, 4, 7 };
static const struct pl_group group = { .size = 3, .list = ranks };
static uint64_t port;

static void put_body(struct fuzz *from, enum pl_listener_message kind, struct pl_writer *to)
{
    struct pl_locator process = { .node = fuzz_byte(from),
                                  .started = fuzz_number(from),
                                  .pid = (int)fuzz_number(from) };
    switch (kind) {
    case PL_EXCHANGE_JOIN:
    case PL_EXCHANGE_REFUSAL:
        pl_write_u32(to, fuzz_byte(from) % 8 ? 3 : (uint32_t)fuzz_number(from));
        pl_write_u32(to, fuzz_byte(from) % 8 ? fuzz_byte(from) % 4 : (uint32_t)fuzz_number(from));
        pl_write_text(to, fuzz_byte(from) % 8 ? "a key" : "b key");
        pl_write_i32(to, kind == PL_EXCHANGE_JOIN && fuzz_byte(from) % 4 ? 0 : (int32_t)fuzz_number(from));
        break;
    case PL_EXCHANGE_ANSWER:
    case PL_EXCHANGE_LEAVE:
    case PL_PORT_PROPOSE: pl_write_i32(to, fuzz_byte(from) % 2 ? 0 : (int32_t)fuzz_number(from)); break;
    case PL_PORT_CALL:
        pl_port_name_write(to, fuzz_byte(from) % 8 ? port : fuzz_number(from), &process);
        pl_write_u8(to, (uint8_t)fuzz_byte(from));
        break;
    default: break;
    }
    for (unsigned n = fuzz_byte(from) % 40; n > 0; n--)
        pl_write_u8(to, (uint8_t)fuzz_byte(from));
}

/* The senders; a transport keeps an origin until it closes. */
static unsigned char cards[3][32];
static struct pl_origin origins[3];

static void make_origins(struct fuzz *from)
{
    for (unsigned i = 0; i < 3; i++) {
        memset(cards[i], (int)i, sizeof cards[i]);
        for (unsigned n = fuzz_byte(from) % 8; n > 0; n--)
            cards[i][fuzz_byte(from) % sizeof cards[i]] = (unsigned char)fuzz_byte(from);
        origins[i] =
            (struct pl_origin){ .engine = 11 + i, .card = cards[i], .card_length = fuzz_byte(from) % sizeof cards[i] };
    }
}

static void arrives(struct fuzz *from, struct pl_engine *listener)
{
    unsigned char data[512];
    struct pl_writer to = pl_writer_fixed(data, sizeof data);
    const struct pl_origin *origin = &origins[fuzz_byte(from) % 3];
    enum pl_listener_message kind = (enum pl_listener_message)(fuzz_byte(from) % (PL_PORT_HANG_UP + 2));
    put_body(from, kind, &to);
    struct pl_header header = { .kind = PL_MSG_LISTENER,
                                .tag = (int32_t)kind,
                                .token = fuzz_byte(from) % 4 ? fuzz_byte(from) % 4 : fuzz_number(from) };
    header.size = fuzz_damage(from, data, to.length);
    unsigned char *exact = malloc(header.size ? header.size : 1);
    memcpy(exact, data, header.size);
    pl_engine_enter(listener);
    listener->arrived(listener, origin, &header, exact);
    pl_engine_leave(listener);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz from = fuzz_begin(data, size);
    struct pl_exchange exchange = { .key = "a key",
                                    .key_length = 5,
                                    .group = &group,
                                    .size = 3,
                                    .payload = "mine",
                                    .payload_length = 4,
                                    .tag = "tag",
                                    .members = "processes of the group",
                                    .timeout = 1 };
    char text[MPI_MAX_PORT_NAME];
    struct pl_port_name name;
    struct pl_port_caller *caller;
    size_t length;
    setenv("PLENUM_CONFIG", "", 1);
    FUZZ_CHECK(pl_process_open() == MPI_SUCCESS && pl_port_open(false, text) == MPI_SUCCESS);
    FUZZ_CHECK(pl_port_name_parse(text, &name) == MPI_SUCCESS && pl_exchange_open(&exchange) == MPI_SUCCESS);
    port = name.port;
    make_origins(&from);
    for (int i = 0; i < MESSAGES_MAX && fuzz_left(&from) > 0; i++)
        arrives(&from, exchange.listener);
    if (exchange.joined == 3 && pl_exchange_gather(&exchange) == MPI_SUCCESS)
        for (uint32_t i = 0; i < 3; i++)
            FUZZ_CHECK(pl_exchange_payload(&exchange, (int)i, &length));
    pl_engine_enter(exchange.listener);
    while (pl_port_next_caller(port, &caller) && caller)
        pl_port_refuse(exchange.listener, caller, MPI_ERR_PORT, "no");
    pl_engine_leave(exchange.listener);
    pl_exchange_close(&exchange);
    pl_process_close();
    return 0;
}
