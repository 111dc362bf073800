/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of a window. See window_info.h. */
#include "core/rma/window_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/engine/comm_info.h"
#include "core/engine/instance.h"
#include "core/object/alloc_kinds.h"
#include "core/object/info.h"
#include "core/rma/window.h"

static const struct {
    const char *key;
    unsigned bit;
    bool fixed; /* when the window is created */
} window_flags[] = {
    { "no_locks", PL_HINT_NO_LOCKS, false },
    { "same_size", PL_HINT_SAME_SIZE, true },
    { "same_disp_unit", PL_HINT_SAME_DISP_UNIT, true },
    { "alloc_shared_noncontig", PL_HINT_NONCONTIGUOUS, true },
};
enum { WINDOW_FLAGS = sizeof window_flags / sizeof *window_flags };

/* "none", or some of rar, raw, war and waw, separated by commas. */
static bool hint_is_ordering(const char *value)
{
    static const char *const pairs[] = { "rar", "raw", "war", "waw" };
    bool known = strcmp(value, "none") == 0, more = !known;
    for (; more; value += 4) {
        known = false;
        for (int i = 0; i < 4; i++)
            known = known || strncmp(value, pairs[i], 3) == 0;
        more = known && value[3] == ',';
        known = known && (more || !value[3]);
    }
    return known;
}

static bool hint_is_ops(const char *value)
{
    return strcmp(value, "same_op") == 0 || strcmp(value, "same_op_no_op") == 0;
}

static bool hint_is_granularity(const char *value)
{
    char *end;
    return strtol(value, &end, 10) >= 0 && end != value && !*end;
}

/* Stores a valid value of a hint that has no effect. */
static void hint_keep_text(struct pl_info *info, const char *key, bool (*is_value)(const char *),
                           char kept[PL_WIN_HINT])
{
    size_t length;
    char value[PL_WIN_HINT];
    if (pl_info_read(info, key, value, sizeof value, &length) && length < sizeof value && is_value(value))
        strcpy(kept, value);
}

static void hint_read_flags(struct pl_info *info, bool creating, struct pl_win_hints *hints)
{
    for (int i = 0; i < WINDOW_FLAGS; i++) {
        char value[8];
        size_t length;
        if ((window_flags[i].fixed && !creating) ||
            !pl_info_read(info, window_flags[i].key, value, sizeof value, &length))
            continue;
        if (strcmp(value, "true") == 0)
            hints->flags |= window_flags[i].bit;
        else if (strcmp(value, "false") == 0)
            hints->flags &= ~window_flags[i].bit;
    }
}

static void hint_read_alignment(struct pl_info *info, size_t *kept)
{
    char value[PL_WIN_HINT];
    size_t length, alignment;
    if (pl_info_read(info, "mpi_minimum_memory_alignment", value, sizeof value, &length) && length < sizeof value &&
        pl_info_alignment(value, &alignment))
        *kept = alignment;
}

static struct pl_win_hints window_hints_of(struct pl_win *win)
{
    pl_lock_take(&win->comm->lock);
    struct pl_win_hints hints = win->hints;
    pl_lock_drop(&win->comm->lock);
    return hints;
}

int pl_win_info_set(struct pl_win *win, struct pl_info *info)
{
    struct pl_win_hints hints = window_hints_of(win);
    bool creating = hints.ordering[0] == '\0';
    if (creating)
        hints = (struct pl_win_hints){ .ordering = "rar,raw,war,waw", .ops = "same_op_no_op", .granularity = "0" };
    if (info) {
        hint_read_flags(info, creating, &hints);
        if (creating)
            hint_read_alignment(info, &hints.alignment);
        hint_keep_text(info, "accumulate_ordering", hint_is_ordering, hints.ordering);
        hint_keep_text(info, "accumulate_ops", hint_is_ops, hints.ops);
        hint_keep_text(info, "mpi_accumulate_granularity", hint_is_granularity, hints.granularity);
    }
    pl_lock_take(&win->comm->lock);
    win->hints = hints;
    pl_lock_drop(&win->comm->lock);
    return pl_comm_info_set(win->comm, info); /* memory kinds */
}

static int hint_add_alignment(size_t alignment, struct pl_info *used)
{
    char value[PL_WIN_HINT];
    snprintf(value, sizeof value, "%zu", alignment);
    return pl_info_set(used, "mpi_minimum_memory_alignment", value);
}

int pl_win_info_get(struct pl_win *win, struct pl_info *used)
{
    struct pl_win_hints hints = window_hints_of(win);
    pl_lock_take(&win->comm->lock);
    struct pl_info *asked = win->comm->hints.info ? pl_object_retain(win->comm->hints.info) : NULL;
    pl_lock_drop(&win->comm->lock);
    int rc = pl_alloc_kinds_use(win->comm->instance->info, asked, used);
    pl_object_release(asked);
    for (int i = 0; i < WINDOW_FLAGS && rc == MPI_SUCCESS; i++)
        if (window_flags[i].bit != PL_HINT_NONCONTIGUOUS || win->flavor == MPI_WIN_FLAVOR_SHARED)
            rc = pl_info_set(used, window_flags[i].key, hints.flags & window_flags[i].bit ? "true" : "false");
    rc = rc ? rc : pl_info_set(used, "accumulate_ordering", hints.ordering);
    rc = rc ? rc : pl_info_set(used, "accumulate_ops", hints.ops);
    if (rc == MPI_SUCCESS && pl_win_memory_alignment(win) > 0)
        rc = hint_add_alignment(pl_win_memory_alignment(win), used);
    return rc ? rc : pl_info_set(used, "mpi_accumulate_granularity", hints.granularity);
}
