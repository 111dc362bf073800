/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges, as the listener sees them: which requests an exchange takes, participants that give up before their
 * request arrives, how answers and failures are read, and damaged messages.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/job/process.h"
#include "sessions/create/exchange_message.h"
#include "sessions/create/listener.h"

static uint64_t ranks[3] = { 0, 4, 7 };
static const struct pl_group group = { .size = 3, .list = ranks };
static const char key[] = "a key";
static const struct pl_origin first = { .engine = 11, .card = "card one", .card_length = 8 };
static const struct pl_origin second = { .engine = 12, .card = "card two", .card_length = 8 };

static struct pl_exchange exchange_of(const char *its_key)
{
    return (struct pl_exchange){
        .key = its_key,
        .key_length = strlen(its_key),
        .group = &group,
        .size = 3,
        .payload = "mine",
        .payload_length = 4,
        .tag = "tag",
        .members = "processes of the group",
    };
}

static void open_exchange(struct pl_exchange *exchange)
{
    ck_assert_int_eq(pl_exchange_open(exchange), MPI_SUCCESS);
}

/* As if the transport had brought it. */
static void arrives(struct pl_exchange *exchange, const struct pl_origin *from, int kind, uint64_t token,
                    const void *data, size_t size)
{
    struct pl_header header = { .kind = PL_MSG_LISTENER, .tag = kind, .token = token, .size = size };
    pl_engine_enter(exchange->listener);
    exchange->listener->arrived(exchange->listener, from, &header, data);
    pl_engine_leave(exchange->listener);
}

static struct pl_writer request_of(unsigned char data[256], const char *its_key, uint32_t size, uint32_t rank)
{
    struct pl_writer to = pl_writer_fixed(data, 256);
    pl_write_u32(&to, size);
    pl_write_u32(&to, rank);
    pl_write_text(&to, its_key);
    return to;
}

static void asks(struct pl_exchange *exchange, const struct pl_origin *from, uint64_t token, const char *its_key,
                 uint32_t size, uint32_t rank, int error, const char *payload)
{
    unsigned char data[256];
    struct pl_writer to = request_of(data, its_key, size, rank);
    pl_write_i32(&to, error);
    pl_write_raw(&to, payload, strlen(payload));
    arrives(exchange, from, PL_EXCHANGE_JOIN, token, data, to.length);
}

static void joins(struct pl_exchange *exchange, const struct pl_origin *from, uint64_t token, const char *its_key,
                  uint32_t size, uint32_t rank, const char *payload)
{
    asks(exchange, from, token, its_key, size, rank, MPI_SUCCESS, payload);
}

static void leaves(struct pl_exchange *exchange, const struct pl_origin *from, uint64_t token, int error,
                   const char *why)
{
    unsigned char data[256];
    struct pl_writer to = pl_writer_fixed(data, sizeof data);
    pl_write_i32(&to, error);
    pl_write_raw(&to, why, strlen(why));
    arrives(exchange, from, PL_EXCHANGE_LEAVE, token, data, to.length);
}

static void refuses(struct pl_exchange *exchange, const char *its_key, int error, const char *why)
{
    unsigned char data[256];
    struct pl_writer to = request_of(data, its_key, 3, 1);
    pl_write_i32(&to, error);
    pl_write_raw(&to, why, strlen(why));
    arrives(exchange, &first, PL_EXCHANGE_REFUSAL, 99, data, to.length);
}

