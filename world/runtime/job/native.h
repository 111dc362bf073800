/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells programs that certainly use the MPI library of this runtime, and need no PMIx server. No locking. */
#ifndef PLENUM_WORLD_RUNTIME_JOB_NATIVE_H
#define PLENUM_WORLD_RUNTIME_JOB_NATIVE_H

#include <stdbool.h>

/* True for an ELF file that is linked with libmpi_abi.so.1 or libmpifort_abi.so.1, and finds only ours through its own
 * search path or `library_path` (LD_LIBRARY_PATH, may be NULL). False in case of doubt, for example for a script. */
bool pl_native_program(const char *file, const char *library_path);

#endif
