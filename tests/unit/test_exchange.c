/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings, seen from the door: who gets a place and who does not, who has given up before it came, what a host and a
 * guest are told and make of it, and messages that nobody in his senses sends.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/job/process.h"
#include "sessions/create/exchange_parts.h"
#include "sessions/create/listener.h"

static uint64_t ranks[3] = { 0, 4, 7 };
static const struct pl_group group = { .size = 3, .list = ranks };
static const char key[] = "a key";
static const struct pl_origin first = { .engine = 11, .card = "card one", .card_length = 8 };
static const struct pl_origin second = { .engine = 12, .card = "card two", .card_length = 8 };

static struct pl_exchange host_of(const char *its_key)
{
    return (struct pl_exchange){ .key = its_key,
                                 .key_length = (uint32_t)strlen(its_key),
                                 .group = &group,
                                 .members = 3,
                                 .payload = "mine",
                                 .payload_length = 4,
                                 .tag = "tag",
                                 .who = "the group's processes" };
}

static void open_meeting(struct pl_exchange *exchange)
{
    ck_assert_int_eq(pl_exchange_open(exchange), MPI_SUCCESS);
}

/* As if the transport had brought it. */
static void arrives(struct pl_exchange *exchange, const struct pl_origin *from, int kind, uint64_t token,
                    const void *data, size_t size)
{
    struct pl_header header = { .kind = PL_MSG_LISTENER, .tag = kind, .token = token, .size = size };
    pl_engine_enter(exchange->listener);
    exchange->listener->listener_arrived(exchange->listener, from, &header, data);
    pl_engine_leave(exchange->listener);
}

static void joins(struct pl_exchange *exchange, const struct pl_origin *from, uint64_t token, const char *its_key,
                  uint32_t members, uint32_t rank, const char *payload)
{
    unsigned char data[256];
    struct pl_exchange_join_head head = { members, rank, (uint32_t)strlen(its_key), (uint32_t)strlen(payload) };
    memcpy(data, &head, sizeof head);
    memcpy(data + sizeof head, its_key, head.key_length);
    memcpy(data + sizeof head + head.key_length, payload, head.payload_length);
    arrives(exchange, from, PL_EXCHANGE_JOIN, token, data, sizeof head + head.key_length + head.payload_length);
}

static void leaves(struct pl_exchange *exchange, const struct pl_origin *from, uint64_t token, int error,
                   const char *why)
{
    unsigned char data[256];
    int32_t class = error;
    memcpy(data, &class, sizeof class);
    memcpy(data + sizeof class, why, strlen(why));
    arrives(exchange, from, PL_EXCHANGE_LEAVE, token, data, sizeof class + strlen(why));
}

START_TEST(places)
{
    struct pl_exchange one = host_of(key), two = host_of(key);
    size_t length;
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    open_meeting(&one);
    joins(&one, &first, 1, "b key", 3, 1, "x"); /* another key of the same length */
    joins(&one, &first, 2, "a ke", 3, 1, "x");
    joins(&one, &first, 3, key, 4, 1, "x"); /* another number of members */
    joins(&one, &first, 4, key, 3, 0, "x"); /* the host's own place */
    joins(&one, &first, 5, key, 3, 3, "x"); /* no place at all */
    ck_assert_int_eq(one.arrived, 1);
    joins(&one, &first, 6, key, 3, 1, "six");
    joins(&one, &first, 7, key, 3, 1, "seven"); /* for the next meeting */
    ck_assert_int_eq(one.arrived, 2);
    joins(&one, &second, 8, key, 3, 2, "eight");
    ck_assert_int_eq(pl_exchange_gather(&one), MPI_SUCCESS);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&one, 0, &length), "mine", 4), 0);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&one, 1, &length), "six", 3), 0);
    ck_assert_int_eq(length, 3);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&one, 2, &length), "eight", 5), 0);
    joins(&one, &second, 9, key, 3, 1, "late"); /* in place of the dead, with whose gift the others count already */
    ck_assert_int_eq(memcmp(pl_exchange_payload(&one, 1, &length), "six", 3), 0);
    ck_assert_uint_eq(one.participants[1]->token, 6);
    pl_exchange_close(&one);

    open_meeting(&two);
    ck_assert_int_eq(two.arrived, 2);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&two, 1, &length), "late", 4), 0);
    joins(&two, &first, 7, key, 3, 1, "seven");
    ck_assert_int_eq(memcmp(pl_exchange_payload(&two, 1, &length), "seven", 5), 0);
    joins(&two, &second, 9, key, 3, 1, "other"); /* the same process with a new door: the old one has closed */
    ck_assert_int_eq(two.arrived, 2);
    ck_assert_int_eq(memcmp(pl_exchange_payload(&two, 1, &length), "other", 5), 0);
    pl_exchange_close(&two);
    pl_process_close();
}
END_TEST

