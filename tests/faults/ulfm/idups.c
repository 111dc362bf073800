/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 */
/*
 * idups FILE ["dies"]
 *
 * One rank revokes a communicator while duplicates of it are under way there, which others have made already. Those
 * that wait for it in such a duplicate are told that it has not made it, whatever it has made since. What it has made
 * goes on.
 *
 * What all have made before goes on, although duplicates that are under way together may end in any order.
 *
 * That rank calls MPI no more, from before the last rank has begun its duplicates until the others have made theirs,
 * or cannot without it. Words in shared memory, in the file, order this. With "dies" the last rank dies before.
 */
#include "ulfm.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { IDUPS = 3, ROUNDS = 40, TRIES = 300, TAG_PAIR = 5 };

static struct {
    _Atomic int begun, tried, revoked, made[IDUPS];
} * words;

static void await(const _Atomic int *word, int value)
{
    while (atomic_load(word) < value)
        usleep(1000);
}

/* The pair {one, other} of `comm`, of which this rank is one. */
static MPI_Comm pair_of(MPI_Comm comm, int one, int other)
{
    MPI_Comm pair = MPI_COMM_NULL;
    MPI_Group all, two;
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Group_incl(all, 2, (int[]){ one, other }, &two));
    OK(MPI_Comm_create_group(comm, two, TAG_PAIR, &pair));
    OK(MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&two));
    return pair;
}

/* In the duplicates that this rank has made: messages from the one that has revoked, or the error. */
static void receive_from(int revoker, MPI_Comm *dup, const int *made)
{
    await(&words->revoked, 1);
    for (int i = 0; i < IDUPS; i++) {
        int word = -1;
        if (!made[i])
            continue;
        if (atomic_load(&words->made[i])) {
            OK(MPI_Recv(&word, 1, MPI_INT, revoker, i, dup[i], MPI_STATUS_IGNORE));
            EXPECT(word == 100 + i);
        } else {
            REVOKED(MPI_Recv(&word, 1, MPI_INT, revoker, i, dup[i], MPI_STATUS_IGNORE));
        }
    }
}

static void revoke_early(MPI_Comm comm, MPI_Request *request, MPI_Comm *dup, int *made)
{
    atomic_store(&words->begun, 1);
    await(&words->tried, size - 1);
    OK(MPIX_Comm_revoke(comm));
    for (int i = 0; i < IDUPS; i++)
        atomic_store(&words->made[i], made[i] = MPI_Wait(&request[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    atomic_store(&words->revoked, 1);
    for (int i = 0; i < IDUPS; i++)
        for (int to = 0, word = 100 + i; made[i] && to < size; to++)
            if (to != rank)
                OK(MPI_Send(&word, 1, MPI_INT, to, i, dup[i]));
}

static void try_all(MPI_Request *request, int *made, int dies)
{
    int done = 0;
    for (int tries = 0; tries < TRIES && done < IDUPS; tries++, usleep(1000)) {
        done = 0;
        for (int i = 0; i < IDUPS; i++) {
            int ended = made[i];
            if (!ended)
                OK(MPI_Test(&request[i], &ended, MPI_STATUS_IGNORE));
            done += made[i] = ended;
        }
    }
    atomic_fetch_add(&words->tried, 1);
    if (dies)
        die();
    await(&words->tried, size - 1);
    for (int i = 0; i < IDUPS; i++)
        if (!made[i])
            made[i] = MPI_Wait(&request[i], MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* All other ranks have begun when `late` does, which `dies`. */
static void round_of(int revoker, int late, int dies)
{
    MPI_Comm comm;
    MPI_Comm dup[IDUPS], pair = MPI_COMM_NULL;
    MPI_Request request[IDUPS];
    int made[IDUPS] = { 0 }, partner = 0, word = rank;
    if (rank == 0)
        memset((void *)words, 0, sizeof *words);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    expect_works(comm);
    while (partner == revoker || partner == late)
        partner++;
    if (rank == late)
        await(&words->begun, 1);
    for (int i = 0; i < IDUPS; i++)
        OK(MPI_Comm_idup(comm, &dup[i], &request[i]));
    if (rank == revoker || rank == partner)
        pair = pair_of(comm, revoker, partner);
    if (rank == revoker) {
        revoke_early(comm, request, dup, made);
    } else {
        try_all(request, made, dies && rank == late);
        receive_from(revoker, dup, made);
    }
    if (pair != MPI_COMM_NULL) {
        OK(MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, pair));
        EXPECT(word == revoker + partner);
        OK(MPI_Comm_free(&pair));
    }
    if (!dies)
        OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < IDUPS; i++)
        if (made[i])
            OK(MPI_Comm_free(&dup[i]));
    OK(MPI_Comm_free(&comm));
}

/* Duplicates that all ranks have made, each at its own pace, go on after the revocation. */
static void all_made(int round)
{
    enum { MANY = 8 };
    MPI_Comm comm, dup[MANY];
    MPI_Request request[MANY];
    int revoked = 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < MANY; i++) {
        OK(MPI_Comm_idup(comm, &dup[i], &request[i]));
        if ((i + rank + round) % 3 == 0)
            usleep(200);
    }
    OK(MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == round % size)
        OK(MPIX_Comm_revoke(comm));
    while (!revoked)
        OK(MPIX_Comm_is_revoked(comm, &revoked));
    for (int i = 0; i < MANY; i++) {
        int word = rank;
        OK(MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, dup[i]));
        EXPECT(word == size * (size - 1) / 2);
        OK(MPI_Comm_free(&dup[i]));
    }
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int file = open(argv[1], O_CREAT | O_RDWR, 0600);
    EXPECT(file >= 0 && ftruncate(file, sizeof *words) == 0);
    words = mmap(NULL, sizeof *words, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (words == MAP_FAILED)
        return 1;
    for (int round = 0; round < ROUNDS; round++)
        all_made(round);
    for (int revoker = 0; revoker < size; revoker++)
        for (int late = 0; late < size; late++)
            if (late != revoker)
                round_of(revoker, late, 0);
    if (argc > 2)
        round_of(0, size - 1, 1);
    return end();
}
