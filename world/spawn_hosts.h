/* SPDX-License-Identifier: BSD-3-Clause */
/* On which hosts processes are to be spawned: the info keys host, hosts and hostfile. No locking. */
#ifndef PLENUM_WORLD_SPAWN_HOSTS_H
#define PLENUM_WORLD_SPAWN_HOSTS_H

#include <stdbool.h>

struct pl_info;

/* The hosts of one command as "a:2,b", which the caller frees; NULL: any. `spread`: the runtime has hosts, and checks
 * the names. Else MPI_ERR_SPAWN: one is not this machine. MPI_ERR_SPAWN: the file cannot be read. MPI_ERR_INFO_VALUE:
 * a name is empty, or a number of slots is wrong. */
int pl_spawn_hosts(struct pl_info *info, bool spread, char **hosts);

#endif
