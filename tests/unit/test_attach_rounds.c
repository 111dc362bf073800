/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rounds of MPIX_Attach_exchange(), with a callback that stands for the other members of the pool: members of this
 * machine and of another one, members that cannot enter, and what is damaged on the way.
 */
#include "unit.h"

#include <endian.h>

#include "core/base/error.h"
#include "core/job/attach_far.h"
#include "core/job/attach_rounds.h"

enum { SIZE = 3, AWAY = 2 };

/* What comes of the others in a round, and what is wrong with it. */
struct scene {
    int rounds;  /* so far */
    int wrong;   /* the round in which `spoil` is called */
    int returns; /* by the callback, in that round */
    bool far;    /* the rank AWAY is on another machine */
    void (*spoil)(struct pl_attach_member *all, int bytes);
    struct pl_seat *other; /* the memory that rank 0 has made, if that is another process */
};

static struct pl_attach_member *member_of(struct pl_attach_member *all, int bytes, int rank)
{
    return (void *)((char *)all + (size_t)rank * (size_t)bytes);
}

static int exchange(const void *mine, void *all, int bytes, void *context)
{
    struct scene *scene = context;
    const struct pl_attach_member *own = mine;
    scene->rounds++;
    for (int r = 0; r < SIZE; r++) {
        struct pl_attach_member *member = member_of(all, bytes, r);
        memcpy(member, mine, (size_t)bytes);
        if (r == own->rank)
            continue;
        member->rank = r;
        member->error = MPI_SUCCESS;
        member->cookie =
            r == 0 ? scene->other->job->cookie : own->cookie + (uint64_t)r; /* those of others do not count */
        member->fd = scene->other ? scene->other->fd : -1;
        if (scene->far && r == AWAY)
            memset(member->machine, 'x', 36);
        if ((size_t)bytes > sizeof *member) /* an address, with the rank in it */
            ((struct pl_far_card *)(void *)(member + 1))->data[0] = (unsigned char)r;
    }
    if (scene->rounds != scene->wrong)
        return 0;
    if (scene->spoil)
        scene->spoil(all, bytes);
    return scene->returns;
}

static int hold(struct scene *scene, struct pl_attach_rounds *m, int rank, struct pl_seat *seat)
{
    *m = (struct pl_attach_rounds){ .exchange = exchange, .context = scene };
    *seat = (struct pl_seat){ .fd = -1, .rank = -1 };
    return pl_rounds_hold(m, rank, SIZE, seat);
}

static void ck_words(int rc, int class, const char *words)
{
    ck_assert_int_eq(rc, class);
    ck_assert_msg(strstr(pl_error_detail(NULL), words) != NULL, "no \"%s\" in: %s", words, pl_error_detail(NULL));
}

static void end(struct pl_attach_rounds *m, struct pl_seat *seat)
{
    pl_rounds_end(m);
    pl_seat_leave(seat);
}

/* A scene of rank 0 that ends in round `wrong` with an error. */
static void ck_spoiled(struct scene scene, int class, const char *words)
{
    struct pl_attach_rounds m;
    struct pl_seat seat;
    ck_words(hold(&scene, &m, 0, &seat), class, words);
    ck_assert_int_eq(scene.rounds, scene.wrong);
    end(&m, &seat);
}

START_TEST(one_machine)
{
    struct pl_attach_rounds m;
    struct pl_seat seat, other;
    struct scene scene = { .rounds = 0 };
    ck_assert_int_eq(hold(&scene, &m, 0, &seat), MPI_SUCCESS);
    ck_assert(!pl_rounds_is_far(&m) && scene.rounds == 2);
    ck_assert(seat.rank == 0 && seat.job->size == SIZE && seat.job->cookie == m.mine.cookie);
    end(&m, &seat);
    ck_assert_int_eq(pl_seat_make(SIZE, 17, &other), MPI_SUCCESS);
    scene = (struct scene){ .other = &other };
    ck_assert_int_eq(hold(&scene, &m, 1, &seat), MPI_SUCCESS);
    ck_assert(!pl_rounds_is_far(&m) && seat.rank == 1 && seat.job->cookie == 17);
    ck_assert_int_eq(atomic_load(&other.shared->ranks[1].owner), getpid());
    end(&m, &seat);
    pl_seat_leave(&other);
}
END_TEST

/* --- what is damaged --------------------------------------------------------------------------------------------- */

static void spoil_order(struct pl_attach_member *all, int bytes)
{
    struct pl_attach_member one = *member_of(all, bytes, 1);
    *member_of(all, bytes, 1) = *member_of(all, bytes, 2);
    *member_of(all, bytes, 2) = one;
}

static void spoil_size(struct pl_attach_member *all, int bytes)
{
    member_of(all, bytes, 2)->size = SIZE + 1;
}

static void spoil_own(struct pl_attach_member *all, int bytes)
{
    member_of(all, bytes, 0)->pid++;
}

static void spoil_machine(struct pl_attach_member *all, int bytes)
{
    member_of(all, bytes, 2)->machine[0] ^= 1;
}

static void spoil_version(struct pl_attach_member *all, int bytes)
{
    struct pl_attach_member *member = member_of(all, bytes, 1);
    member->magic = htole64(le64toh(member->magic) ^ (uint64_t)1 << 56);
}

static void spoil_numbers(struct pl_attach_member *all, int bytes)
{
    struct pl_attach_member *member = member_of(all, bytes, 1);
    member->magic = htole64(le64toh(member->magic) ^ (uint64_t)1 << 62);
}

