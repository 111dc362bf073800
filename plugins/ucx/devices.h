/* SPDX-License-Identifier: BSD-3-Clause */
/* PLENUM_NET: the network devices that UCX may use. */
#ifndef PLENUM_PLUGINS_UCX_DEVICES_H
#define PLENUM_PLUGINS_UCX_DEVICES_H

#include <stddef.h>

#include "core/base/error.h"
#include "core/engine/transport.h"

enum { PL_UCX_DEVICES = 1024 };

/* Writes the devices that a list of interfaces, networks ("10.0.0.0/8") and UCX's own devices ("mlx5_0:1") selects, as
 * UCX_NET_DEVICES takes them. PL_UNREACHABLE: the list is malformed, or selects none. */
int pl_ucx_devices(const struct pl_transport_host *host, const char *list, char devices[PL_UCX_DEVICES]);

/* The same without a list: all but interfaces that have only IPv6, where UCX would listen without a gate (gate.h).
 * Empty: there are none such. PL_UNREACHABLE: there are no others. */
int pl_ucx_devices_guarded(const struct pl_transport_host *host, char devices[PL_UCX_DEVICES]);

#endif
