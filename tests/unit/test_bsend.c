/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends: what a flush waits for, and what the error says when there is no room. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/datatype/datatype.h"
#include "core/engine/bsend.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/p2p.h"
#include "core/engine/request.h"
#include "core/job/process.h"
#include "sessions/session.h"

enum { BYTES = 100000, CAPACITY = 4 * (BYTES + MPI_BSEND_OVERHEAD) }; /* long enough to wait for its receive */

static struct pl_instance *session;
static struct pl_comm *comm;
static unsigned char *data, *buffer;

static void begin_test(void)
{
    ck_assert_int_eq(pl_session_open(NULL, NULL, &session), MPI_SUCCESS);
    struct pl_group *group = pl_instance_group_range(session, 1, pl_process_self(), 1);
    ck_assert_int_eq(pl_comm_create(session, NULL, group, NULL, pl_comm_new_id(), &comm), MPI_SUCCESS);
    pl_handle_drop(group);
    data = calloc(1, BYTES);
    buffer = malloc(CAPACITY);
    ck_assert(data && buffer);
}

static void end_test(void)
{
    pl_session_close(session);
    free(buffer);
    free(data);
}

static void bsend(int tag)
{
    ck_assert_int_eq(pl_bsend(comm, data, BYTES, (struct pl_type *)PL_TYPE_BYTE, 0, tag), MPI_SUCCESS);
}

static void receive(int tag)
{
    struct pl_request *request;
    ck_assert_int_eq(pl_recv_prepare(comm, data, BYTES, (struct pl_type *)PL_TYPE_BYTE, 0, tag, &request), MPI_SUCCESS);
    ck_assert_int_eq(pl_p2p_start(request), MPI_SUCCESS);
    ck_assert_int_eq(pl_request_finish(request), MPI_SUCCESS);
}

/* As another thread may, while the flush waits. */
static void send_and_receive(struct pl_deferred *deferred)
{
    (void)deferred;
    bsend(2);
    receive(1);
}

/* The second message is buffered when the flush has begun, and is not received before the flush ends. */
START_TEST(flush_of_earlier_messages)
{
    static const struct pl_deferred_ops ops = { .run = send_and_receive };
    struct pl_deferred meanwhile = { .ops = &ops };
    void *back;
    MPI_Count size;
    begin_test();
    ck_assert_int_eq(pl_bsend_attach(pl_bsend_of_comm(comm), buffer, CAPACITY), MPI_SUCCESS);
    bsend(1);
    pl_engine_enter(&session->engine);
    pl_list_append(&session->engine.deferred.work, &meanwhile.link);
    pl_lock_drop(&session->engine.lock); /* the flush will run it */
    ck_assert_int_eq(pl_bsend_flush(pl_bsend_of_comm(comm)), MPI_SUCCESS);
    receive(2);
    ck_assert_int_eq(pl_bsend_detach(pl_bsend_of_comm(comm), &back, &size), MPI_SUCCESS);
    ck_assert(back == buffer && size == CAPACITY);
    end_test();
}
END_TEST

/* Two messages fill the buffer. When the first is received, a third of the same size takes its place exactly. */
START_TEST(gap_of_one_message)
{
    enum { ATTACHED = 2 * (BYTES + MPI_BSEND_OVERHEAD) };
    void *back;
    MPI_Count size;
    begin_test();
    ck_assert_int_eq(pl_bsend_attach(pl_bsend_of_comm(comm), buffer, ATTACHED), MPI_SUCCESS);
    bsend(1);
    bsend(2);
    for (int tag = 1; tag < 10; tag++) {
        receive(tag);
        bsend(tag + 2);
    }
    receive(10);
    receive(11);
    ck_assert_int_eq(pl_bsend_detach(pl_bsend_of_comm(comm), &back, &size), MPI_SUCCESS);
    end_test();
}
END_TEST

static void bsend_marked(int tag)
{
    memset(data, tag, BYTES);
    bsend(tag);
}

static void receive_marked(int tag)
{
    memset(data, 0, BYTES);
    receive(tag);
    ck_assert_msg(data[0] == tag && data[BYTES - 1] == tag, "message %d has other data", tag);
}

