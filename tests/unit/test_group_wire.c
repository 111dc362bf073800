/* SPDX-License-Identifier: BSD-3-Clause */
/* Serialized groups and the numbers of jobs. A group of several jobs comes back with its cards, also if the reader has
 * other numbers for the jobs. Truncated and changed bytes are an error or another group, and never a bad access. */
#include "unit.h"

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/version.h"
#include "core/comm/group_wire.h"
#include "core/engine/address_vector.h"
#include "core/engine/comm.h"
#include "core/engine/instance.h"
#include "core/engine/life.h"
#include "core/engine/peer.h"
#include "core/job/jobs.h"
#include "core/job/process.h"

static struct pl_instance *instance;

static void set_up(void)
{
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_int_eq(pl_instance_open(false, MPI_THREAD_SINGLE, "", NULL, &instance), MPI_SUCCESS);
}

static void tear_down(void)
{
    pl_instance_close(instance);
}

static int number_of(uint64_t key, const char *name)
{
    int number = -1;
    ck_assert_int_eq(pl_jobs_number(key, name, strlen(name), &number), MPI_SUCCESS);
    return number;
}

/* This process, and others of two jobs. */
static struct pl_comm *make_comm(void)
{
    int ocean = number_of(7, "ocean"), ice = number_of(8, "ice");
    uint64_t procs[] = { PL_PROC(ice, 3), pl_process_self(), PL_PROC(ocean, 0), PL_PROC(ice, 1) };
    struct pl_group *group = pl_instance_group(instance, 4, procs);
    struct pl_comm *comm;
    ck_assert_int_eq(pl_comm_create(instance, NULL, group, NULL, pl_comm_new_id(), &comm), MPI_SUCCESS);
    pl_handle_drop(group);
    return comm;
}

START_TEST(numbers)
{
    uint64_t key;
    ck_assert_int_eq(number_of(pl_process.identity.key, pl_process.identity.nspace), 0);
    ck_assert_int_eq(number_of(7, "ocean"), 1);
    ck_assert_int_eq(number_of(8, "ocean"), 2);
    ck_assert_int_eq(number_of(7, "ice"), 3);
    ck_assert_int_eq(number_of(7, "ocean"), 1);
    ck_assert_str_eq(pl_jobs_name(3, &key), "ice");
    ck_assert_uint_eq(key, 7);
    ck_assert_str_eq(pl_jobs_name(0, &key), pl_process.identity.nspace);
    ck_assert_str_eq(pl_jobs_name(9, &key), pl_process.identity.nspace);
    char text[64];
    pl_jobs_describe(PL_PROC(2, 5), text, sizeof text);
    ck_assert_str_eq(text, "rank 5 of job ocean");
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "job %d", i);
        ck_assert_int_eq(number_of((uint64_t)i, text), 4 + i);
    }
    ck_assert_int_eq(number_of(500, "job 500"), 504);
}
END_TEST

START_TEST(come_back)
{
    struct pl_comm *comm = make_comm();
    struct pl_group *group;
    struct pl_av *av;
    unsigned char *wire;
    size_t length, card;
    ck_assert_int_eq(pl_group_wire_write(comm, &wire, &length), MPI_SUCCESS);
    ck_assert_int_eq(pl_group_wire_read(instance, wire, length, &group, &av), MPI_SUCCESS);
    ck_assert_int_eq(pl_group_compare(group, comm->group), MPI_IDENT);
    for (int i = 0; i < 4; i++) {
        pl_av_card(av, i, &card);
        ck_assert_uint_eq(card, 0);
    }
    pl_av_release(av);
    pl_handle_drop(group);

    /* Another process has other numbers for the jobs. */
    pl_jobs_forget();
    int ice = number_of(8, "ice");
    ck_assert_int_eq(pl_group_wire_read(instance, wire, length, &group, NULL), MPI_SUCCESS);
    ck_assert_uint_eq(pl_group_proc(group, 0), PL_PROC(ice, 3));
    ck_assert_uint_eq(pl_group_proc(group, 1), pl_process_self());
    pl_handle_drop(group);
    free(wire);
    pl_comm_free(comm);

    /* With a card. */
    uint64_t self = pl_process_self();
    group = pl_instance_group(instance, 1, &self);
    ck_assert_int_eq(pl_comm_create(instance, NULL, group, NULL, pl_comm_new_id(), &comm), MPI_SUCCESS);
    pl_handle_drop(group);
    ck_assert_int_eq(pl_group_wire_gather(comm, 0, &wire, &length), MPI_SUCCESS);
    ck_assert_int_eq(pl_group_wire_read(instance, wire, length, &group, &av), MPI_SUCCESS);
    const void *data = pl_av_card(av, 0, &card);
    ck_assert_uint_eq(card, instance->engine.card_length);
    ck_assert_int_eq(memcmp(data, instance->engine.card, card), 0);
    pl_av_release(av);
    pl_handle_drop(group);
    free(wire);
    pl_comm_free(comm);
}
END_TEST

