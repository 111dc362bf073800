/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of functions that return a new info object, in all chapters. */
#ifndef PLENUM_API_INFO_H
#define PLENUM_API_INFO_H

#include "api/call.h"

/* Sets *info and leaves the call. `made` is freed if the call has failed; NULL otherwise: out of memory. */
int pl_info_leave(struct pl_call *call, struct pl_info *made, MPI_Info *info);

#endif
