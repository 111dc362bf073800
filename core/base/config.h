/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration: one table of variables (config.c), each with name, type, default and one line of help. A variable
 * "transport" is read from the environment as PLENUM_TRANSPORT, and from the configuration file as "transport". Read
 * when the process opens. One that is empty in the environment is as if it were not set, but for texts that are empty
 * by default, which it makes empty whatever the file says. docs/configuration.md holds the table; a test compares.
 */
#ifndef PLENUM_CORE_BASE_CONFIG_H
#define PLENUM_CORE_BASE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum pl_config_type { PL_CONFIG_TEXT, PL_CONFIG_LIST, PL_CONFIG_LONG, PL_CONFIG_SIZE, PL_CONFIG_BOOL };

/* May MPI_T_cvar_write() change it while the process runs? Fixed: no, what follows from it is made once. Local: yes,
 * each process as it likes. Equal: yes, all processes to the same, between two collective calls. */
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

/* Reads the file and the environment; MPI_ERR_ARG with one line that names variable, value and what is allowed when it
 * is unknown or ill-formed. Reading again gives the values of that moment. */
int pl_config_load(void);

/* Sets one while the process runs; goes before file and environment from now on. MPI_ERR_ARG: no value of the variable.
 * Whether it may be changed is for the caller to know. */
int pl_config_set(const struct pl_config *variable, const char *text);

/* Values; the name must be in the table. Texts stay valid. Lock-free, but for the very first. */
long pl_config_long(const char *name);
bool pl_config_bool(const char *name);
const char *pl_config_text(const char *name);

/* The same without what pl_config_set() has made of it: what was configured outside. And has that set anything? */
const char *pl_config_given(const char *name);
bool pl_config_written(void);

/* How often values were read: whoever keeps what follows from one looks it up again when this has changed. Not 0. */
unsigned pl_config_loads(void);

/* Where the value comes from: "default", "environment", "FILE:LINE" or "MPI_T". */
const char *pl_config_origin(const char *name);

/* One line to stderr when PLENUM_LOG asks for this subsystem and level (0 error .. 3 debug), silence otherwise. */
void pl_log(const char *subsystem, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
