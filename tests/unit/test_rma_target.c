/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of a single process that receives forged messages: operations that do not fit, data that was not announced,
 * random bytes. Nothing outside the window may change, and nothing may be left when the window is freed.
 */
#include "unit.h"

#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/rma/rma.h"
#include "core/rma/target.h"
#include "core/rma/window.h"

enum { SIZE = 64, BEFORE = 128 };

static unsigned char memory[BEFORE + SIZE + BEFORE];
static MPI_Session session;
static MPI_Comm comm;
static MPI_Win handle;
static struct pl_win *win;
static struct pl_engine *engine;

static void set_up(int dynamic)
{
    MPI_Group group;
    memset(memory, 0x55, sizeof memory);
    ck_assert_int_eq(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Group_from_session_pset(session, "mpi://SELF", &group), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_create_from_group(group, "rma", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
    MPI_Group_free(&group);
    if (dynamic)
        ck_assert_int_eq(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &handle), MPI_SUCCESS);
    else
        ck_assert_int_eq(MPI_Win_create(memory + BEFORE, SIZE, 1, MPI_INFO_NULL, comm, &handle), MPI_SUCCESS);
    win = (struct pl_win *)handle;
    engine = &win->comm->instance->engine;
}

static void tear_down(void)
{
    for (int i = 0; i < BEFORE; i++)
        UNIT_CHECK(memory[i] == 0x55 && memory[BEFORE + SIZE + i] == 0x55);
    ck_assert_int_eq(MPI_Win_free(&handle), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Comm_free(&comm), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Session_finalize(&session), MPI_SUCCESS);
}

static void arrive(int part, int sync_id, int source, const void *data, size_t bytes)
{
    struct pl_header header = {
        .kind = PL_MSG_RMA, .part = (uint16_t)part, .tag = sync_id, .source = source, .size = bytes
    };
    pl_engine_enter(engine);
    pl_rma_arrived(engine, win->comm, NULL, &header, data, NULL);
    pl_engine_progress(engine);
    pl_engine_leave(engine);
}

/* An operation message on MPI_BYTE with its data. */
static void wire_op(struct pl_rma_wire_op wanted, const void *data, size_t bytes)
{
    unsigned char message[sizeof wanted + 1 + 256];
    wanted.layout = 1;
    message[sizeof wanted] = (unsigned char)((uintptr_t)MPI_BYTE - 0x200);
    memcpy(message, &wanted, sizeof wanted);
    memcpy(message + sizeof wanted + 1, data, bytes);
    arrive(PL_PART_OP, 0, 0, message, sizeof wanted + 1 + bytes);
}

static int refused(void)
{
    int class = win->targets[0].origin.refused.class;
    win->targets[0].origin.refused.class = MPI_SUCCESS;
    return class;
}

START_TEST(bounds)
{
    unsigned char data[256];
    memset(data, 0xaa, sizeof data);
    set_up(0);
    wire_op((struct pl_rma_wire_op){ .kind = PL_RMA_PUT, .at = 8, .count = 16, .bytes = 16 }, data, 16);
    ck_assert_int_eq(refused(), MPI_SUCCESS);
    for (int i = 0; i < SIZE; i++)
        UNIT_CHECK(memory[BEFORE + i] == (i >= 8 && i < 24 ? 0xaa : 0x55));
    const struct {
        int64_t at;
        uint64_t count, bytes;
        int class;
    } bad[] = {
        { -1, 4, 4, MPI_ERR_RMA_RANGE },
        { SIZE, 1, 1, MPI_ERR_RMA_RANGE },
        { SIZE - 3, 4, 4, MPI_ERR_RMA_RANGE },
        { INT64_MAX, 4, 4, MPI_ERR_RMA_RANGE },
        { INT64_MIN, 4, 4, MPI_ERR_RMA_RANGE },
        { 0, 65, 65, MPI_ERR_RMA_RANGE },
        { 0, 4, 3, MPI_ERR_INTERN },
        { 0, INT64_MAX, 4, MPI_ERR_INTERN },
        { 0, UINT64_MAX, 4, MPI_ERR_INTERN },
        { 0, 3, 4, MPI_ERR_INTERN },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pl_rma_wire_op wanted = { .at = bad[i].at, .count = bad[i].count, .bytes = bad[i].bytes };
        wire_op(wanted, data, bad[i].bytes);
        ck_assert_int_eq(refused(), bad[i].class);
    }
    wire_op((struct pl_rma_wire_op){ .kind = PL_RMA_ACCUMULATE, .op = 7, .count = 4, .bytes = 4 }, data, 4);
    ck_assert_int_eq(refused(), MPI_ERR_INTERN);
    wire_op((struct pl_rma_wire_op){ .kind = PL_RMA_ACCUMULATE, .op = 0x21, .count = 4, .bytes = 4 }, data, 4);
    ck_assert_int_eq(refused(), MPI_ERR_OP); /* MPI_BYTE has no sum */
    wire_op((struct pl_rma_wire_op){ .kind = 200, .count = 4, .bytes = 4 }, data, 4);
    ck_assert_int_eq(refused(), MPI_ERR_INTERN);
    tear_down();
}
END_TEST

START_TEST(attached)
{
    unsigned char data[8] = { 0 };
    set_up(1);
    ck_assert_int_eq(MPI_Win_attach(handle, memory + BEFORE, SIZE), MPI_SUCCESS);
    int64_t at = (int64_t)(uintptr_t)(memory + BEFORE);
    wire_op((struct pl_rma_wire_op){ .kind = PL_RMA_PUT, .at = at + SIZE - 8, .count = 8, .bytes = 8 }, data, 8);
    ck_assert_int_eq(refused(), MPI_SUCCESS);
    ck_assert_int_eq(memory[BEFORE + SIZE - 1], 0);
    const int64_t addresses[] = { at - 1, at + SIZE - 7, 0, INT64_MAX, INT64_MIN, -4 };
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        wire_op((struct pl_rma_wire_op){ .kind = PL_RMA_PUT, .at = addresses[i], .count = 8, .bytes = 8 }, data, 8);
        ck_assert_int_eq(refused(), MPI_ERR_RMA_RANGE);
    }
    ck_assert_int_eq(MPI_Win_detach(handle, memory + BEFORE), MPI_SUCCESS);
    tear_down();
}
END_TEST

