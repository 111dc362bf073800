/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding programs and working directories as a shell does, with an explanation of a failure. No locking. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_LOCATE_H
#define PLENUM_WORLD_RUNTIME_JOB_LOCATE_H

/* The absolute form of a working directory (NULL: the current one), which must exist and be enterable. The caller frees
 * it. Returns an enum plenum_error. */
int pl_locate_wdir(const char *directory, char **absolute);

/* The file of a program: a name with a slash is relative to `wdir`; any other name is looked up in the directories of
 * `first` (may be NULL), then of `path` (NULL: the default PATH). The caller frees it. Returns an enum plenum_error. */
int pl_locate_program(const char *name, const char *wdir, const char *first, const char *path, char **file);

#endif
