/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment: versions, the clock, the processor's name, memory, what the hardware offers.
 * MPI_Get_version and MPI_Get_library_version may be called before MPI_Init and after MPI_Finalize.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "api/call.h"
#include "api/info.h"
#include "api/pmpi.h"
#include "core/base/memory_libc.h"
#include "core/base/version.h"
#include "core/comm/topology_hw.h"
#include "core/object/plugin.h"

int MPI_Get_version(int *version, int *subversion)
{
    struct pl_call call = PL_CALL(MPI_Get_version);
    pl_arg_output(&call, version, "version");
    pl_arg_output(&call, subversion, "subversion");
    if (!call.err) {
        *version = MPI_VERSION;
        *subversion = MPI_SUBVERSION;
    }
    return pl_call_leave(&call);
}

int MPI_Get_library_version(char *version, int *resultlen)
{
    struct pl_call call = PL_CALL(MPI_Get_library_version);
    pl_arg_output(&call, version, "version");
    pl_arg_output(&call, resultlen, "resultlen");
    if (!call.err)
        *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Plenum %s, MPI %d.%d, ABI %d.%d", PL_VERSION,
                              MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    return pl_call_leave(&call);
}

int MPI_Get_processor_name(char *name, int *resultlen)
{
    struct pl_call call = PL_CALL(MPI_Get_processor_name);
    struct utsname host;
    pl_arg_output(&call, name, "name");
    pl_arg_output(&call, resultlen, "resultlen");
    if (!call.err && uname(&host) != 0)
        call.err = pl_fail_errno(MPI_ERR_OTHER, "cannot find the name of this host");
    if (!call.err) {
        _Static_assert(sizeof host.nodename <= MPI_MAX_PROCESSOR_NAME, "every host name fits");
        strcpy(name, host.nodename);
        *resultlen = (int)strlen(name);
    }
    return pl_call_leave(&call);
}

/* --- the clock ----------------------------------------------------------------------------------------------- */

static double mpi_env_seconds(struct timespec time)
{
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double MPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return mpi_env_seconds(now);
}

double MPI_Wtick(void)
{
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC, &tick);
    return mpi_env_seconds(tick);
}

int MPI_Pcontrol(const int level, ...)
{
    (void)level; /* for profiling tools, which replace this function */
    return MPI_SUCCESS;
}

/* --- memory -------------------------------------------------------------------------------------------------- */

/* The alignment that an info object requests, at least that of a cache line. */
static void info_read_alignment(struct pl_call *call, struct pl_info *info, size_t *alignment)
{
    static const char key[] = "mpi_minimum_memory_alignment";
    *alignment = 64;
    char *value = NULL;
    if (!call->err)
        call->err = pl_info_get(info, key, &value);
    if (!value)
        return;
    size_t wanted;
    if (!pl_info_alignment(value, &wanted))
        pl_call_error(call, MPI_ERR_INFO_VALUE, "%s is \"%.40s\"; it must be a power of two, at most 2^30", key, value);
    else if (wanted > *alignment)
        *alignment = wanted;
    free(value);
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    struct pl_call call = PL_CALL(MPI_Alloc_mem);
    size_t alignment = 0;
    void *memory = NULL;
    struct pl_info *hints = pl_arg_info_or_null(&call, info);
    pl_arg_output(&call, baseptr, "baseptr");
    if (size < 0)
        pl_call_error(&call, MPI_ERR_ARG, "size is %lld; it must not be negative", (long long)size);
    if (!call.err)
        info_read_alignment(&call, hints, &alignment);
    if (!call.err && !(memory = pl_aligned_alloc(alignment, size ? (size_t)size : 1)))
        call.err = pl_fail(MPI_ERR_NO_MEM, "cannot allocate %lld bytes", (long long)size);
    if (!call.err)
        memcpy(baseptr, &memory, sizeof memory);
    return pl_call_leave(&call);
}

int MPI_Free_mem(void *base)
{
    free(base);
    return MPI_SUCCESS;
}

/* --- hardware ------------------------------------------------------------------------------------------------ */

/* A type of resource that the machine has. */
static int note_type(void *info, const struct pl_topology_place *place, const uint64_t *cpus, int words)
{
    (void)cpus, (void)words;
    return place->index == 0 ? pl_info_set(info, place->type, "false") : 0; /* each type begins with number 0 */
}

/* "true" for the types of resources of which the process is confined to one, "false" for the machine's other types.
 * Nothing if the topology of the machine is not known. */
static int describe_hardware(struct pl_info *info)
{
    enum { PLACES = 64 };
    struct pl_topology_place places[PLACES];
    const struct pl_topology_ops *topology = pl_plugin_load("hwloc", PL_TOPOLOGY_SYMBOL);
    int err = topology ? topology->each(note_type, info) : 0;
    int count = topology && err == 0 ? topology->places(places, PLACES) : 0;
    if (!topology)
        pl_error_clear();
    for (int i = 0; i < count && i < PLACES && !err; i++)
        err = pl_info_set(info, places[i].type, "true");
    return err < 0 ? MPI_SUCCESS : err;
}

int MPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    struct pl_call call = PL_CALL(MPI_Get_hw_resource_info);
    pl_arg_output(&call, hw_info, "hw_info");
    struct pl_info *info = call.err ? NULL : pl_info_create();
    if (info)
        call.err = describe_hardware(info);
    return pl_info_leave(&call, info, hw_info);
}

PL_NAMES_ENV(PL_PMPI)
