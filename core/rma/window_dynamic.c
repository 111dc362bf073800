/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is attached to dynamic windows. See window_dynamic.h. */
#include "core/rma/window_dynamic.h"

#include "core/base/error.h"
#include "core/engine/instance.h"
#include "core/rma/window.h"

/* The index of the first region that begins behind the address: where a new one at the address belongs. */
static size_t regions_find(const struct pl_win_regions *regions, uintptr_t address)
{
    size_t low = 0, high = regions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)regions->items[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool pl_win_is_attached(const struct pl_win_regions *regions, uintptr_t address, size_t bytes)
{
    for (size_t index = regions_find(regions, address); index > 0 && bytes > 0; index++) {
        const struct pl_win_region *region = &regions->items[index - 1];
        size_t within = address - (uintptr_t)region->base;
        if (index > regions->count || address < (uintptr_t)region->base || within >= region->bytes)
            return false;
        size_t part = region->bytes - within;
        if (part >= bytes)
            return true;
        address += part; /* the next region may begin right there */
        bytes -= part;
    }
    return bytes == 0;
}

static int regions_insert(struct pl_win_regions *regions, char *base, size_t bytes)
{
    uintptr_t address = (uintptr_t)base;
    size_t index = regions_find(regions, address);
    const struct pl_win_region *before = index > 0 ? &regions->items[index - 1] : NULL;
    if ((before && ((uintptr_t)before->base == address || address - (uintptr_t)before->base < before->bytes)) ||
        (index < regions->count && (uintptr_t)regions->items[index].base - address < bytes))
        return pl_fail(MPI_ERR_RMA_ATTACH, "%zu bytes at %p overlap memory that is already attached", bytes,
                       (void *)base);
    struct pl_win_region *made = PL_VEC_INSERT(regions, index);
    if (!made)
        return pl_fail_memory("memory attached to a window");
    *made = (struct pl_win_region){ base, bytes };
    return MPI_SUCCESS;
}

/* Other processes copy the list (path_cma.c); the version tells them whether it changed meanwhile. */
static void regions_begin_change(struct pl_win *win)
{
    atomic_fetch_add(&pl_win_own_ctl(win)->version, 1);
    __sync_synchronize(); /* before any change of the list, which is not atomic */
}

static void regions_end_change(struct pl_win *win)
{
    struct pl_win_ctl *ctl = pl_win_own_ctl(win);
    atomic_store(&ctl->regions, (uint64_t)(uintptr_t)win->dynamic.regions.items);
    atomic_store(&ctl->region_count, win->dynamic.regions.count);
    atomic_fetch_add(&ctl->version, 1);
}

static int regions_check_window(const struct pl_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_DYNAMIC
               ? MPI_SUCCESS
               : pl_fail(MPI_ERR_RMA_FLAVOR, "%s was not created by MPI_Win_create_dynamic", pl_win_label(win));
}

static int empty_insert(struct pl_win_dynamic *dynamic, const void *base)
{
    const void **made = PL_VEC_PUSH(&dynamic->empty);
    if (!made)
        return pl_fail_memory("memory attached to a window");
    *made = base;
    return MPI_SUCCESS;
}

static bool empty_remove(struct pl_win_dynamic *dynamic, const void *base)
{
    for (size_t i = 0; i < dynamic->empty.count; i++)
        if (dynamic->empty.items[i] == base) {
            PL_VEC_REMOVE(&dynamic->empty, i);
            return true;
        }
    return false;
}

int pl_win_attach(struct pl_win *win, void *base, MPI_Aint size)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = regions_check_window(win);
    if (rc)
        return rc;
    if ((uintptr_t)base > UINTPTR_MAX - (uintptr_t)size)
        return pl_fail(MPI_ERR_RMA_ATTACH, "%lld bytes at %p exceed the address space", (long long)size, base);
    pl_engine_enter(engine);
    regions_begin_change(win);
    if (size == 0)
        rc = empty_insert(&win->dynamic, base);
    else
        rc = regions_insert(&win->dynamic.regions, base, (size_t)size);
    regions_end_change(win);
    pl_engine_leave(engine);
    return rc;
}

int pl_win_detach(struct pl_win *win, const void *base)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = regions_check_window(win);
    if (rc)
        return rc;
    pl_engine_enter(engine);
    struct pl_win_regions *regions = &win->dynamic.regions;
    size_t index = regions_find(regions, (uintptr_t)base);
    bool found = index > 0 && regions->items[index - 1].base == base;
    if (found) {
        regions_begin_change(win);
        PL_VEC_REMOVE(regions, index - 1);
        regions_end_change(win);
    } else {
        found = empty_remove(&win->dynamic, base);
    }
    pl_engine_leave(engine);
    return found ? MPI_SUCCESS
                 : pl_fail(MPI_ERR_RMA_ATTACH, "base %p is not the start of attached memory", (void *)base);
}
