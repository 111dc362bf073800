/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of plenum-info, one file each. With `to` NULL they print text on standard output, else they add their
 * keys to that object. They return an exit code. */
#ifndef PLENUM_INFO_H
#define PLENUM_INFO_H

#include <jansson.h>

/* Configuration variables. */
int info_config(json_t *to);

/* Transports and plugins, and whether each works here. */
int info_parts(json_t *to);

/* Error handlers by name. */
int info_errhandlers(json_t *to);

/* Process sets. */
int info_psets(json_t *to);

#endif
