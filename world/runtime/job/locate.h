/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding programs and working directories the way a shell does, with an explanation when it fails. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_LOCATE_H
#define PLENUM_WORLD_RUNTIME_JOB_LOCATE_H

/* The absolute form of a working directory (NULL: the current one) that exists and can be entered. To be freed by the
 * caller. Returns an enum plenum_error. */
int pl_locate_wdir(const char *directory, char **absolute);

/* The file of a program: a name with a slash is relative to `wdir`; another is looked up in the directories of `first`
 * (may be NULL), then of `path` (NULL: the system's default). To be freed by the caller. */
int pl_locate_program(const char *name, const char *wdir, const char *first, const char *path, char **file);

#endif
