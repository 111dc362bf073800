/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 6 */
/*
 * Living processes go on making communicators of groups of them, and intercommunicators by leaders of them, from one
 * whose other members die meanwhile. No call fails. A group with a dead member fails on all that know of it, and one of
 * the living with the same tag is not mistaken for it.
 * usage: living SEED VICTIMS
 */
#include "ulfm.h"

enum { TIMES = 120 };

static unsigned victims;

static MPI_Comm make(MPI_Comm parent, unsigned members, int tag, int wanted)
{
    int class;
    MPI_Comm made = make_of(parent, members, tag, &class);
    EXPECT(class == wanted);
    return made;
}

static void refuse_the_dead(MPI_Comm parent, unsigned living)
{
    while (failures_of(parent) < __builtin_popcount(victims))
        ; /* it makes progress */
    for (int i = 0; i < 3; i++) {
        (void)make(parent, living | victims, 7, MPIX_ERR_PROC_FAILED);
        MPI_Comm mine = make(parent, living, 7, MPI_SUCCESS);
        expect_works(mine);
        OK(MPI_Comm_free(&mine));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter, merged;
    begin(&argc, &argv);
    uint64_t state = 88172645463325252ull + (argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
    int count = argc > 2 ? atoi(argv[2]) : 1;
    random_next(&state);
    while (__builtin_popcount(victims) < count)
        victims |= 1u << random_next(&state) % (unsigned)size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    OK(MPI_Barrier(parent));
    die_soon(&state, victims);
    while (is_in(victims, rank))
        pause();
    for (int time = 0; time < TIMES && !failed; time++) {
        unsigned ours = 0, living = ~victims & ((1u << size) - 1);
        while (ours == 0 || (ours == living && living & (living - 1)))
            ours = random_next(&state) & living;
        unsigned theirs = living & ~ours;
        int side = is_in(theirs, rank);
        MPI_Comm mine = make(parent, side ? theirs : ours, time % 2, MPI_SUCCESS);
        expect_works(mine);
        if (theirs) {
            OK(MPI_Intercomm_create(mine, 0, parent, __builtin_ctz(side ? ours : theirs), time % 3, &inter));
            OK(MPI_Intercomm_merge(inter, side, &merged));
            expect_works(merged);
            OK(MPI_Comm_free(&merged));
            OK(MPI_Comm_free(&inter));
        }
        OK(MPI_Comm_free(&mine));
    }
    refuse_the_dead(parent, ~victims & ((1u << size) - 1));
    OK(MPI_Comm_free(&parent));
    return end();
}
