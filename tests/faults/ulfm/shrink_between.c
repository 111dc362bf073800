/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 6 */
/*
 * Intercommunicators shrink to the living of both groups, while ranks are killed at random moments. All survivors get
 * the same groups, or the same error if one group has none left. What is left works.
 * usage: shrink_between SEED VICTIMS; the seed draws the groups, when which ranks die, and what is revoked
 */
#include "ulfm.h"

enum { TIMES = 150 };

static unsigned sides[2], victims; /* sets of ranks of the World */
static int side, revokes;

static void draw(uint64_t *state, int count)
{
    do
        sides[1] = random_next(state) & ((1u << size) - 1);
    while (sides[1] == 0 || sides[1] == (1u << size) - 1);
    sides[0] = ~sides[1] & ((1u << size) - 1);
    side = is_in(sides[1], rank);
    while (__builtin_popcount(victims) < count)
        victims |= 1u << random_next(state) % (unsigned)size;
    revokes = random_next(state) % 2;
}

/* The ranks of the World in a group, which is freed. They must be in order. */
static unsigned members(MPI_Group *group)
{
    MPI_Group world;
    int count, ranks[MOST], found[MOST];
    unsigned set = 0;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_size(*group, &count));
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    OK(MPI_Group_translate_ranks(*group, count, ranks, world, found));
    for (int i = 0; i < count; i++) {
        EXPECT(i == 0 || found[i] > found[i - 1]);
        set |= 1u << found[i];
    }
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(group));
    return set;
}

/* The members of both groups, the same on all ranks: those of the first side in the lower half. */
static uint64_t both(MPI_Comm inter)
{
    MPI_Group local, remote;
    int flag = 0;
    OK(MPI_Comm_test_inter(inter, &flag));
    EXPECT(flag);
    OK(MPI_Comm_group(inter, &local));
    OK(MPI_Comm_remote_group(inter, &remote));
    uint64_t ours = members(&local), theirs = members(&remote);
    EXPECT(ours >> rank & 1 && !(ours & ~sides[side]) && !(theirs & ~sides[!side]));
    return side ? ours << 32 | theirs : theirs << 32 | ours;
}

/* A message to each of the others, which say which they are. Nothing is known of those that may die. */
static void exchange(MPI_Comm inter, int all_live)
{
    int mine, others;
    OK(MPI_Comm_rank(inter, &mine));
    OK(MPI_Comm_remote_size(inter, &others));
    for (int other = 0; other < others; other++) {
        int in = -1, out = mine * MOST + other;
        int code = MPI_Sendrecv(&out, 1, MPI_INT, other, 5, &in, 1, MPI_INT, other, 5, inter, MPI_STATUS_IGNORE);
        EXPECT(code ? !all_live : in == other * MOST + mine);
    }
}

static int shrink(MPI_Comm inter, int time, MPI_Comm *left)
{
    MPI_Request request;
    *left = MPI_COMM_NULL;
    return class_of(time % 3 ? MPIX_Comm_shrink(inter, left)
                             : finished(MPIX_Comm_ishrink(inter, left, &request), &request));
}

/* One result: the members, or the class of the error. */
static uint64_t shrink_once(MPI_Comm inter, int time)
{
    MPI_Comm left;
    int class = shrink(inter, time, &left);
    if (class) {
        EXPECT(class == MPIX_ERR_PROC_FAILED && left == MPI_COMM_NULL);
        return (uint64_t)(unsigned)class << 16;
    }
    uint64_t result = both(left);
    if (time % 16 == 0)
        exchange(left, 0);
    OK(MPI_Comm_free(&left));
    return result;
}

/* What is left is as good as a new one. */
static void use(MPI_Comm inter)
{
    MPI_Comm made, half;
    int one = 1, sum = -1, others, flag = side ? 6 : 9;
    OK(MPI_Comm_remote_size(inter, &others));
    exchange(inter, 1);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
    EXPECT(sum == others);
    OK(MPIX_Comm_agree(inter, &flag));
    EXPECT(flag == (side ? 9 : 6));
    OK(MPI_Comm_dup(inter, &made));
    exchange(made, 1);
    OK(MPI_Comm_free(&made));
    OK(MPI_Intercomm_merge(inter, side, &made));
    expect_works(made);
    OK(MPI_Comm_split(inter, 0, 0, &half));
    exchange(half, 1);
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&made));
}

/* All deaths are known when the World has shrunk by them. */
static MPI_Comm survivors(void)
{
    MPI_Comm left;
    for (;;) {
        int among;
        OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
        OK(MPI_Comm_size(left, &among));
        if (among == size - __builtin_popcount(victims))
            return left;
        OK(MPI_Comm_free(&left));
    }
}

static void finish(MPI_Comm inter)
{
    MPI_Comm left, again;
    unsigned ours = sides[side] & ~victims, theirs = sides[!side] & ~victims;
    int class = shrink(inter, 1, &left);
    EXPECT(class == (theirs ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED));
    if (class)
        return;
    EXPECT(both(left) == (side ? (uint64_t)ours << 32 | theirs : (uint64_t)theirs << 32 | ours));
    use(left);
    OK(MPIX_Comm_agree(left, &(int){ 0 })); /* a revocation ends what others still do in it */
    OK(MPIX_Comm_revoke(left));
    EXPECT(shrink(left, 0, &again) == MPI_SUCCESS);
    use(again);
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    static uint64_t mine[TIMES], first[TIMES];
    MPI_Comm half, inter, left;
    begin(&argc, &argv);
    uint64_t state = 88172645463325252ull + (argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
    random_next(&state);
    draw(&state, argc > 2 ? atoi(argv[2]) : 1);
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, __builtin_ctz(sides[!side]), 3, &inter));
    mine[0] = shrink_once(inter, 0); /* all have come */
    EXPECT(mine[0] == ((uint64_t)sides[1] << 32 | sides[0]));
    die_soon(&state, victims);
    for (int time = 1; time < TIMES; time++) {
        mine[time] = shrink_once(inter, time);
        if (revokes && time == TIMES / 4)
            OK(MPIX_Comm_revoke(inter));
    }
    while (is_in(victims, rank))
        pause();
    left = survivors();
    memcpy(first, mine, sizeof mine);
    OK(MPI_Bcast(first, TIMES, MPI_UINT64_T, 0, left));
    for (int time = 0; time < TIMES; time++)
        if (first[time] != mine[time]) {
            expect_at(__LINE__, 0, "shrinking %d: %llx here, %llx at the first", time, (unsigned long long)mine[time],
                      (unsigned long long)first[time]);
            break;
        }
    OK(MPI_Comm_free(&left));
    finish(inter);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    return end();
}
