/* SPDX-License-Identifier: BSD-3-Clause */
/* Publishing process sets. */
#ifndef PLENUM_SESSIONS_PSETS_PUBLISH_H
#define PLENUM_SESSIONS_PSETS_PUBLISH_H

struct pl_group;
struct pl_instance;

/* Publishes a set of the job, or changes it; withdraws it if `group` is NULL. Local. Any thread. MPI_ERR_ARG: another
 * provider has the name. MPI_ERR_GROUP: a member belongs to another job. */
int pl_psets_publish(struct pl_instance *instance, const char *name, const struct pl_group *group);

#endif
