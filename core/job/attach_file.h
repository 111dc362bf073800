/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of pools: seats in them, and the ranks that hold one. */
#ifndef PLENUM_CORE_JOB_ATTACH_FILE_H
#define PLENUM_CORE_JOB_ATTACH_FILE_H

#include "core/job/attach.h"

/* Claims a rank in the pool of a directory; makes or opens an anonymous pool; claims a rank in one. On failure nothing
 * is held. */
int pl_seat_in_directory(const char *directory, int rank, int size, struct pl_seat *seat);
int pl_seat_make(int size, uint64_t cookie, struct pl_seat *seat);
int pl_seat_open(int pid, int fd, int size, uint64_t cookie, struct pl_seat *seat);
int pl_seat_claim(struct pl_seat *seat, int rank);
void pl_seat_leave(struct pl_seat *seat);

/* MPI_SUCCESS: the rank is attached, has left, or has not come yet. MPI_ERR_PROC_ABORTED (not recorded): its process has
 * died since this one came, and was not replaced. */
int pl_seat_alive(const struct pl_seat *seat, int rank);

/* The number of processes that died as this rank, and were replaced or died before this process came. */
uint32_t pl_seat_deaths(const struct pl_seat *seat, int rank);

/* The card of another rank. PL_AGAIN: it is not there yet. MPI_ERR_PROC_ABORTED: the process has died. */
int pl_seat_card(const struct pl_seat *seat, int rank, enum pl_card_slot slot, void *card, size_t *length);

#endif