static void spoil_magic(struct pl_attach_member *all, int bytes)
{
    struct pl_attach_member *member = member_of(all, bytes, 1);
    member->magic = htole64(le64toh(member->magic) ^ 1);
}

START_TEST(damaged)
{
    ck_spoiled((struct scene){ .wrong = 1, .returns = 7 }, MPI_ERR_OTHER, "returned 7");
    ck_spoiled((struct scene){ .wrong = 2, .returns = -1 }, MPI_ERR_OTHER, "returned -1");
    for (int round = 1; round <= 2; round++) {
        ck_spoiled((struct scene){ .wrong = round, .spoil = spoil_order }, MPI_ERR_ARG,
                   "does not come from rank 1 of 3");
        ck_spoiled((struct scene){ .wrong = round, .spoil = spoil_size }, MPI_ERR_ARG,
                   "does not come from rank 2 of 3");
        ck_spoiled((struct scene){ .wrong = round, .spoil = spoil_magic }, MPI_ERR_ARG, "does not come from rank 1");
        ck_spoiled((struct scene){ .wrong = round, .spoil = spoil_own }, MPI_ERR_ARG, "damaged what rank 0 told");
    }
    ck_spoiled((struct scene){ .wrong = 2, .spoil = spoil_machine }, MPI_ERR_ARG, "damaged what rank 2 told");
}
END_TEST

START_TEST(other_libraries)
{
    ck_spoiled((struct scene){ .wrong = 1, .spoil = spoil_version }, MPI_ERR_OTHER,
               "rank 1 of the pool has another version");
    ck_spoiled((struct scene){ .wrong = 1, .spoil = spoil_numbers }, MPI_ERR_OTHER,
               "rank 1 of the pool stores numbers as");
}
END_TEST

/* --- members that cannot enter ----------------------------------------------------------------------------------- */

static void spoil_by_error(struct pl_attach_member *all, int bytes)
{
    member_of(all, bytes, 2)->error = MPI_ERR_NO_MEM;
}

START_TEST(errors_of_others)
{
    const char *words = "rank 2 of the pool cannot enter it: ";
    ck_spoiled((struct scene){ .wrong = 1, .spoil = spoil_by_error }, MPI_ERR_OTHER, words);
    ck_spoiled((struct scene){ .wrong = 2, .spoil = spoil_by_error }, MPI_ERR_OTHER, words);
    ck_spoiled((struct scene){ .wrong = 1, .far = true, .spoil = spoil_by_error }, MPI_ERR_OTHER, words);
}
END_TEST

/* This member's own error is told, and returned in its own words. */
START_TEST(own_error)
{
    struct pl_attach_rounds m;
    struct pl_seat seat, other;
    struct scene scene = { .other = &other };
    ck_assert_int_eq(pl_seat_make(SIZE, 17, &other), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_claim(&other, 1), MPI_SUCCESS); /* the rank is taken */
    ck_words(hold(&scene, &m, 1, &seat), MPI_ERR_OTHER, "rank 1 of the pool belongs to process");
    ck_assert_int_eq(scene.rounds, 2);
    end(&m, &seat);
    pl_seat_leave(&other);
}
END_TEST

/* --- several machines -------------------------------------------------------------------------------------------- */

static void spoil_card(struct pl_attach_member *all, int bytes)
{
    ((struct pl_far_card *)(void *)(member_of(all, bytes, AWAY) + 1))->length = PL_CARD_MAX + 1;
}

static int tell(struct scene *scene, struct pl_attach_rounds *m, struct pl_seat *seat, size_t length)
{
    static const unsigned char card[PL_CARD_MAX];
    ck_assert_int_eq(hold(scene, m, 0, seat), MPI_SUCCESS);
    ck_assert(pl_rounds_is_far(m) && m->entered == MPI_SUCCESS && seat->rank == 0);
    ck_assert_int_eq(seat->far->local_size, SIZE - 1);
    ck_assert_str_eq(seat->far->local_ranks, "0,1");
    return pl_rounds_tell(m, MPI_SUCCESS, card, length, seat->far);
}

START_TEST(several_machines)
{
    struct pl_attach_rounds m;
    struct pl_seat seat;
    unsigned char card[PL_CARD_MAX];
    size_t length = 0;
    struct scene scene = { .far = true };
    ck_assert_int_eq(tell(&scene, &m, &seat, PL_CARD_MAX), MPI_SUCCESS);
    ck_assert_int_eq(scene.rounds, 3);
    for (int r = 0; r < SIZE; r++) {
        ck_assert(pl_far_has(seat.far, r) == (r == AWAY));
        ck_assert_int_eq(pl_far_card(seat.far, r, card, &length), MPI_SUCCESS);
        ck_assert(length == PL_CARD_MAX && card[0] == r);
    }
    end(&m, &seat);
    scene = (struct scene){ .far = true, .wrong = 3, .spoil = spoil_card };
    ck_words(tell(&scene, &m, &seat, 4), MPI_ERR_ARG, "damaged the address of rank 2");
    ck_assert_int_eq(pl_far_card(seat.far, AWAY, card, &length), PL_AGAIN);
    end(&m, &seat);
    scene = (struct scene){ .far = true, .wrong = 3, .spoil = spoil_by_error };
    ck_words(tell(&scene, &m, &seat, 4), MPI_ERR_OTHER, "rank 2 of the pool cannot enter it: ");
    end(&m, &seat);
}
END_TEST

UNIT_MAIN("rounds of a pool", one_machine, damaged, other_libraries, errors_of_others, own_error, several_machines)
