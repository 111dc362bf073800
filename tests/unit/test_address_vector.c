/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address vectors. Cards of all lengths come back, also from a copy that has travelled; damaged copies and a lack of
 * memory are errors. The memory for a million processes of one node has a bound.
 */
#include "unit.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/memory.h"
#include "core/engine/address_vector.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/job/segment.h"

enum { MEMBERS = 100, MANY = 1000000 };

static struct pl_instance *open_instance(void)
{
    struct pl_instance *instance;
    setenv("PLENUM_TRANSPORT", "shm", 1); /* the card of a process that shares its node with others */
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_int_eq(pl_instance_open(false, MPI_THREAD_SINGLE, "", NULL, &instance), MPI_SUCCESS);
    return instance;
}

/* The card of member i: its length and its bytes follow from i. */
static size_t card_of(int i, unsigned char card[PL_CARD_MAX])
{
    size_t length = i == 0 ? 0 : i == 1 ? PL_CARD_MAX : (size_t)(i * 37 % 60);
    for (size_t k = 0; k < length; k++)
        card[k] = (unsigned char)(i + 3 * (int)k);
    return length;
}

static void check_vector(const struct pl_av *av)
{
    unsigned char expected[PL_CARD_MAX];
    for (int i = 0; i < MEMBERS; i++) {
        size_t length, wanted = card_of(i, expected);
        const void *card = pl_av_card(av, i, &length);
        ck_assert_uint_eq(length, wanted);
        ck_assert_int_eq(memcmp(card, expected, length), 0);
    }
}

static struct pl_av *make_vector(struct pl_group *group)
{
    unsigned char card[PL_CARD_MAX];
    size_t bytes = 0;
    for (int i = 0; i < MEMBERS; i++)
        bytes += card_of(i, card);
    struct pl_av *av = pl_av_create(group);
    ck_assert_int_eq(pl_av_open(av, bytes), MPI_SUCCESS);
    for (int i = 0; i < MEMBERS; i++) {
        size_t length = card_of(i, card);
        pl_av_add(av, i, card, length);
    }
    return av;
}

/* Reads a copy in memory of exactly its size, so that a sanitizer detects an overrun. */
static int read_copy(struct pl_group *group, const unsigned char *travelled, size_t size)
{
    unsigned char *copy = malloc(size + 1);
    memcpy(copy, travelled, size);
    copy = realloc(copy, size > 0 ? size : 1);
    const unsigned char *at = copy;
    struct pl_av *av = pl_av_create(group);
    int rc = pl_av_read(av, &at, copy + size);
    if (rc == MPI_SUCCESS) {
        size_t length;
        for (int i = 0; i < MEMBERS; i++) {
            const unsigned char *card = pl_av_card(av, i, &length);
            UNIT_CHECK(length <= PL_CARD_MAX && card + length <= (unsigned char *)av->begin + pl_av_size(av));
        }
        UNIT_CHECK(at <= copy + size);
    }
    pl_av_release(av);
    free(copy);
    return rc;
}

START_TEST(cards_come_back)
{
    struct pl_instance *instance = open_instance();
    struct pl_group *group = pl_group_create_range(instance, instance->serial, MEMBERS, 0, 1);
    struct pl_av *av = make_vector(group), *other = pl_av_create(group);
    check_vector(av);
    size_t size = pl_av_size(av);
    unsigned char *travelled = malloc(size + 5);
    ck_assert_ptr_eq(pl_av_write(av, travelled + 1), travelled + 1 + size); /* at any place */
    const unsigned char *at = travelled + 1;
    ck_assert_int_eq(pl_av_read(other, &at, travelled + 5 + size), MPI_SUCCESS);
    ck_assert_ptr_eq(at, travelled + 1 + size);
    pl_av_retain(other);
    pl_av_release(other);
    check_vector(other);
    pl_av_release(other);
    pl_av_release(av);
    free(travelled);
    pl_handle_drop(group);
    pl_instance_close(instance);
}
END_TEST

START_TEST(damage)
{
    struct pl_instance *instance = open_instance();
    struct pl_group *group = pl_group_create_range(instance, instance->serial, MEMBERS, 0, 1);
    struct pl_av *av = make_vector(group);
    size_t size = pl_av_size(av);
    unsigned char *travelled = malloc(size);
    pl_av_write(av, travelled);
    for (size_t cut = 0; cut < size; cut += 7)
        ck_assert_int_eq(read_copy(group, travelled, cut), MPI_ERR_OTHER);
    uint64_t seed = 5;
    int refused = 0;
    for (int round = 0; round < 2000; round++) {
        pl_av_write(av, travelled);
        travelled[unit_below(&seed, 4 * (MEMBERS + 1))] = (unsigned char)unit_random(&seed);
        refused += read_copy(group, travelled, size) != MPI_SUCCESS;
    }
    ck_assert_int_gt(refused, 1000);
    for (int n = 1; n <= 2; n++) {
        const unsigned char *at = travelled;
        pl_av_write(av, travelled);
        pl_memory_fail_at(n);
        struct pl_av *other = pl_av_create(group);
        ck_assert(n == 1 ? !other : pl_av_read(other, &at, travelled + size) == MPI_ERR_NO_MEM);
        pl_memory_fail_at(0);
        pl_av_release(other);
    }
    pl_av_release(av);
    free(travelled);
    pl_handle_drop(group);
    pl_instance_close(instance);
}
END_TEST

START_TEST(a_million_processes)
{
    struct pl_instance *instance = open_instance();
    const struct pl_engine *engine = &instance->engine;
    struct pl_group *all = pl_group_create_range(instance, instance->serial, MANY, 0, 1);
    struct mallinfo2 before = mallinfo2();
    struct pl_av *av = pl_av_create(all);
    ck_assert_int_eq(pl_av_open(av, engine->card_length * MANY), MPI_SUCCESS);
    for (int i = 0; i < MANY; i++)
        pl_av_add(av, i, engine->card, engine->card_length);
    struct mallinfo2 after = mallinfo2();
    double each = (double)(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / MANY;
    printf("bytes: a card of one node %zu, a member of a vector %.1f\n", engine->card_length, each);
    UNIT_CHECK((double)pl_av_size(av) / MANY <= 64 && each <= 64);
    pl_av_release(av);
    pl_handle_drop(all);
    pl_instance_close(instance);
}
END_TEST

UNIT_MAIN("address_vector", cards_come_back, damage, a_million_processes)
