/* SPDX-License-Identifier: BSD-3-Clause */
/* The embedder's end of the connection to the keeper. The caller holds the runtime's lock. */
#ifndef PLENUM_WORLD_RUNTIME_KEEPER_KEEPER_LINK_H
#define PLENUM_WORLD_RUNTIME_KEEPER_KEEPER_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "world/runtime/keeper/keeper.h"

struct pl_link {
    int fd;       /* -1: there is no keeper */
    pid_t keeper; /* 0: there is none */
    int64_t held; /* when a debugger was first seen to hold it, in pl_clock_ms(); 0: it is not held */
};

/* Forks the keeper. Returns an enum plenum_error. */
int pl_link_open(struct pl_link *link);

/* The keeper kills all processes that it started and exits. Waits for its end. True: it exited; false: it was killed,
 * or there was none. A keeper that is stopped goes on; one that a debugger holds is killed. */
bool pl_link_close(struct pl_link *link);

/* Continues a keeper that is stopped. Requests do that, too. */
void pl_link_rouse(const struct pl_link *link);

/* To be called each second or so while the keeper must do something. Kills one that cannot be continued, because a
 * debugger has held it at each such call for some seconds. */
void pl_link_kill_held(struct pl_link *link);

/* Sends a request with borrowed descriptors `fd` [count]. May block, but not for long: the keeper never waits for the
 * embedder. Returns an enum plenum_error; the keeper's death counts as success, since pl_link_receive() finds it. */
int pl_link_send(struct pl_link *link, const struct pl_keeper_request *request, const int *fd, int count);

enum pl_link_state { PL_LINK_NOTHING, PL_LINK_NOTICE, PL_LINK_CLOSED };

/* Receives the next notice, without blocking. */
enum pl_link_state pl_link_receive(struct pl_link *link, struct pl_keeper_notice *notice);

#endif
