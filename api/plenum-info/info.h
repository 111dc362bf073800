/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of plenum-info: one file each. They print to stdout, as text or as one JSON object, and return an exit code. */
#ifndef PLENUM_INFO_H
#define PLENUM_INFO_H

#include <stdbool.h>

/* Version and configuration variables. */
int info_config(bool json);

/* Transports and plugins, and whether each works here. */
int info_parts(bool json);

/* Error handlers by name. */
int info_errhandlers(bool json);

/* Process sets. */
int info_psets(bool json);

#endif
