/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's end of the connection to the keeper. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_LINK_H
#define PLENUM_WORLD_RUNTIME_KEEPER_LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "world/runtime/keeper/keeper.h"

struct pl_link {
    int fd; /* -1: there is no keeper */
    pid_t keeper;
};

/* Forks the keeper. Returns an enum plenum_error. */
int pl_link_open(struct pl_link *link);

/* The keeper kills what it started and ends; waits for that. */
void pl_link_close(struct pl_link *link);

/* Sends a request with descriptors [count], which stay the caller's. The keeper always takes it soon. Returns an enum
 * plenum_error; the death of the keeper is no error here: pl_link_receive() finds it. */
int pl_link_send(struct pl_link *link, const struct pl_keeper_request *request, const int *fd, int count);

enum pl_link_state { PL_LINK_NOTHING, PL_LINK_REPORT, PL_LINK_LOST };

/* The next report, without blocking. */
enum pl_link_state pl_link_receive(struct pl_link *link, struct pl_keeper_notice *report);

#endif
