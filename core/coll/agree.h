/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking mode (PLENUM_STRICT=1): the ranks of a collective tell each other what they have called, with which
 * root, operation, counts and datatypes. Where that does not fit together, all of them get one error, which names two
 * ranks and what both said. No data has moved then, and the communicator can be used on.
 *
 * Each rank tells every other what it called, and then whether it has found a mistake: 2 * P messages a rank, whatever
 * the algorithm. A blocking collective does this before it begins, a persistent one in its initialization, which the
 * standard lets wait for other ranks. A nonblocking one may not wait: its schedule begins with these messages.
 */
#ifndef PLENUM_CORE_COLL_AGREE_H
#define PLENUM_CORE_COLL_AGREE_H

#include "core/coll/schedule.h"

struct pl_coll;
struct pl_request;

enum pl_coll_form { PL_COLL_BLOCKING, PL_COLL_NONBLOCKING, PL_COLL_PERSISTENT };

/* Does this process check? Constant while the process is open; all ranks of a job must do the same (rules_file.h). */
extern bool pl_coll_agreeing;

/* Waits until all ranks have told each other. `function`: the caller's, static. MPI_ERR_OTHER for different
 * collectives, MPI_ERR_ROOT, MPI_ERR_OP, MPI_ERR_COUNT, MPI_ERR_TYPE. */
int pl_agree(const struct pl_coll *coll, enum pl_coll_form form, const char *function);

/* Begins an empty schedule of a nonblocking collective with the same. */
void pl_agree_append(struct pl_schedule *schedule, const struct pl_coll *coll, const char *function);

/* For the engine (core/engine/client.h): records why the ranks of a request did not agree. */
int pl_agree_report(const struct pl_request *request, int error);

#endif
