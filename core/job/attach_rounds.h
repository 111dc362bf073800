/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rounds of MPIX_Attach_exchange(): what the members of a pool tell each other by the user's callback.
 *
 *     round 1   the machine of each member; where the memory of rank 0 is
 *     round 2   on one machine: the result of entering that memory, and nothing follows
 *               on several: where the memory of each machine is, which its lowest rank has made
 *     round 3   on several: the result of entering it, and the address card of the process
 *
 * All members see the same, so they come to the same result after each round. A member with an error takes part in the
 * round that tells it.
 */
#ifndef PLENUM_CORE_JOB_ATTACH_ROUNDS_H
#define PLENUM_CORE_JOB_ATTACH_ROUNDS_H

#include "core/job/attach_file.h"
#include "mpi-ext.h"

/* What a member gives to all in the first two rounds, and what it gives in the third begins with. */
struct pl_attach_member {
    uint64_t magic, cookie;
    int32_t rank, size, pid, fd;
    int32_t error;
    char machine[44]; /* its boot id; the struct has no padding */
};

struct pl_attach_rounds {
    MPIX_Exchange_function *exchange;
    void *context;
    struct pl_attach_member mine;
    struct pl_attach_member *all; /* [size] what the members told in the last of the first two rounds */
    void *come;                   /* what comes in a round */
    int entered;                  /* the result of entering this machine's memory, for round 3 */
};

/* Rounds 1 and 2. After them the caller has a rank in the pool's memory on its machine, or on several machines the
 * reason in rounds->entered. There pl_rounds_tell() must follow. `rounds` has callback and context alone;
 * pl_rounds_end() frees it, also after an error. */
int pl_rounds_hold(struct pl_attach_rounds *rounds, int rank, int size, struct pl_seat *seat);

/* After pl_rounds_hold(): is the pool on several machines? */
bool pl_rounds_is_far(const struct pl_attach_rounds *rounds);

/* Round 3: `result` is this member's, and `card` its address if that is MPI_SUCCESS. Gives the cards of all to `far`,
 * which may be NULL after an error. */
int pl_rounds_tell(struct pl_attach_rounds *rounds, int result, const void *card, size_t length, struct pl_far *far);

void pl_rounds_end(struct pl_attach_rounds *rounds);

#endif
