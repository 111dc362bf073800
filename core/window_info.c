/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of a window (MPI-5.0 section 12.2). What is not one, and what has a value that is none, is passed over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc_kinds.h"
#include "core/comm_info.h"
#include "core/error.h"
#include "core/info.h"
#include "core/instance.h"
#include "core/window.h"

static const struct {
    const char *key;
    unsigned bit;
    bool fixed; /* when the window is made */
} flags[] = {
    { "no_locks", PL_HINT_NO_LOCKS, false },
    { "same_size", PL_HINT_SAME_SIZE, true },
    { "same_disp_unit", PL_HINT_SAME_DISP_UNIT, true },
    { "alloc_shared_noncontig", PL_HINT_NONCONTIGUOUS, true },
};
enum { FLAGS = sizeof flags / sizeof *flags };

static const char all_orders[] = "rar,raw,war,waw";

static bool is_ordering(const char *value)
{
    if (strcmp(value, "none") == 0)
        return true;
    for (;; value += 4) {
        bool known = false;
        for (const char *order = all_orders; !known; order += 4) {
            known = strncmp(value, order, 3) == 0;
            if (!order[3])
                break;
        }
        if (!known || (value[3] && value[3] != ','))
            return false;
        if (!value[3])
            return true;
    }
}

static bool is_op_hint(const char *value)
{
    return strcmp(value, "same_op") == 0 || strcmp(value, "same_op_no_op") == 0;
}

static bool is_granularity(const char *value)
{
    char *end;
    return strtol(value, &end, 10) >= 0 && end != value && !*end;
}

/* A hint that is kept as it was given: nothing here depends on it. */
static void keep_text(struct pl_info *info, const char *key, bool (*is_value)(const char *), char *kept, size_t room)
{
    size_t length;
    char value[32];
    if (pl_info_read(info, key, value, sizeof value, &length) && length < sizeof value && length < room &&
        is_value(value))
        strcpy(kept, value);
}

int pl_win_info_set(struct pl_win *win, struct pl_info *info)
{
    bool making = win->ordering[0] == '\0';
    if (making) {
        strcpy(win->ordering, all_orders);
        strcpy(win->ops_hint, "same_op_no_op");
        strcpy(win->granularity, "0");
    }
    if (!info)
        return MPI_SUCCESS;
    pl_lock_take(&win->comm->lock);
    for (int i = 0; i < FLAGS; i++) {
        char value[8];
        size_t length;
        if ((flags[i].fixed && !making) || !pl_info_read(info, flags[i].key, value, sizeof value, &length))
            continue;
        if (strcmp(value, "true") == 0)
            win->hints |= flags[i].bit;
        else if (strcmp(value, "false") == 0)
            win->hints &= ~flags[i].bit;
    }
    keep_text(info, "accumulate_ordering", is_ordering, win->ordering, sizeof win->ordering);
    keep_text(info, "accumulate_ops", is_op_hint, win->ops_hint, sizeof win->ops_hint);
    keep_text(info, "mpi_accumulate_granularity", is_granularity, win->granularity, sizeof win->granularity);
    pl_lock_drop(&win->comm->lock);
    return pl_comm_info_set(win->comm, info); /* kinds of memory */
}

int pl_win_info_get(struct pl_win *win, struct pl_info *used)
{
    pl_lock_take(&win->comm->lock);
    struct pl_info *asked = win->comm->info ? pl_object_retain(win->comm->info) : NULL;
    unsigned hints = win->hints;
    char ordering[sizeof win->ordering], ops[sizeof win->ops_hint], granularity[sizeof win->granularity];
    strcpy(ordering, win->ordering);
    strcpy(ops, win->ops_hint);
    strcpy(granularity, win->granularity);
    pl_lock_drop(&win->comm->lock);
    int rc = pl_alloc_kinds_use(win->comm->instance->info, asked, used);
    pl_object_release(asked);
    for (int i = 0; i < FLAGS && rc == MPI_SUCCESS; i++)
        if (flags[i].bit != PL_HINT_NONCONTIGUOUS || win->flavor == MPI_WIN_FLAVOR_SHARED)
            rc = pl_info_set(used, flags[i].key, hints & flags[i].bit ? "true" : "false");
    rc = rc ? rc : pl_info_set(used, "accumulate_ordering", ordering);
    rc = rc ? rc : pl_info_set(used, "accumulate_ops", ops);
    return rc ? rc : pl_info_set(used, "mpi_accumulate_granularity", granularity);
}
