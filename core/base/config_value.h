/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of configuration variables as texts. Nothing here needs a lock. */
#ifndef PLENUM_CORE_BASE_CONFIG_VALUE_H
#define PLENUM_CORE_BASE_CONFIG_VALUE_H

#include "core/base/config.h"

enum { PL_CONFIG_ALLOWED = 256 };

/* A text variable whose values a function checks, often one of a room above this one. */
struct pl_config_check {
    const char *variable;            /* its name */
    const char *allowed;             /* its values, for messages */
    bool (*valid)(const char *text); /* any thread */
};
enum { PL_CONFIG_CHECKS = 3 };
extern const struct pl_config_check pl_config_checks[PL_CONFIG_CHECKS]; /* core/kinds.c */

/* Whether the text is a value of the variable. *number is the value of numbers, sizes and booleans; else 0. */
bool pl_config_is_value(const struct pl_config *variable, const char *text, long *number);

/* The same. If it is not a value, `allowed` describes the allowed ones. */
bool pl_config_parse(const struct pl_config *variable, const char *text, long *number, char allowed[PL_CONFIG_ALLOWED]);

#endif