START_TEST(requests)
{
    struct pl_exchange one = exchange_of(key), two = exchange_of(key);
    size_t length;
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    open_exchange(&one);
    joins(&one, &first, 1, "b key", 3, 1, "x"); /* another key of the same length */
    joins(&one, &first, 2, "a ke", 3, 1, "x");
    joins(&one, &first, 3, key, 4, 1, "x"); /* another number of members */
    joins(&one, &first, 4, key, 3, 0, "x"); /* the coordinator itself */
    joins(&one, &first, 5, key, 3, 3, "x"); /* no rank of the group */
    ck_assert_int_eq(one.joined, 1);
    joins(&one, &first, 6, key, 3, 1, "six");
    joins(&one, &first, 7, key, 3, 1, "seven"); /* for the next exchange */
    ck_assert_int_eq(one.joined, 2);
    joins(&one, &second, 8, key, 3, 2, "eight");
    ck_assert_int_eq(pl_exchange_gather(&one), MPI_SUCCESS);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&one, 0, &length), "mine", 4), 0);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&one, 1, &length), "six", 3), 0);
    ck_assert_int_eq(length, 3);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&one, 2, &length), "eight", 5), 0);
    joins(&one, &second, 9, key, 3, 1, "late"); /* a new process of this rank; the dead one's payload is in use */
    ck_assert_int_eq(memcmp(pl_exchange_payload(&one, 1, &length), "six", 3), 0);
    ck_assert_uint_eq(one.requests[1]->token, 6);
    pl_exchange_close(&one);

    open_exchange(&two);
    ck_assert_int_eq(two.joined, 2);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&two, 1, &length), "late", 4), 0);
    joins(&two, &first, 7, key, 3, 1, "seven");
    ck_assert_int_eq(memcmp(pl_exchange_payload(&two, 1, &length), "seven", 5), 0);
    joins(&two, &second, 9, key, 3, 1, "other"); /* the same process with a new listener: the old one has closed */
    ck_assert_int_eq(two.joined, 2);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&two, 1, &length), "other", 5), 0);
    pl_exchange_close(&two);
    pl_process_close();
}
END_TEST

START_TEST(giving_up)
{
    struct pl_exchange one = exchange_of(key), two = exchange_of(key), three = exchange_of(key),
                       four = exchange_of(key);
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    open_exchange(&one);
    leaves(&one, &first, 1, MPIX_ERR_TIMEOUT, "limit"); /* overtakes the request that it withdraws */
    joins(&one, &first, 1, key, 3, 1, "one");
    ck_assert_int_eq(one.joined, 1);
    joins(&one, &first, 2, key, 3, 1, "two");
    leaves(&one, &second, 2, MPIX_ERR_TIMEOUT, "of another process");
    ck_assert_int_eq(one.error, 0);
    leaves(&one, &first, 2, MPIX_ERR_TIMEOUT, "limit");
    joins(&one, &second, 3, key, 3, 2, "three"); /* too late */
    ck_assert_int_eq(pl_exchange_gather(&one), MPIX_ERR_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "rank 2 (7 in the job)"));
    ck_assert_ptr_null(strstr(pl_error_detail(NULL), "rank 1"));
    pl_exchange_refuse(&one, MPIX_ERR_TIMEOUT);
    pl_exchange_close(&one);

    open_exchange(&two); /* a request that came too late for one exchange waits for the next */
    ck_assert_int_eq(two.joined, 2);
    leaves(&two, &second, 3, MPI_ERR_PROC_ABORTED, "rank 1 has ended");
    ck_assert_int_eq(pl_exchange_gather(&two), MPI_ERR_PROC_ABORTED);
    ck_assert_str_eq(pl_error_detail(NULL), "rank 1 has ended");
    pl_exchange_close(&two);

    open_exchange(&four);
    refuses(&four, "b key", MPI_ERR_GROUP, "of another exchange");
    ck_assert_int_eq(four.error, 0);
    refuses(&four, key, MPI_ERR_GROUP, "it cannot come");
    ck_assert_int_eq(pl_exchange_gather(&four), MPI_ERR_GROUP);
    ck_assert_str_eq(pl_error_detail(NULL), "it cannot come");
    pl_exchange_close(&four);

    three.timeout = 1;
    open_exchange(&three);
    ck_assert_int_eq(pl_exchange_gather(&three), MPIX_ERR_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "rank 1 (4 in the job), rank 2 (7 in the job)"));
    pl_exchange_close(&three);
    pl_process_close();
}
END_TEST

