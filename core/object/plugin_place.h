/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the plugins are, by the file that this library is in: libmpi_abi.so.1, or a program that it is linked into. */
#ifndef PLENUM_CORE_OBJECT_PLUGIN_PLACE_H
#define PLENUM_CORE_OBJECT_PLUGIN_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* The file of the shared object that contains this code, as the dynamic loader knows it; NULL: the program itself does.
 */
const char *pl_plugin_own_library(void);

/* The path of the file that contains this code, in [PATH_MAX]. False: the system does not tell. */
bool pl_plugin_own_file(char *path);

/* The directory of plugins: the configured one; "plenum" beside the library; for a program "plenum" or "../lib/plenum"
 * beside it, or "plenum" in a directory of libraries (its rpath, LD_LIBRARY_PATH). Errors: MPI_ERR_OTHER, recorded. A
 * program that is linked with a static libc gets one always, because plugins would bring a second libc into it. */
int pl_plugin_directory(char *path, size_t capacity);

#endif