START_TEST(damage)
{
    struct pl_comm *comm = make_comm();
    struct pl_group *group;
    struct pl_av *av;
    unsigned char *wire;
    size_t length;
    ck_assert_int_eq(pl_group_wire_write(comm, &wire, &length), MPI_SUCCESS);
    for (size_t cut = 0; cut < length; cut++) {
        unsigned char *part = malloc(cut + 1);
        memcpy(part, wire, cut);
        UNIT_CHECK(pl_group_wire_read(instance, part, cut, &group, &av) == MPI_ERR_OTHER);
        UNIT_CHECK(!pl_group_wire_is_networked(part, cut));
        free(part);
    }
    for (size_t at = 0; at < length; at++)
        for (int bit = 0; bit < 8; bit++) {
            wire[at] ^= (unsigned char)(1 << bit);
            if (pl_group_wire_read(instance, wire, length, &group, &av) == MPI_SUCCESS) {
                pl_av_release(av);
                pl_handle_drop(group);
            }
            wire[at] ^= (unsigned char)(1 << bit);
        }
    free(wire);
    pl_comm_free(comm);
}
END_TEST

/* A card that says that other hosts can reach its engine, also truncated and changed. */
START_TEST(networked)
{
    static const unsigned char entry[] = { 3, 'f', 'a', 'r', 0, 0 };
    struct pl_engine *engine = &instance->engine;
    struct pl_comm *comm;
    unsigned char *wire;
    size_t length;
    uint64_t self = pl_process_self();
    struct pl_group *group = pl_instance_group(instance, 1, &self);
    ck_assert_int_eq(pl_comm_create(instance, NULL, group, NULL, pl_comm_new_id(), &comm), MPI_SUCCESS);
    pl_handle_drop(group);
    ck_assert_int_eq(pl_group_wire_gather(comm, 0, &wire, &length), MPI_SUCCESS);
    ck_assert(!pl_engine_is_networked(engine) && !pl_group_wire_is_networked(wire, length));
    free(wire);
    memcpy(engine->card + engine->card_length, entry, sizeof entry);
    engine->card_length += sizeof entry;
    ck_assert_int_eq(pl_group_wire_gather(comm, 0, &wire, &length), MPI_SUCCESS);
    ck_assert(pl_engine_is_networked(engine) && pl_group_wire_is_networked(wire, length));
    ck_assert_int_eq(pl_engine_add_network(engine), MPI_SUCCESS); /* nothing to do */
    ck_assert_int_eq(engine->transports, 1);
    for (size_t cut = 0; cut < length; cut++) {
        unsigned char *part = malloc(cut + 1);
        memcpy(part, wire, cut);
        UNIT_CHECK(!pl_group_wire_is_networked(part, cut));
        free(part);
    }
    for (size_t at = 0; at < length; at++)
        for (int c = 0; c < 256; c++) {
            unsigned char was = wire[at];
            wire[at] = (unsigned char)c;
            pl_group_wire_is_networked(wire, length); /* must not read beyond the end */
            wire[at] = was;
        }
    free(wire);
    pl_comm_free(comm);
}
END_TEST

/* If two processes have no transport in common, the message names those of each. */
START_TEST(nothing_in_common)
{
    static const unsigned char card[] = { 1, 2, 3, 4, 5, 6, 7, PL_WIRE_MARK, 3, 'u', 'c', 'x', 2, 0, 'a', 'b' };
    struct pl_engine *engine = &instance->engine;
    struct pl_peer *peer;
    pl_engine_enter(engine);
    ck_assert_int_eq(pl_engine_peer(engine, card, sizeof card, PL_PROC(0, 0), &peer), MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "this process has self, that one ucx"));
    ck_assert_int_eq(pl_engine_peer(engine, card, 8, PL_PROC(0, 0), &peer), MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "this process has self, that one none"));
    pl_engine_leave(engine);
}
END_TEST

/* A process whose machine stores numbers differently is refused, and the words name both machines. */
START_TEST(another_machine)
{
    struct pl_engine *engine = &instance->engine;
    struct pl_peer *peer;
    unsigned char card[PL_CARD_MAX];
    size_t length = pl_engine_card(engine, card);
    card[0] ^= 1;
    pl_engine_enter(engine);
    for (unsigned other = 0; other < 4; other++) {
        char words[96];
        snprintf(words, sizeof words, "stores numbers as %s does, and this process as %s", pl_numbers_name(other),
                 pl_numbers_name(PL_NUMBERS));
        if (other == PL_NUMBERS)
            continue;
        card[7] = (unsigned char)(other << 6 | PL_WIRE_VERSION);
        ck_assert_int_eq(pl_engine_peer(engine, card, length, PL_PROC(0, 0), &peer), MPI_ERR_OTHER);
        ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), words));
        ck_assert_int_eq(pl_engine_check_version(card, length, PL_PROC(0, 0)), MPI_ERR_OTHER);
    }
    pl_engine_leave(engine);
}
END_TEST

/* A process of another version is refused, whatever else its card contains, and one of the same is not. */
START_TEST(another_version)
{
    struct pl_engine *engine = &instance->engine;
    struct pl_peer *peer;
    unsigned char card[PL_CARD_MAX];
    size_t length = pl_engine_card(engine, card);
    card[0] ^= 1; /* not the engine itself */
    pl_engine_enter(engine);
    card[7] ^= 61 ^ PL_WIRE_VERSION;
    ck_assert_int_eq(pl_engine_peer(engine, card, length, PL_PROC(0, 0), &peer), MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "another version of Plenum: its messages are of version 61"));
    card[7] ^= 61 ^ PL_WIRE_VERSION;
    ck_assert_int_eq(pl_engine_peer(engine, card, length, PL_PROC(0, 0), &peer), MPI_SUCCESS);
    pl_engine_leave(engine);
}
END_TEST

UNIT_MAIN_WITH("group_wire", set_up, tear_down, numbers, come_back, damage, networked, nothing_in_common,
               another_machine, another_version)