/* Members that take part with an error: the exchange waits for all, and fails with the first one's. */
START_TEST(declining)
{
    struct pl_exchange one = exchange_of(key), two = exchange_of(key), three = exchange_of(key);
    const void *data;
    size_t length;
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    open_exchange(&one);
    asks(&one, &second, 1, key, 3, 2, MPI_ERR_INTERN, "second");
    asks(&one, &first, 2, key, 3, 1, -1, "of no class");
    ck_assert(one.joined == 2 && one.error == 0);
    asks(&one, &first, 3, key, 3, 1, MPI_ERR_NO_MEM, "no memory for a test");
    ck_assert(one.joined == 3 && one.error == 0);
    ck_assert_int_eq(pl_exchange_gather(&one), MPI_ERR_NO_MEM);
    ck_assert_str_eq(pl_error_detail(NULL), "\"tag\": rank 1 (4 in the job) has failed: no memory for a test");
    pl_exchange_close(&one);

    pl_fail(MPI_ERR_NO_MEM, "no memory here");
    pl_exchange_decline(&two, MPI_ERR_NO_MEM);
    open_exchange(&two);
    joins(&two, &first, 4, key, 3, 1, "one");
    joins(&two, &second, 5, key, 3, 2, "two");
    ck_assert_int_eq(pl_exchange_gather(&two), MPI_ERR_NO_MEM);
    ck_assert_str_eq(pl_error_detail(NULL), "\"tag\": rank 0 (0 in the job) has failed: no memory here");
    pl_exchange_close(&two);

    three.rank = 1;
    pl_fail(MPI_ERR_GROUP, "another error");
    pl_exchange_decline(&three, MPI_ERR_NO_MEM); /* with the words of its class */
    open_exchange(&three);
    arrives(&three, &first, PL_EXCHANGE_ANSWER, three.token, "\0\0\0\0news", 8); /* which no coordinator gives then */
    ck_assert_int_eq(pl_exchange_join(&three, &data, &length), MPI_ERR_NO_MEM);
    ck_assert_str_eq(pl_error_detail(NULL), pl_error_class_text(MPI_ERR_NO_MEM));
    pl_exchange_close(&three);
    pl_process_close();
}
END_TEST

/* Valid and damaged answers of the coordinator. */
START_TEST(answered)
{
    static const struct {
        const void *data;
        size_t size;
        int result;
    } answers[] = {
        { "\0\0\0\0news", 8, MPI_SUCCESS },
        { "\0\0\0\0", 4, MPI_SUCCESS },
        { "\72\0\0\0gone", 8, MPI_ERR_PROC_ABORTED },
        { "\1", 1, MPI_ERR_OTHER },
        { "", 0, MPI_ERR_OTHER },
        { "\377\377\377\377bad", 7, MPI_ERR_OTHER },
    };
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct pl_exchange participant = exchange_of(key);
        const void *data;
        size_t length;
        participant.rank = 1;
        open_exchange(&participant);
        arrives(&participant, &first, PL_EXCHANGE_ANSWER, participant.token + 1, "\72\0\0\0",
                4); /* to another request */
        ck_assert(!participant.answered);
        arrives(&participant, &first, PL_EXCHANGE_ANSWER, participant.token, answers[i].data, answers[i].size);
        arrives(&participant, &first, PL_EXCHANGE_ANSWER, participant.token, "\72\0\0\0", 4); /* once more */
        ck_assert_int_eq(pl_exchange_join(&participant, &data, &length), answers[i].result);
        if (answers[i].result == MPI_SUCCESS) {
            ck_assert_int_eq(length, answers[i].size - 4);
            ck_assert_int_eq(memcmp(data, (const char *)answers[i].data + 4, length), 0);
        }
        pl_exchange_close(&participant);
    }
    pl_process_close();
}
END_TEST

START_TEST(damaged)
{
    struct pl_exchange exchange = exchange_of(key);
    uint64_t seed = 7;
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    open_exchange(&exchange);
    for (int n = 0; n < 20000; n++) {
        unsigned char data[256] = { 0 };
        struct pl_writer to = request_of(data, "a key", 3, 1 + (uint32_t)(unit_random(&seed) % 2));
        pl_write_i32(&to, unit_random(&seed) % 2 ? MPI_SUCCESS : MPI_ERR_NO_MEM);
        pl_write_raw(&to, "gift", 4);
        size_t size = to.length;
        for (int changes = (int)(unit_random(&seed) % 4); changes > 0; changes--)
            data[unit_random(&seed) % size] = (unsigned char)unit_random(&seed);
        if (unit_random(&seed) % 3 == 0)
            size = unit_random(&seed) % 64;
        unsigned char *exact = malloc(size ? size : 1); /* so that a reader beyond the end is caught */
        memcpy(exact, data, size);
        arrives(&exchange, unit_random(&seed) % 2 ? &first : &second, (int)(unit_random(&seed) % 7) - 1,
                unit_random(&seed) % 32, exact, size);
        free(exact);
        ck_assert_int_le(exchange.joined, 3);
    }
    pl_exchange_close(&exchange);
    pl_process_close();
}
END_TEST

UNIT_MAIN("exchange", requests, giving_up, declining, answered, damaged)
