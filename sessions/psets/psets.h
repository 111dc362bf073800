/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of process sets of an instance: asks the providers (api/plenum-pset.h) and keeps what a session has been
 * told.
 *
 * It is made when somebody first asks, and opens a provider only when a name can be its: who uses nothing but
 * mpi://WORLD and mpi://SELF never reads a file or the machine's topology. A name is looked for with the provider that
 * has its scheme, else with the others in their order: the launcher, the file of the user, plugins, what was published.
 * The first that has it counts.
 *
 * The numbers of names, once given out, stay: what comes later is appended, and what was withdrawn keeps its number.
 *
 * Any thread; a lock of its own, which is not held while a watcher runs.
 */
#ifndef PLENUM_SESSIONS_PSETS_PSETS_H
#define PLENUM_SESSIONS_PSETS_PSETS_H

#include "mpi-ext.h"

struct pl_group;
struct pl_info;
struct pl_instance;

/* How many names there are; asks the providers for new ones. */
int pl_psets_count(struct pl_instance *instance, int *count);

/* The n-th name, borrowed until the instance closes. MPI_ERR_ARG: there are not so many. */
int pl_psets_name(struct pl_instance *instance, int n, const char **name);

/* The members as a group with one handle. MPI_ERR_ARG: there is no such set. */
int pl_psets_group(struct pl_instance *instance, const char *name, struct pl_group **group);

/* What MPI_Session_get_pset_info tells: mpi_size, plenum_provider, plenum_version, and the provider's own keys. One
 * handle. */
int pl_psets_info(struct pl_instance *instance, const char *name, struct pl_info **info);

/* Publishes a set of the job, or changes it; withdraws it (group NULL). Local: nobody is waited for. */
int pl_psets_publish(struct pl_instance *instance, const char *name, const struct pl_group *group);

/* Calls `changed` for each set that comes, changes or goes (version 0) from now on: from progress, and from the
 * functions above before they answer, in a thread that called MPI, with no lock held. One watcher an instance; NULL
 * ends it: it does not run any more when that returns, but for the call that the caller itself may be in. */
int pl_psets_watch(struct pl_instance *instance, MPIX_Session_pset_function *changed, void *context);

/* Gives everything back, and ends the watcher. */
void pl_psets_close(struct pl_instance *instance);

#endif
