/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration file, { "transport": ["self", "shm"], "shm_eager": 8192 }: its path, and its values as texts as in
 * the environment. Locking: the configuration's. */
#ifndef PLENUM_CORE_BASE_CONFIG_FILE_H
#define PLENUM_CORE_BASE_CONFIG_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "core/base/compiler.h"
#include "core/base/json.h"

enum { PL_CONFIG_TEXT_SIZE = PATH_MAX + 32 };

struct pl_config_file {
    char path[PATH_MAX];
    struct pl_json json; /* opened by the caller, with `path` */
};

/* Finds the file to read: PLENUM_CONFIG's, else $XDG_CONFIG_HOME/plenum.json ($HOME/.config/ without it), else
 * /etc/plenum.json, the latter ones if they exist. False: there is no file. */
bool pl_config_file_find(struct pl_config_file *file);

/* A value as text, an array as a comma-separated list; and "FILE:LINE". MPI_ERR_ARG, recorded: the value has another
 * type, or is too long. */
int pl_config_file_text(const struct pl_config_file *file, const char *name, const json_t *value,
                        char text[PL_CONFIG_TEXT_SIZE], char origin[PL_CONFIG_TEXT_SIZE]);

/* Records an error about a variable of the file: MPI_ERR_ARG. */
PL_PRINTF(3, 4) int pl_config_file_fail(const struct pl_config_file *file, const char *name, const char *format, ...);

#endif
