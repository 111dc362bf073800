/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy is known by an address in it, which dladdr() resolves while it is loaded, and by the random bytes that the
 * kernel gives to each program that a process executes. */
#include "core/job/tenant.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/object/plugin_place.h"

enum { ADDRESS_BITS = 48 };
#define PAUSE_NS    (50 * PL_NS_PER_US)
#define PATIENCE_NS (20 * PL_NS_PER_S)

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

uint64_t pl_tenant_key(const char *name)
{
    uint64_t key = pl_hash_text(PL_HASH_BEGIN, name);
    return key ? key : 1;
}

/* --- places ------------------------------------------------------------------------------------------------------- */

/* Another copy of this process may be the holder. A pid may belong to a new process, or to another namespace: then only
 * the time says that the holder is dead. */
void pl_tenant_lock(struct pl_job_shared *first)
{
    int32_t self = (int32_t)getpid(), holder = 0, last = 0;
    int64_t since = 0;
    while (!atomic_compare_exchange_strong(&first->seating, &holder, self)) {
        int64_t now = pl_clock_ns();
        if (holder != last)
            since = now;
        last = holder;
        bool dead = holder != self && kill(holder, 0) != 0 && errno == ESRCH;
        if ((dead || now - since > PATIENCE_NS) && atomic_compare_exchange_strong(&first->seating, &holder, self))
            return;
        pl_clock_sleep_ns(PAUSE_NS);
        holder = 0;
    }
}

void pl_tenant_unlock(struct pl_job_shared *first)
{
    int32_t self = (int32_t)getpid();
    atomic_compare_exchange_strong(&first->seating, &self, 0);
}

static void tenant_count_opening(struct pl_job_shared *first, uint32_t tenant)
{
    atomic_store(&first->tenant_opened[tenant], atomic_fetch_add(&first->openings, 1) + 1);
}

static uint32_t tenant_places(uint32_t limit)
{
    return limit < PL_JOB_TENANTS ? limit : PL_JOB_TENANTS;
}

int pl_tenant_find(struct pl_job_shared *first, uint32_t limit, const char *name)
{
    int tenant = name[0] ? pl_job_enter_tenant(first, limit, pl_tenant_key(name)) : 0;
    if (tenant > 0)
        tenant_count_opening(first, (uint32_t)tenant);
    return tenant;
}

int pl_tenant_replace(struct pl_job_shared *first, uint32_t limit, const char *name, bool (*empty)(int tenant))
{
    bool refused[PL_JOB_TENANTS] = { false };
    for (;;) {
        uint32_t oldest = 0;
        uint64_t opened = UINT64_MAX;
        for (uint32_t t = 1; t < tenant_places(limit); t++) {
            uint64_t at = atomic_load(&first->tenant_opened[t]);
            if (!refused[t] && at < opened)
                oldest = t, opened = at;
        }
        if (!oldest)
            return -1;
        if (empty((int)oldest)) {
            tenant_count_opening(first, oldest);
            atomic_store(&first->tenant[oldest], pl_tenant_key(name));
            return (int)oldest;
        }
        refused[oldest] = true;
    }
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static uint64_t tenant_program(void)
{
    enum { RANDOM_BYTES = 16 };
    const void *random = (const void *)getauxval(AT_RANDOM); /* NOLINT: the kernel says where */
    return random ? pl_hash_bytes(PL_HASH_BEGIN, random, RANDOM_BYTES) << ADDRESS_BITS : 0;
}

uint64_t pl_tenant_copy(void)
{
    return tenant_program() | ((uint64_t)(uintptr_t)&tenant_marker & ((1ull << ADDRESS_BITS) - 1));
}

bool pl_tenant_same_program(uint64_t copy)
{
    return copy != 0 && copy >> ADDRESS_BITS == tenant_program() >> ADDRESS_BITS;
}

/* The loaded library at the address of a copy of this program; NULL: there is none. */
static const struct link_map *tenant_library(uint64_t copy)
{
    const void *address = (const void *)(uintptr_t)(copy & ((1ull << ADDRESS_BITS) - 1));
    Dl_info info;
    struct link_map *map = NULL;
    if (!pl_tenant_same_program(copy) || !dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP))
        return NULL;
    return map;
}

bool pl_tenant_is_loaded(uint64_t copy)
{
    return copy == pl_tenant_copy() || tenant_library(copy);
}

/* A library that is loaded again may lie over the address of its earlier self. */
bool pl_tenant_is_other(uint64_t copy)
{
    const struct link_map *library = tenant_library(copy);
    if (!library || library == tenant_library(pl_tenant_copy()))
        return false;
    return strcmp(tenant_file(library->l_name && library->l_name[0] ? library->l_name : NULL),
                  tenant_file(pl_plugin_own_library())) == 0;
}