START_TEST(giving_up)
{
    struct pl_exchange one = host_of(key), two = host_of(key), three = host_of(key);
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    open_meeting(&one);
    leaves(&one, &first, 1, MPIX_ERR_TIMEOUT, "bored"); /* overtakes what it takes back */
    joins(&one, &first, 1, key, 3, 1, "one");
    ck_assert_int_eq(one.arrived, 1);
    joins(&one, &first, 2, key, 3, 1, "two");
    leaves(&one, &second, 2, MPIX_ERR_TIMEOUT, "somebody else's");
    ck_assert_int_eq(one.error, 0);
    leaves(&one, &first, 2, MPIX_ERR_TIMEOUT, "bored");
    joins(&one, &second, 3, key, 3, 2, "three"); /* too late */
    ck_assert_int_eq(pl_exchange_gather(&one), MPIX_ERR_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "rank 2 (7 in the job)"));
    ck_assert_ptr_null(strstr(pl_error_detail(NULL), "rank 1"));
    pl_exchange_refuse(&one, MPIX_ERR_TIMEOUT);
    pl_exchange_close(&one);

    open_meeting(&two); /* who came too late for the one waits for the next */
    ck_assert_int_eq(two.arrived, 2);
    leaves(&two, &second, 3, MPI_ERR_PROC_ABORTED, "rank 1 has ended");
    ck_assert_int_eq(pl_exchange_gather(&two), MPI_ERR_PROC_ABORTED);
    ck_assert_str_eq(pl_error_detail(NULL), "rank 1 has ended");
    pl_exchange_close(&two);

    three.patience = 1;
    open_meeting(&three);
    ck_assert_int_eq(pl_exchange_gather(&three), MPIX_ERR_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "rank 1 (4 in the job), rank 2 (7 in the job)"));
    pl_exchange_close(&three);
    pl_process_close();
}
END_TEST

/* What the host says, right and wrong. */
START_TEST(answers)
{
    static const struct {
        const void *data;
        size_t size;
        int result;
    } said[] = {
        { "\0\0\0\0news", 8, MPI_SUCCESS },
        { "\0\0\0\0", 4, MPI_SUCCESS },
        { "\72\0\0\0gone", 8, MPI_ERR_PROC_ABORTED },
        { "\1", 1, MPI_ERR_OTHER },
        { "", 0, MPI_ERR_OTHER },
        { "\377\377\377\377bad", 7, MPI_ERR_OTHER },
    };
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct pl_exchange participant = host_of(key);
        const void *data;
        size_t length;
        participant.me = 1;
        open_meeting(&participant);
        arrives(&participant, &first, PL_EXCHANGE_ANSWER, participant.token + 1, "\72\0\0\0", 4); /* to somebody else */
        ck_assert(!participant.done);
        arrives(&participant, &first, PL_EXCHANGE_ANSWER, participant.token, said[i].data, said[i].size);
        arrives(&participant, &first, PL_EXCHANGE_ANSWER, participant.token, "\72\0\0\0", 4); /* once more */
        ck_assert_int_eq(pl_exchange_join(&participant, &data, &length), said[i].result);
        if (said[i].result == MPI_SUCCESS) {
            ck_assert_int_eq(length, said[i].size - 4);
            ck_assert_int_eq(memcmp(data, (const char *)said[i].data + 4, length), 0);
        }
        pl_exchange_close(&participant);
    }
    pl_process_close();
}
END_TEST

START_TEST(nonsense)
{
    struct pl_exchange exchange = host_of(key);
    uint64_t seed = 7;
    ck_assert_int_eq(pl_process_open(), MPI_SUCCESS);
    open_meeting(&exchange);
    for (int n = 0; n < 20000; n++) {
        unsigned char data[64] = { 0 };
        struct pl_exchange_join_head head = { 3, 1 + (uint32_t)(unit_random(&seed) % 2), 5, 4 };
        size_t size = sizeof head + 9;
        memcpy(data, &head, sizeof head);
        memcpy(data + sizeof head, "a keygift", 9);
        for (int changes = (int)(unit_random(&seed) % 4); changes > 0; changes--)
            data[unit_random(&seed) % size] = (unsigned char)unit_random(&seed);
        if (unit_random(&seed) % 3 == 0)
            size = unit_random(&seed) % 64;
        unsigned char *exact = malloc(size ? size : 1); /* so that a reader beyond the end is caught */
        memcpy(exact, data, size);
        arrives(&exchange, unit_random(&seed) % 2 ? &first : &second, (int)(unit_random(&seed) % 7) - 1,
                unit_random(&seed) % 32, exact, size);
        free(exact);
        ck_assert_int_le(exchange.arrived, 3);
    }
    pl_exchange_close(&exchange);
    pl_process_close();
}
END_TEST

UNIT_MAIN("meeting", places, giving_up, answers, nonsense)
