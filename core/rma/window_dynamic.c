/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is attached to dynamic windows: pieces by address, which do not overlap. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/instance.h"
#include "core/rma/window.h"

/* The first region that begins behind the address: where one that begins there would go. */
static size_t win_dynamic_place_of(const struct pl_win_regions *regions, uintptr_t address)
{
    size_t low = 0, high = regions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)regions->list[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool pl_win_is_attached(const struct pl_win_regions *regions, uintptr_t address, size_t bytes)
{
    for (size_t place = win_dynamic_place_of(regions, address); place > 0 && bytes > 0; place++) {
        const struct pl_win_region *region = &regions->list[place - 1];
        size_t within = address - (uintptr_t)region->base;
        if (place > regions->count || address < (uintptr_t)region->base || within >= region->bytes)
            return false;
        size_t part = region->bytes - within;
        if (part >= bytes)
            return true;
        address += part; /* the next one may begin right there */
        bytes -= part;
    }
    return bytes == 0;
}

static int win_dynamic_insert(struct pl_win_regions *regions, char *base, size_t bytes)
{
    uintptr_t address = (uintptr_t)base;
    size_t place = win_dynamic_place_of(regions, address);
    const struct pl_win_region *before = place > 0 ? &regions->list[place - 1] : NULL;
    if ((before && ((uintptr_t)before->base == address || address - (uintptr_t)before->base < before->bytes)) ||
        (place < regions->count && (uintptr_t)regions->list[place].base - address < bytes))
        return pl_fail(MPI_ERR_RMA_ATTACH, "%zu bytes at %p overlap memory that is attached already", bytes,
                       (void *)base);
    if (regions->count == regions->room) {
        size_t room = regions->room ? regions->room * 2 : 8;
        struct pl_win_region *more = pl_realloc(regions->list, room * sizeof *more);
        if (!more)
            return pl_fail_memory("memory attached to a window");
        regions->list = more;
        regions->room = room;
    }
    memmove(&regions->list[place + 1], &regions->list[place], (regions->count - place) * sizeof *regions->list);
    regions->list[place] = (struct pl_win_region){ base, bytes };
    regions->count++;
    return MPI_SUCCESS;
}

/* Others read the list where it is (cma.c), and see by the version whether it has changed meanwhile. */
static void begin_change(struct pl_win *win)
{
    atomic_fetch_add(&win->targets[win->comm->rank].ctl->version, 1);
}

static void end_change(struct pl_win *win)
{
    struct pl_win_ctl *ctl = win->targets[win->comm->rank].ctl;
    atomic_store(&ctl->regions, (uint64_t)(uintptr_t)win->regions.list);
    atomic_store(&ctl->region_count, win->regions.count);
    atomic_fetch_add(&ctl->version, 1);
}

static int check_dynamic(const struct pl_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_DYNAMIC
               ? MPI_SUCCESS
               : pl_fail(MPI_ERR_RMA_FLAVOR, "%s was not made by MPI_Win_create_dynamic", pl_win_label(win));
}

int pl_win_attach(struct pl_win *win, void *base, MPI_Aint size)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = check_dynamic(win);
    if (rc)
        return rc;
    if ((uintptr_t)base > UINTPTR_MAX - (uintptr_t)size)
        return pl_fail(MPI_ERR_RMA_ATTACH, "%lld bytes at %p go beyond the address space", (long long)size, base);
    pl_engine_enter(engine);
    begin_change(win);
    if (size == 0)
        win->empty_regions++;
    else
        rc = win_dynamic_insert(&win->regions, base, (size_t)size);
    end_change(win);
    pl_engine_leave(engine);
    return rc;
}

int pl_win_detach(struct pl_win *win, const void *base)
{
    struct pl_engine *engine = &win->comm->instance->engine;
    int rc = check_dynamic(win);
    if (rc)
        return rc;
    pl_engine_enter(engine);
    struct pl_win_regions *regions = &win->regions;
    size_t place = win_dynamic_place_of(regions, (uintptr_t)base);
    bool found = place > 0 && regions->list[place - 1].base == base;
    if (found) {
        begin_change(win);
        regions->count--;
        memmove(&regions->list[place - 1], &regions->list[place], (regions->count - place + 1) * sizeof *regions->list);
        end_change(win);
    } else if (win->empty_regions > 0) {
        found = true;
        win->empty_regions--;
    }
    pl_engine_leave(engine);
    return found ? MPI_SUCCESS
                 : pl_fail(MPI_ERR_RMA_ATTACH, "base %p is not the start of memory that is attached", (void *)base);
}
