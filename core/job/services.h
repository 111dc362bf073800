/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published names, without a server: each process keeps the names that it has published in an anonymous memory file,
 * and a lookup reads the files of the user's processes through /proc. So a name lasts as long as its process, however
 * that ends, and leaves nothing behind. It is found exactly where shared memory can be: by processes of the same user
 * that see each other.
 *
 * A name belongs to a runtime (libplenum in one process, one mpiexec), and is unique there; processes that no runtime
 * of Plenum has started share one more. A lookup prefers the entry of its own runtime, then the most recent of any
 * other. A name may also be restricted to its own runtime. Under a PMIx launcher names are published there too, so
 * that other machines find them; in a job on hosts of Plenum's, at the runtime (core/job/services_hosts.h).
 *
 * Any thread; a lock of its own.
 */
#ifndef PLENUM_CORE_JOB_SERVICES_H
#define PLENUM_CORE_JOB_SERVICES_H

#include <stdbool.h>
#include <stddef.h>

enum { PL_SERVICE_NAME_MAX = 1024, PL_SERVICE_VALUE_MAX = 1024 }; /* bytes, with the NUL */

/* MPI_ERR_SERVICE: it is published already, or too long. */
int pl_services_publish(const char *name, const char *value, bool own_runtime_only);

/* MPI_ERR_SERVICE: this process has not published it with this value. */
int pl_services_withdraw(const char *name, const char *value);

/* Waits up to that many milliseconds for the name to be published; 0: does not wait. MPI_ERR_NAME: it is not
 * published. */
int pl_services_find(const char *name, bool own_runtime_only, long milliseconds, char value[PL_SERVICE_VALUE_MAX]);

/* Withdraws all names, when the process closes. */
void pl_services_forget(void);

#endif
