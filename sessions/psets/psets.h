/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process sets of an instance, as a session asks for them. The numbers of names, once given out, stay: new names
 * are appended, and a withdrawn one keeps its number.
 *
 * Any thread. The functions call a watcher (sessions/psets/watch.h) before they return; no lock is held then.
 */
#ifndef PLENUM_SESSIONS_PSETS_PSETS_H
#define PLENUM_SESSIONS_PSETS_PSETS_H

struct pl_group;
struct pl_info;
struct pl_instance;

/* The number of names; asks the providers for new ones. */
int pl_psets_count(struct pl_instance *instance, int *count);

/* Name number n, borrowed until the instance closes. MPI_ERR_ARG: there are not that many. */
int pl_psets_name(struct pl_instance *instance, int n, const char **name);

/* The members as a group with one handle. MPI_ERR_ARG: there is no such set. */
int pl_psets_group(struct pl_instance *instance, const char *name, struct pl_group **group);

/* What MPI_Session_get_pset_info returns: mpi_size, plenum_provider, plenum_version, and the provider's own keys. One
 * handle. */
int pl_psets_info(struct pl_instance *instance, const char *name, struct pl_info **info);

#endif
