/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A socket filter, in the kernel: a listening socket of UCX sees the packets of admitted addresses alone. All others are
 * dropped before they become connections, so UCX never accepts them and reads no byte of theirs.
 *
 * UCX itself offers no hook between accepting a connection and parsing what comes.
 */
#ifndef PLENUM_PLUGINS_UCX_FILTER_H
#define PLENUM_PLUGINS_UCX_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/vec.h"

/* IPv4 addresses in the byte order of the machine, ascending. */
struct pl_ucx_addresses {
    PL_VEC(uint32_t);
};

/* Adds an address. False: out of memory. *added: it is new. */
bool pl_ucx_addresses_add(struct pl_ucx_addresses *set, uint32_t address, bool *added);
bool pl_ucx_addresses_have(const struct pl_ucx_addresses *set, uint32_t address);

/* Lets these addresses through to a TCP socket, and no others; 0, or errno. Connections that it accepts from now on have
 * the same filter. */
int pl_ucx_filter_set(int fd, const struct pl_ucx_addresses *set);

#endif
