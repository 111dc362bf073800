/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 6 */
/*
 * Communicators of MPI_Comm_create_group when their parent is revoked: those that all members have made go on. One that
 * a member has not made, and will not make, ends with MPIX_ERR_REVOKED for the others, which may wait in it.
 * usage: grouped SEED
 */
#include "ulfm.h"

enum { ROUNDS = 40, MOST_GROUPS = 400, TAG_MADE = 11 };

static void await_revoked(MPI_Comm comm)
{
    int flag = 0;
    while (!flag)
        OK(MPIX_Comm_is_revoked(comm, &flag));
}

/* Rank 0 has made it; rank 1 has not when rank 2 revokes the parent, and may free that before it is asked. */
static void half_made(int frees)
{
    MPI_Comm parent, copy, early = MPI_COMM_NULL, late;
    int class, word = 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    OK(MPI_Comm_dup(parent, &copy)); /* the latest that all have made in another way */
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* a revocation ends what is left of it on others */
    if (rank < 2) {
        early = make_of(parent, 3, 5, &class);
        OK(MPI_Barrier(early)); /* both have made it */
    }
    if (rank == 0) {
        late = make_of(parent, 3, 6, &class);
        EXPECT(class == MPI_SUCCESS);
        OK(MPI_Send(&word, 1, MPI_INT, 2, TAG_MADE, MPI_COMM_WORLD));
        REVOKED(MPI_Barrier(late));
        REVOKED(MPI_Recv(&word, 1, MPI_INT, 1, 3, late, MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&late));
    } else if (rank == 1) {
        await_revoked(parent);
        if (frees)
            OK(MPI_Comm_free(&parent));
        else
            (void)make_of(parent, 3, 6, &class);
        EXPECT(frees || class == MPIX_ERR_REVOKED);
    } else if (rank == 2) {
        OK(MPI_Recv(&word, 1, MPI_INT, 0, TAG_MADE, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPIX_Comm_revoke(parent));
    }
    if (rank < 2) {
        expect_works(early);
        OK(MPI_Comm_free(&early));
    }
    expect_works(copy);
    OK(MPI_Comm_free(&copy));
    if (parent != MPI_COMM_NULL)
        OK(MPI_Comm_free(&parent));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* All make groups, which they draw alike, and use each once; one revokes the parent after some of them. */
static void race(uint64_t *state)
{
    MPI_Comm parent, made = MPI_COMM_NULL;
    int class = MPI_SUCCESS, one = 1, sum;
    int revoker = (int)(random_next(state) % (unsigned)size), after = (int)(random_next(state) % 20);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    for (int i = 0; i < MOST_GROUPS && class == MPI_SUCCESS; i++) {
        unsigned members = 0;
        while (members == 0)
            members = random_next(state) & ((1u << size) - 1);
        if (rank == revoker && i == after)
            OK(MPIX_Comm_revoke(parent));
        if (!is_in(members, rank))
            continue;
        made = make_of(parent, members, i % 3, &class);
        if (class)
            break;
        class = class_of(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made));
        EXPECT(class || sum == __builtin_popcount(members));
        if (!class)
            OK(MPI_Comm_free(&made));
    }
    expect_at(__LINE__, class == MPIX_ERR_REVOKED, "the loop ended with class %d", class);
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* for others that wait in it this is better than a communicator that is freed */
    if (made != MPI_COMM_NULL)
        OK(MPI_Comm_free(&made));
    OK(MPI_Comm_free(&parent));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    half_made(0);
    half_made(1);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t state = 88172645463325252ull + seed * 1000 + (unsigned)round;
        random_next(&state);
        race(&state);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return end();
}
