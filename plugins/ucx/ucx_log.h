/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's own messages. UCX prints warnings and errors to the standard output. While at least one engine uses UCX they go
 * to the library's log instead (PLENUM_LOG=ucx:debug), except fatal ones, and except when the user has set
 * UCX_LOG_LEVEL or UCX_LOG_FILE.
 */
#ifndef PLENUM_PLUGINS_UCX_UCX_LOG_H
#define PLENUM_PLUGINS_UCX_UCX_LOG_H

#include "core/engine/transport.h"

/* `host` is borrowed and must live as long as the process. */
void pl_ucx_log_open(const struct pl_transport_host *host);
void pl_ucx_log_close(void);

#endif
