/* SPDX-License-Identifier: BSD-3-Clause */
/* What a text must be to be a value of a configuration variable. */
#include "core/base/config_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/plain_locale.h"

static bool is_choice(const char *choices, const char *text, size_t length)
{
    for (const char *at = choices; at; at = strchr(at, '|'), at = at ? at + 1 : NULL)
        if (strncmp(at, text, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    return false;
}

static bool are_choices(const char *choices, const char *list)
{
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        if (!is_choice(choices, at, length))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

/* A whole number; a size may end with K, M or G. */
static bool parse_number(const char *text, bool is_size, long *number)
{
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    if (end == text || errno || isspace((unsigned char)text[0]))
        return false;
    static const char units[] = "KMG";
    const char *unit = is_size && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        end++;
        if (__builtin_mul_overflow(*number, 1L << 10 * (unit - units + 1), number))
            return false;
    }
    return *end == '\0';
}

static bool parse_bool(const char *text, long *number)
{
    static const char *const words[] = { "0", "1", "no", "yes", "false", "true", "off", "on" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (pl_plain_same(text, words[i])) {
            *number = (long)(i & 1);
            return true;
        }
    }
    return false;
}

static const struct pl_config_check *config_value_check(const struct pl_config *variable)
{
    for (int i = 0; i < PL_CONFIG_CHECKS; i++)
        if (strcmp(pl_config_checks[i].variable, variable->name) == 0)
            return &pl_config_checks[i];
    return NULL;
}

static void describe_allowed(const struct pl_config *variable, char allowed[PL_CONFIG_ALLOWED])
{
    switch (variable->type) {
    case PL_CONFIG_TEXT:
        if (config_value_check(variable))
            snprintf(allowed, PL_CONFIG_ALLOWED, "%s", config_value_check(variable)->allowed);
        else
            snprintf(allowed, PL_CONFIG_ALLOWED, "%s", variable->choices ? variable->choices : "");
        return;
    case PL_CONFIG_LIST:
        snprintf(allowed, PL_CONFIG_ALLOWED, "a comma-separated list of %s", variable->choices);
        return;
    case PL_CONFIG_BOOL: snprintf(allowed, PL_CONFIG_ALLOWED, "yes or no"); return;
    case PL_CONFIG_LONG:
    case PL_CONFIG_SIZE:
        snprintf(allowed, PL_CONFIG_ALLOWED, "a number from %ld to %ld%s", variable->lowest, variable->highest,
                 variable->type == PL_CONFIG_SIZE ? " (K, M or G may follow)" : "");
    }
}

bool pl_config_is_value(const struct pl_config *variable, const char *text, long *number)
{
    *number = 0;
    switch (variable->type) {
    case PL_CONFIG_TEXT:
        if (config_value_check(variable))
            return config_value_check(variable)->valid(text);
        return !variable->choices || is_choice(variable->choices, text, strlen(text));
    case PL_CONFIG_LIST: return are_choices(variable->choices, text);
    case PL_CONFIG_BOOL: return parse_bool(text, number);
    case PL_CONFIG_LONG:
    case PL_CONFIG_SIZE:
        return parse_number(text, variable->type == PL_CONFIG_SIZE, number) && *number >= variable->lowest &&
               *number <= variable->highest;
    }
    return false;
}

bool pl_config_parse(const struct pl_config *variable, const char *text, long *number, char allowed[PL_CONFIG_ALLOWED])
{
    bool fits = pl_config_is_value(variable, text, number);
    if (!fits)
        describe_allowed(variable, allowed);
    return fits;
}