/* All kinds of messages, mostly random; the operation messages have bounds and amounts near the allowed ones. */
START_TEST(nonsense)
{
    uint64_t state = 1;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        set_up(dynamic);
        for (int i = 0; i < 20000; i++) {
            unsigned char bytes[160];
            size_t length = unit_random(&state) % sizeof bytes;
            for (size_t k = 0; k < length; k++)
                bytes[k] = (unsigned char)unit_random(&state);
            int part = (int)(unit_random(&state) % (PL_PART_REFUSED + 2));
            if (unit_random(&state) % 4 == 0) {
                struct pl_rma_wire_op wanted = { .kind = (uint8_t)(unit_random(&state) % 6),
                                                 .op = (uint8_t)(0x20 + unit_random(&state) % 0x20),
                                                 .separate = unit_random(&state) % 8 == 0,
                                                 .layout = (uint32_t)(unit_random(&state) % 4),
                                                 .at = (int64_t)(unit_random(&state) % 80) - 8,
                                                 .count = unit_random(&state) % 20,
                                                 .bytes = unit_random(&state) % 40 };
                memcpy(bytes, &wanted, sizeof wanted);
                bytes[sizeof wanted] %= 0x60;
                length = sizeof wanted + wanted.layout + (wanted.separate ? 0 : wanted.bytes);
                part = PL_PART_OP;
            }
            arrive(part, (int)(unit_random(&state) % 3), (int)(unit_random(&state) % 3) - 1, bytes, length);
        }
        tear_down();
    }
}
END_TEST

UNIT_MAIN("rma_target", bounds, attached, nonsense)
