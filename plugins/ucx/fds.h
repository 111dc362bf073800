/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors that UCX opens. UCX neither tells which they are nor makes them close-on-exec. So they are found
 * among all descriptors of the process: by when they appeared, their kind, and their port.
 *
 * Other threads open descriptors at the same time, which must not be touched. A socket is taken for UCX's only if its
 * port is in an address of a UCX worker; pipes, only if they do not block, as UCX's do not.
 */
#ifndef PLENUM_PLUGINS_UCX_FDS_H
#define PLENUM_PLUGINS_UCX_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PL_UCX_LISTENERS = 16 };

/* A listening TCP socket; numbers in the byte order of the machine. */
struct pl_ucx_listener {
    int fd;
    uint32_t address;
    uint16_t port;
};

/* The descriptors that were open at a moment. Another thread may close one meanwhile, and its number is used again: so
 * the files count, not the numbers alone. */
struct pl_ucx_fds {
    ino_t *file; /* [size]; 0: not open */
    size_t size;
    bool incomplete;
};

/* Remembers the descriptors that are open. False: out of memory. pl_ucx_fds_forget() follows in any case. */
bool pl_ucx_fds_remember(struct pl_ucx_fds *before);
void pl_ucx_fds_forget(struct pl_ucx_fds *before);

/* Makes those that UCX has opened since close-on-exec, and finds the listening sockets of the worker that has this
 * address, at most PL_UCX_LISTENERS. Returns their number. Without an address there are none. */
int pl_ucx_fds_claim(const struct pl_ucx_fds *before, const void *address, size_t length,
                     struct pl_ucx_listener *listeners);

/* Makes connections close-on-exec: nonblocking TCP sockets for which `is_ours` returns true. */
typedef bool pl_ucx_fds_ours(void *context, uint16_t local_port, uint16_t remote_port);
void pl_ucx_fds_claim_connections(pl_ucx_fds_ours *is_ours, void *context);

/* Ends the connections that a listener of UCX has accepted so far, and those that wait for it. */
void pl_ucx_fds_reset(const struct pl_ucx_listener *listener);

/* Does a worker's address contain this port? */
bool pl_ucx_fds_has_port(const void *address, size_t length, uint16_t port);

#endif
