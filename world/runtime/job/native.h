/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a program sure to use the MPI library that belongs to this runtime? Such a program needs no PMIx server. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_NATIVE_H
#define PLENUM_WORLD_RUNTIME_JOB_NATIVE_H

#include <stdbool.h>

/* True for an ELF file that is linked with libmpi_abi.so.1 and will find no other one than ours, by its own search path
 * or by `library_path` (LD_LIBRARY_PATH, may be NULL). Anything in doubt, a script for example, gives false. */
bool pl_native_program(const char *file, const char *library_path);

#endif
