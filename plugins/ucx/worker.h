/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's context and worker: what must hold before UCX is asked for them, the settings that they are opened with, and
 * the fall-backs where the machine lacks something. The gate opens and closes with the worker.
 */
#ifndef PLENUM_PLUGINS_UCX_WORKER_H
#define PLENUM_PLUGINS_UCX_WORKER_H

#include "plugins/ucx/ucx.h"

enum { PL_UCX_CHOICE = 128 };

/* Opens the context, the worker and the gate. On an error none is open, but the scratch directory may be. */
int pl_ucx_worker_open(struct pl_ucx *ucx);

/* Closes the gate and destroys the worker; then the links may be freed, and the context. */
void pl_ucx_worker_close(struct pl_ucx *ucx);

/* Frees the context. Where UCX would abort over transfers that are `unfinished`, the context stays behind. */
void pl_ucx_context_close(struct pl_ucx *ucx, bool unfinished);

/* " with PLENUM_UCX_TLS=tcp", if the user has chosen UCX's transports; else "". Returns `words`. */
const char *pl_ucx_choice(const struct pl_ucx *ucx, char words[PL_UCX_CHOICE]);

#endif
