/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 8 */
/*
 * Agreements, with deaths before them: the flags of all living ranks are combined, and all get the same result. An
 * unacknowledged failure makes all fail alike, whichever rank did not acknowledge it.
 */
#include "ulfm.h"

static uint64_t state = 1234567;

/* All ranks draw the same numbers, and so know each other's flags. */
static void combine(MPI_Comm comm, unsigned without)
{
    MPI_Request request;
    for (int i = 0; i < 200; i++) {
        int flag = 0, all = -1;
        for (int other = 0; other < size; other++) {
            int one = (int)(random_next(&state) | random_next(&state) | random_next(&state));
            if (other == rank)
                flag = one;
            if (!is_in(without, other))
                all &= one;
        }
        if (i % 2) {
            OK(MPIX_Comm_agree(comm, &flag));
        } else {
            OK(MPIX_Comm_iagree(comm, &flag, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        expect_at(__LINE__, flag == all, "agreement %d is %x instead of %x", i, (unsigned)flag, (unsigned)all);
    }
}

/* `comm` has failures that not all have acknowledged: no rank succeeds, all get the flag. */
static void unacknowledged(MPI_Comm comm, unsigned without)
{
    MPI_Request request;
    int flag = ~(1 << rank), all = -1;
    for (int other = 0; other < size; other++)
        all &= is_in(without, other) ? -1 : ~(1 << other);
    FAILS(MPIX_Comm_agree(comm, &flag));
    EXPECT((flag | (int)without) == (all | (int)without));
    flag = ~(1 << rank);
    ENDS(MPIX_Comm_iagree(comm, &flag, &request), MPIX_ERR_PROC_FAILED);
    EXPECT((flag | (int)without) == (all | (int)without));
}

/* Some die; the others agree without them, before and after the acknowledgements. */
static void lose(MPI_Comm comm, unsigned victims, int dead)
{
    MPI_Comm left;
    kill_ranks(victims);
    unacknowledged(comm, gone);
    if (rank == size - 1) /* all but one */
        EXPECT(failures_of(comm) == dead);
    else
        EXPECT(acknowledge(comm) == dead);
    unacknowledged(comm, gone);
    EXPECT(acknowledge(comm) == dead);
    combine(comm, gone);
    OK(MPIX_Comm_shrink(comm, &left));
    expect_living(MPI_COMM_WORLD, left, gone);
    expect_works(left);
    OK(MPI_Comm_free(&left));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    combine(comm, 0);
    lose(comm, 1, 1);
    if (size > 3)
        lose(comm, 6, 3);
    if (size > 6)
        lose(comm, 1u << 5, 4);
    OK(MPI_Comm_free(&comm));
    return end();
}
