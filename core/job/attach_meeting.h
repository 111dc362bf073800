/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meeting of MPIX_Attach_exchange(): what the members of a pool tell each other by the user's callback.
 *
 *     round 1   who is on which machine; where the memory of rank 0 is
 *     round 2   on one machine: the result of entering that memory, and the meeting is over
 *               on several: where the memory of each machine is, which its lowest rank has made
 *     round 3   on several: the result of entering it, and the address card of the process
 *
 * All members see the same, so they come to the same result after each round. A member with an error takes part in the
 * round that tells it.
 */
#ifndef PLENUM_CORE_JOB_ATTACH_MEETING_H
#define PLENUM_CORE_JOB_ATTACH_MEETING_H

#include "core/job/attach_file.h"
#include "mpi-ext.h"

/* What a member gives to all in the first two rounds, and what its gift in the third begins with. */
struct pl_meeting_member {
    uint64_t magic, cookie;
    int32_t rank, size, pid, fd;
    int32_t error;
    char machine[40]; /* its boot id */
};

struct pl_meeting {
    MPIX_Exchange_function *exchange;
    void *context;
    struct pl_meeting_member mine;
    struct pl_meeting_member *all; /* [size] */
    int entered;                   /* the result of entering this machine's memory, for round 3 */
};

/* Rounds 1 and 2. After them the caller has a rank in the pool's memory on its machine, or on several machines the
 * reason in meeting->entered. There pl_meeting_tell() must follow. `meeting` is zeroed but for callback and context;
 * pl_meeting_end() frees it, also after an error. */
int pl_meeting_hold(struct pl_meeting *meeting, int rank, int size, struct pl_seat *seat);

/* After pl_meeting_hold(): is the pool on several machines? */
bool pl_meeting_is_far(const struct pl_meeting *meeting);

/* Round 3: `result` is this member's, and `card` its address if that is MPI_SUCCESS. Gives the cards of all to `far`,
 * which may be NULL after an error. */
int pl_meeting_tell(struct pl_meeting *meeting, int result, const void *card, size_t length, struct pl_far *far);

void pl_meeting_end(struct pl_meeting *meeting);

#endif
