/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration: one table of variables (config.c), each with name, type, default and one line of help. A variable
 * "transport" is read from the environment as PLENUM_TRANSPORT, and from the configuration file as "transport", when
 * the process opens. An empty environment variable counts as unset, except for texts whose default is empty: there it
 * overrides the file. docs/configuration.md repeats the table; a test compares them.
 */
#ifndef PLENUM_CORE_BASE_CONFIG_H
#define PLENUM_CORE_BASE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum pl_config_type { PL_CONFIG_TEXT, PL_CONFIG_LIST, PL_CONFIG_LONG, PL_CONFIG_SIZE, PL_CONFIG_BOOL };

/* Whether MPI_T_cvar_write() may change it while the process runs. Fixed: no, its consequences are permanent. Local:
 * yes, in each process by itself. Equal: yes, in all processes to the same value, between two collective calls. */
enum pl_config_change { PL_CONFIG_FIXED, PL_CONFIG_LOCAL, PL_CONFIG_EQUAL };

struct pl_config {
    const char *name; /* "shm_eager" */
    enum pl_config_type type;
    const char *standard; /* default, as text */
    const char *choices;  /* "a|b|c" for texts with fixed choices, NULL: any; for lists the words */
    long lowest, highest; /* for numbers */
    const char *help;
    enum pl_config_change change;
};

extern const struct pl_config pl_config_table[];
extern const size_t pl_config_count;

/* Reads the file and the environment, also repeatedly. MPI_ERR_ARG if a variable is ill-formed, or unknown in the file;
 * the message names variable, value and the allowed values. */
int pl_config_load(void);

/* One line about the names in the environment, at the last load, that begin with PLENUM_ and are unknown; else "". */
void pl_config_warning(char *text, size_t size);

/* Sets a variable while the process runs; overrides file and environment from then on. MPI_ERR_ARG: not a valid value.
 * The caller must check whether the variable may be changed. */
int pl_config_set(const struct pl_config *variable, const char *text);

/* Values; the name must be in the table. Texts stay valid. Lock-free, except for the first call in a process. */
long pl_config_long(const char *name);
bool pl_config_bool(const char *name);
const char *pl_config_text(const char *name);

/* The value as configured outside, without pl_config_set(). And whether pl_config_set() has changed any variable. */
const char *pl_config_given(const char *name);
bool pl_config_given_bool(const char *name);
bool pl_config_written(void);

/* How often values were loaded or set; not 0. A caller that caches a value must read it again when this has changed. */
unsigned pl_config_loads(void);

/* Where the value comes from: "default", "environment", "FILE:LINE" or "MPI_T". */
const char *pl_config_origin(const char *name);

#endif
