/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy is known by an address in it, which dladdr() resolves while it is loaded, and by the random bytes that the
 * kernel gives to each program that a process executes. */
#include "core/job/tenant.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "core/object/plugin_place.h"

enum { ADDRESS_BITS = 48 };

static const char tenant_marker; /* its address is this copy's */

/* The file name of a path; "" for the copy of the program itself. */
static const char *tenant_file(const char *path)
{
    static const char shared[] = "libmpi_abi.so";
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *file = slash ? slash + 1 : path;
    return !file || strncmp(file, shared, sizeof shared - 1) == 0 ? "" : file;
}

void pl_tenant_name(uint32_t number, char name[PL_TENANT_NAME])
{
    const char *file = tenant_file(pl_plugin_own_library());
    if (number > 1)
        snprintf(name, PL_TENANT_NAME, "%.255s#%u", file, (unsigned)number);
    else
        snprintf(name, PL_TENANT_NAME, "%.255s", file);
}

/* FNV-1a */
static uint64_t tenant_hash(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    return hash;
}

uint64_t pl_tenant_key(const char *name)
{
    uint64_t key = tenant_hash(name, strlen(name));
    return key ? key : 1;
}

int pl_tenant_find(struct pl_job_shared *first, uint32_t limit, const char *name)
{
    uint64_t key = pl_tenant_key(name);
    if (!name[0])
        return 0;
    for (uint32_t t = 1; t < limit && t < PL_JOB_TENANTS; t++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&first->tenant[t], &there, key) || there == key)
            return (int)t;
    }
    return -1;
}

static uint64_t tenant_program(void)
{
    enum { RANDOM_BYTES = 16 };
    const void *random = (const void *)getauxval(AT_RANDOM); /* NOLINT: the kernel says where */
    return random ? tenant_hash(random, RANDOM_BYTES) << ADDRESS_BITS : 0;
}

uint64_t pl_tenant_copy(void)
{
    return tenant_program() | ((uint64_t)(uintptr_t)&tenant_marker & ((1ull << ADDRESS_BITS) - 1));
}

bool pl_tenant_same_program(uint64_t copy)
{
    return copy != 0 && copy >> ADDRESS_BITS == tenant_program() >> ADDRESS_BITS;
}

bool pl_tenant_is_other(uint64_t copy)
{
    const void *address = (const void *)(uintptr_t)(copy & ((1ull << ADDRESS_BITS) - 1));
    Dl_info info;
    struct link_map *map = NULL;
    if (copy == pl_tenant_copy() || !pl_tenant_same_program(copy))
        return false;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    const char *other = map->l_name && map->l_name[0] ? map->l_name : NULL;
    return strcmp(tenant_file(other), tenant_file(pl_plugin_own_library())) == 0;
}
