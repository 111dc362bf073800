/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration files (-configfile). */
#ifndef PLENUM_MPIEXEC_CONFIGFILE_H
#define PLENUM_MPIEXEC_CONFIGFILE_H

/* Splits the text of a configuration file into the arguments of a command line, with a colon between the lines, and
 * modifies `text`. The caller frees the list; its words lie in `text`. NULL: an open quote, or out of memory. */
char **config_split(char *text, int *count);

#endif
