/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published names, without a server: each process keeps those that it has published in an anonymous memory file, and
 * who looks for one reads the files of the user's processes through /proc. So a name is there as long as its process
 * is, whatever that dies of, and leaves nothing behind; and it is found exactly where shared memory can be: by
 * processes of the same user that see each other.
 *
 * A name belongs to its runtime (libplenum in one process, one mpiexec), where there can be one of it; processes that
 * no runtime of ours has started have one more in common. Who looks finds the one of the own runtime, else that of
 * another, the latest if there are several; a name may also be meant for the own runtime alone. Where the launcher is
 * PMIx's, names are given to it too, so that other machines find them.
 *
 * Any thread; a lock of its own.
 */
#ifndef PLENUM_CORE_JOB_SERVICES_H
#define PLENUM_CORE_JOB_SERVICES_H

#include <stdbool.h>
#include <stddef.h>

enum { PL_SERVICE_NAME_MAX = 1024, PL_SERVICE_VALUE_MAX = 1024 }; /* with the NUL */

/* MPI_ERR_SERVICE: it is published already, or too long. */
int pl_services_publish(const char *name, const char *value, bool own_runtime_only);

/* MPI_ERR_SERVICE: this process has not published it with this value. */
int pl_services_withdraw(const char *name, const char *value);

/* Waits so long for it to be published; 0: not at all. MPI_ERR_NAME: it is not there. */
int pl_services_find(const char *name, bool own_runtime_only, long milliseconds, char value[PL_SERVICE_VALUE_MAX]);

/* Withdraws what is left. The process closes. */
void pl_services_forget(void);

#endif