/* The newest message goes first: the next ones take no place of those that are left. */
START_TEST(newest_is_received_first)
{
    void *back;
    MPI_Count size;
    begin_test();
    ck_assert_int_eq(pl_bsend_attach(pl_bsend_of_comm(comm), buffer, CAPACITY), MPI_SUCCESS);
    bsend_marked(1);
    bsend_marked(2);
    receive_marked(2);
    bsend_marked(3);
    bsend_marked(4);
    bsend_marked(5);
    receive_marked(3);
    bsend_marked(6);
    ck_assert_int_eq(pl_bsend(comm, data, BYTES, (struct pl_type *)PL_TYPE_BYTE, 0, 7), MPI_ERR_BUFFER);
    receive_marked(4);
    receive_marked(5);
    receive_marked(6);
    receive_marked(1);
    ck_assert_int_eq(pl_bsend_detach(pl_bsend_of_comm(comm), &back, &size), MPI_SUCCESS);
    end_test();
}
END_TEST

/* A buffer as large as users are told holds its message wherever it begins and ends, and nothing beside it changes. */
START_TEST(tight_at_any_address)
{
    enum { GUARD = 64, TAIL = 67 };
    void *back;
    MPI_Count size;
    begin_test();
    for (int at = 0; at < 64; at++)
        for (int less = 0; less < TAIL; less += 11) {
            MPI_Count bytes = BYTES - less, attached = bytes + MPI_BSEND_OVERHEAD;
            unsigned char *start = (unsigned char *)(((uintptr_t)buffer + 127) & ~(uintptr_t)63) + at;
            memset(start - GUARD, 0xa5, GUARD);
            memset(start + attached, 0xa5, GUARD);
            data[0] = (unsigned char)at;
            data[bytes - 1] = (unsigned char)less;
            ck_assert_int_eq(pl_bsend_attach(pl_bsend_of_comm(comm), start, attached), MPI_SUCCESS);
            int rc = pl_bsend(comm, data, bytes, (struct pl_type *)PL_TYPE_BYTE, 0, 1);
            ck_assert_msg(rc == MPI_SUCCESS, "%d behind a multiple of 64, %d less: %s", at, less,
                          pl_error_detail(NULL));
            data[0] = data[bytes - 1] = 0xff;
            receive(1);
            ck_assert(data[0] == at && data[bytes - 1] == less);
            ck_assert_int_eq(pl_bsend_detach(pl_bsend_of_comm(comm), &back, &size), MPI_SUCCESS);
            ck_assert(back == start && size == attached);
            for (int i = 0; i < GUARD; i++)
                ck_assert_msg(start[-1 - i] == 0xa5 && start[attached + i] == 0xa5, "%d: %d bytes away", at, i);
        }
    end_test();
}
END_TEST

/* The error says how much the message needs, what is attached, and what is free. */
START_TEST(no_space)
{
    enum { ATTACHED = 2 * (BYTES + MPI_BSEND_OVERHEAD) - 1 };
    char needed[32], attached[32], text[PL_DETAIL_MAX];
    void *back;
    MPI_Count size;
    begin_test();
    ck_assert_int_eq(pl_bsend_attach(pl_bsend_of_comm(comm), buffer, ATTACHED), MPI_SUCCESS);
    bsend(1);
    int rc = pl_bsend(comm, data, 2 * BYTES, (struct pl_type *)PL_TYPE_BYTE, 0, 2);
    ck_assert_int_eq(rc, MPI_ERR_BUFFER);
    snprintf(text, sizeof text, "%s", pl_error_detail(NULL));
    snprintf(needed, sizeof needed, "needs %d bytes", 2 * BYTES + MPI_BSEND_OVERHEAD);
    snprintf(attached, sizeof attached, "attached %d bytes", ATTACHED);
    ck_assert_ptr_nonnull(strstr(text, needed));
    ck_assert_ptr_nonnull(strstr(text, attached));
    const char *end = strstr(text, " are free");
    ck_assert_ptr_nonnull(end);
    while (end > text && end[-1] != ' ')
        end--;
    ck_assert_int_lt(atoi(end), ATTACHED - BYTES);
    ck_assert_int_ge(atoi(end), BYTES);
    const char *longest = strstr(text, "at most ");
    ck_assert_ptr_nonnull(longest);
    ck_assert_int_eq(atoi(longest + strlen("at most ")), atoi(end));
    receive(1);
    ck_assert_int_eq(pl_bsend_detach(pl_bsend_of_comm(comm), &back, &size), MPI_SUCCESS);
    end_test();
}
END_TEST

UNIT_MAIN("bsend", flush_of_earlier_messages, gap_of_one_message, newest_is_received_first, tight_at_any_address,
          no_space)
