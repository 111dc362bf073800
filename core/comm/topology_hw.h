/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the machine in which this process runs, for MPI_Comm_split_type.
 *
 * The plugin `hwloc` implements this (PL_TOPOLOGY_SYMBOL); without it there are no hardware types to split by.
 */
#ifndef PLENUM_CORE_COMM_TOPOLOGY_HW_H
#define PLENUM_CORE_COMM_TOPOLOGY_HW_H

#include <stdint.h>

enum { PL_TOPOLOGY_ABI = 2, PL_TOPOLOGY_TYPE_MAX = 64 };
#define PL_TOPOLOGY_SYMBOL "plenum_topology"

/* A kind of resource in which the process is confined to one instance. */
struct pl_topology_place {
    char type[PL_TOPOLOGY_TYPE_MAX]; /* "hwloc://L3Cache": a value of the info key mpi_hw_resource_type */
    int index;                       /* among those of this type on this machine, from 0 */
};

struct pl_topology_ops {
    uint32_t abi; /* PL_TOPOLOGY_ABI */
    const char *name;

    /*
     * Where the calling process may run now: writes at most `capacity` places, from the whole machine down to the
     * smallest, and returns how many there are. Two types that hold the same set of processors both appear, so that
     * every type can be requested. -1: the topology of the machine cannot be read.
     * Reads the machine's description (milliseconds); keeps nothing. Any thread.
     */
    int (*places)(struct pl_topology_place *places, int capacity);

    /*
     * The index of the resource of this type that the process is confined to. The type is a name as in `places`, with
     * or without "hwloc://", in upper or lower case. -1: not confined to one; -2: no such type here.
     */
    int (*index)(const char *type);

    /*
     * Calls `found` for every resource of the machine that holds processors, type by type from the machine down. It
     * passes type and index as in `places`, and the processors as the bits of `cpus` [words], borrowed for the call.
     * A result of `found` other than 0 ends the walk and is returned. -1: the topology cannot be read.
     */
    int (*each)(int (*found)(void *to, const struct pl_topology_place *place, const uint64_t *cpus, int words),
                void *to);
};

#endif
