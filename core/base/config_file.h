/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration file: where it is, and its values as the texts that the environment would have. */
#ifndef PLENUM_CORE_BASE_CONFIG_FILE_H
#define PLENUM_CORE_BASE_CONFIG_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "core/base/json.h"

enum { PL_CONFIG_TEXT_ROOM = PATH_MAX + 32 };

struct pl_config_file {
    char path[PATH_MAX];
    struct pl_json json; /* opened by the caller, with `path` */
};

/* The file to read: PLENUM_CONFIG's, else $XDG_CONFIG_HOME/plenum.json ($HOME/.config/ without it), else
 * /etc/plenum.json, the latter ones if they exist. False: none. */
bool pl_config_file_find(struct pl_config_file *file);

/* A value as text, an array as a list with commas; and "FILE:LINE". MPI_ERR_ARG, recorded: it is no such value, or too
 * long. */
int pl_config_file_text(const struct pl_config_file *file, const char *name, const json_t *value,
                        char text[PL_CONFIG_TEXT_ROOM], char origin[PL_CONFIG_TEXT_ROOM]);

/* Records what is wrong with a variable of the file: MPI_ERR_ARG. */
int pl_config_file_fail(const struct pl_config_file *file, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
