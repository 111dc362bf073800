/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of files: checks of the types, and the way from numbers of etypes to bytes of the file. See view.h. */
#include "core/file/view.h"

#include "core/base/error.h"
#include "core/datatype/layout.h"

/* --- do the displacements of a type ascend? ----------------------------------------------------------------------- */

/* Where the runs of a layout lie, relative to its lowest byte. */
struct course {
    MPI_Aint first, last, end; /* start of the first run and of the last; end of the highest byte */
    MPI_Count runs;
    bool ascending;   /* no run starts before the one ahead of it */
    bool overlapping; /* a byte occurs twice, or a later one lies before an earlier one */
};

static void course_count(MPI_Count *sum, MPI_Count count, MPI_Count each)
{
    MPI_Count more;
    if (__builtin_mul_overflow(count, each, &more) || __builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

/* Appends a part at displacement `at`. `empty`: it is the first. */
static void course_append(struct course *course, bool empty, MPI_Aint at, const struct course *part)
{
    MPI_Aint begin = at + part->first;
    course->ascending = part->ascending && (empty || (course->ascending && begin >= course->last));
    course->overlapping = part->overlapping || (!empty && (course->overlapping || begin < course->end));
    if (empty)
        course->first = begin;
    course->last = at + part->last;
    course->end = !empty && course->end > at + part->end ? course->end : at + part->end;
}

static struct course course_of(const struct pl_type_layout *layout, MPI_Aint size);

static struct course course_of_loop(const struct pl_type_layout *layout, const struct course *part)
{
    struct course course = { 0 };
    course_append(&course, true, layout->first, part);
    if (layout->count > 1) {
        course_append(&course, false, layout->first + layout->stride, part);
        MPI_Aint rest = (MPI_Aint)(layout->count - 2) * layout->stride; /* all others are like the second */
        course.last += rest;
        course.end = rest > 0 ? course.end + rest : course.end;
    }
    course_count(&course.runs, (MPI_Count)layout->count, part->runs);
    return course;
}

static struct course course_of(const struct pl_type_layout *layout, MPI_Aint size)
{
    if (!layout)
        return (struct course){ .end = size, .runs = 1, .ascending = true };
    struct course course = { 0 };
    if (layout->kind == PL_LAYOUT_LIST) {
        for (size_t i = 0; i < layout->count; i++) {
            const struct pl_part *part = &layout->parts[i];
            struct course inner = course_of(part->layout, (MPI_Aint)(part[1].before - part->before));
            course_append(&course, i == 0, part->at, &inner);
            course_count(&course.runs, 1, inner.runs);
        }
        return course;
    }
    struct course inner = course_of(layout->part, (MPI_Aint)layout->part_size);
    if (layout->kind == PL_LAYOUT_LOOP)
        return course_of_loop(layout, &inner);
    for (size_t i = 0; i < layout->count; i++)
        course_append(&course, i == 0, layout->at[i], &inner);
    course_count(&course.runs, (MPI_Count)layout->count, inner.runs);
    return course;
}

/* The course of a file that is tiled with the type. */
static struct course course_of_tiles(const struct pl_type *type, const struct course *tile)
{
    struct course tiles = { 0 };
    course_append(&tiles, true, 0, tile);
    course_append(&tiles, false, (MPI_Aint)type->extent, tile);
    return tiles;
}

/* The rules are for the type itself, of which one access may use a single tile: its tiles may overlap. */
static int view_check_type(const struct pl_type *type, const char *name, bool written, struct course *course)
{
    char label[MPI_MAX_OBJECT_NAME];
    *course = (struct course){ .runs = 1, .ascending = true };
    if (type->size == 0)
        return MPI_SUCCESS;
    if (type->true_lb < 0)
        return pl_fail(MPI_ERR_TYPE, "%s, %s, has data at displacement %lld; in a file none may be negative", name,
                       pl_type_label(type, label), (long long)type->true_lb);
    *course = course_of(type->layout, (MPI_Aint)type->size);
    if (!course->ascending)
        return pl_fail(MPI_ERR_TYPE, "the displacements of %s, %s, decrease; in a file they must not", name,
                       pl_type_label(type, label));
    if (course->overlapping && written)
        return pl_fail(MPI_ERR_TYPE, "%s, %s, overlaps itself, which a file that is open for writing forbids", name,
                       pl_type_label(type, label));
    return MPI_SUCCESS;
}

/* --- making a view ------------------------------------------------------------------------------------------------ */

static int view_check(const struct pl_view *view, bool written, struct course *course)
{
    const struct pl_type *etype = view->file_etype, *filetype = view->file_filetype;
    if (view->disp < 0)
        return pl_fail(MPI_ERR_ARG, "disp is %lld; it must not be negative", (long long)view->disp);
    if (etype->size == 0)
        return pl_fail(MPI_ERR_TYPE, "etype has no data");
    int rc = view_check_type(etype, "etype", written, course);
    if (rc == MPI_SUCCESS)
        rc = view_check_type(filetype, "filetype", written, course);
    if (rc)
        return rc;
    if (view->filetype->size % view->etype->size != 0 || filetype->size % etype->size != 0)
        return pl_fail(MPI_ERR_TYPE, "filetype has %lld bytes, not a multiple of the %lld bytes of etype",
                       (long long)view->filetype->size, (long long)view->etype->size);
    return MPI_SUCCESS;
}

int pl_view_init(MPI_Offset disp, struct pl_type *etype, struct pl_type *filetype, const struct pl_datarep *datarep,
                 bool written, struct pl_view *view)
{
    struct pl_view made = { .disp = disp, .datarep = datarep };
    struct course course;
    int rc = pl_datarep_type(datarep, etype, &made.file_etype);
    if (rc == MPI_SUCCESS)
        rc = pl_datarep_type(datarep, filetype, &made.file_filetype);
    made.etype = pl_object_retain(etype);
    made.filetype = pl_object_retain(filetype);
    if (rc == MPI_SUCCESS)
        rc = view_check(&made, written, &course);
    if (rc) {
        pl_view_fini(&made);
        return rc;
    }
    const struct pl_type *type = made.file_filetype;
    struct course tiles = type->size > 0 ? course_of_tiles(type, &course) : course;
    made.single = !tiles.ascending || (tiles.overlapping && written);
    made.ascending = made.single ? !course.overlapping : !tiles.overlapping;
    made.run = type->dense || type->size == 0 ? SIZE_MAX : (size_t)(type->size / course.runs);
    *view = made;
    return MPI_SUCCESS;
}

void pl_view_fini(struct pl_view *view)
{
    pl_object_release(view->etype);
    pl_object_release(view->filetype);
    pl_object_release(view->file_etype);
    pl_object_release(view->file_filetype);
    *view = (struct pl_view){ 0 };
}

/* --- offsets in the file ------------------------------------------------------------------------------------------ */

/* Cursors walk addresses: this keeps offset 0 of a file from being NULL. */
enum { BIAS = 1 };

static void view_cursor_init(struct pl_cursor *cursor, const struct pl_view *view, size_t at, size_t bytes)
{
    size_t size = (size_t)view->file_filetype->size;
    const void *base = (const void *)(uintptr_t)(view->disp + BIAS);
    pl_cursor_init(cursor, base, (MPI_Count)((at + bytes + size - 1) / size), view->file_filetype);
    cursor->total = at + bytes;
    cursor->done = at;
}

/* Where a byte of the stream lies; view_fits() holds for it. */
static MPI_Offset view_offset_of(const struct pl_view *view, size_t at)
{
    struct pl_cursor cursor;
    void *address;
    view_cursor_init(&cursor, view, at, 1);
    pl_cursor_run(&cursor, 1, &address);
    return (MPI_Offset)((uintptr_t)address - BIAS);
}

static int view_beyond(MPI_Offset offset, MPI_Offset etypes)
{
    return pl_fail(MPI_ERR_ARG, "%lld etypes from etype %lld of the view extend beyond the largest file offset",
                   (long long)etypes, (long long)offset);
}

static int view_tiles_overlap(const struct pl_view *view, MPI_Offset offset, MPI_Offset etypes)
{
    char label[MPI_MAX_OBJECT_NAME];
    const struct pl_type *type = view->filetype;
    return pl_fail(MPI_ERR_ARG,
                   "%lld etypes from etype %lld of the view are in several filetypes, and those would overlap: %s "
                   "extends over %lld bytes and is repeated every %lld",
                   (long long)etypes, (long long)offset, pl_type_label(type, label), (long long)type->true_extent,
                   (long long)type->extent);
}

/* Whether this many bytes of the stream have offsets in a file. */
static bool view_fits(const struct pl_view *view, MPI_Count stream)
{
    const struct pl_type *type = view->file_filetype;
    MPI_Count tiles = stream / type->size + 1, end, extent = type->extent;
    return !__builtin_mul_overflow(tiles, extent > 0 ? extent : 1, &end) &&
           !__builtin_add_overflow(end, view->disp, &end) &&
           !__builtin_add_overflow(end, type->true_lb + type->true_extent, &end) && end < INT64_MAX - BIAS;
}

int pl_view_span(const struct pl_view *view, MPI_Offset offset, MPI_Offset etypes, struct pl_span *span)
{
    MPI_Count size = view->file_etype->size, at, bytes, end;
    *span = (struct pl_span){ 0 };
    if (etypes == 0)
        return MPI_SUCCESS;
    if (view->file_filetype->size == 0)
        return pl_fail(MPI_ERR_ARG, "the view's filetype has no data, so %lld etypes cannot be accessed",
                       (long long)etypes);
    if (__builtin_mul_overflow(offset, size, &at) || __builtin_mul_overflow(etypes, size, &bytes) ||
        __builtin_add_overflow(at, bytes, &end) || !view_fits(view, end))
        return view_beyond(offset, etypes);
    if (view->single && at / view->file_filetype->size != (end - 1) / view->file_filetype->size)
        return view_tiles_overlap(view, offset, etypes);
    span->at = (size_t)at;
    span->bytes = (size_t)bytes;
    span->low = view_offset_of(view, span->at);
    span->high = view_offset_of(view, span->at + span->bytes - 1) + 1;
    if (!view->ascending && span->high < span->low + view->file_filetype->true_extent)
        span->high = span->low + view->file_filetype->true_extent;
    return MPI_SUCCESS;
}

int pl_view_byte(const struct pl_view *view, MPI_Offset offset, MPI_Offset *byte)
{
    MPI_Count at;
    *byte = view->disp;
    if (view->file_filetype->size == 0)
        return MPI_SUCCESS;
    if (__builtin_mul_overflow(offset, view->file_etype->size, &at) || !view_fits(view, at))
        return view_beyond(offset, 1);
    *byte = view_offset_of(view, (size_t)at);
    return MPI_SUCCESS;
}

MPI_Offset pl_view_etype_from(const struct pl_view *view, MPI_Offset byte)
{
    const struct pl_type *type = view->file_filetype;
    if (type->size == 0 || byte <= view->disp)
        return 0;
    MPI_Count each = type->size / view->file_etype->size;
    MPI_Count tiles = view->single ? 1 : (byte - view->disp) / (type->extent > 0 ? type->extent : 1) + 1, high;
    if (__builtin_mul_overflow(tiles, each, &high) || high > INT64_MAX / view->file_etype->size)
        high = INT64_MAX / view->file_etype->size;
    MPI_Offset low = 0;
    while (low < high) {
        MPI_Offset middle = low + (high - low) / 2, at = INT64_MAX;
        if (view_fits(view, middle * view->file_etype->size))
            at = view_offset_of(view, (size_t)(middle * view->file_etype->size));
        if (at < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

void pl_runs_init(struct pl_runs *runs, const struct pl_view *view, const struct pl_span *span)
{
    *runs = (struct pl_runs){ 0 };
    if (span->bytes > 0)
        view_cursor_init(&runs->cursor, view, span->at, span->bytes);
}

static size_t view_next_run(struct pl_cursor *cursor, size_t max, uintptr_t *address)
{
    void *at;
    size_t left = cursor->total - cursor->done;
    size_t length = pl_cursor_run(cursor, left < max ? left : max, &at);
    *address = length ? (uintptr_t)at : 0;
    return length;
}

/* Adjacent runs of one type are merged already; only the last of a type and the first of the next may touch. */
size_t pl_runs_next(struct pl_runs *runs, size_t max, MPI_Offset *offset)
{
    uintptr_t address, next;
    size_t length = view_next_run(&runs->cursor, max, &address), more;
    if (length == 0)
        return 0;
    while (length < max && runs->cursor.done % (size_t)runs->cursor.type->size == 0) {
        struct pl_cursor ahead = runs->cursor;
        more = view_next_run(&ahead, max - length, &next);
        if (more == 0 || next != address + length)
            break;
        runs->cursor = ahead;
        length += more;
    }
    *offset = (MPI_Offset)(address - BIAS);
    return length;
}

void pl_runs_take(struct pl_runs *runs, const char *window, MPI_Offset low, void *to, size_t bytes)
{
    struct pl_cursor from = runs->cursor;
    from.base = (char *)((uintptr_t)from.base - BIAS - (uintptr_t)low + (uintptr_t)window);
    from.total = (size_t)from.count * (size_t)from.type->size; /* a cursor moves all of it as whole elements */
    pl_cursor_pack(&from, to, bytes);
    runs->cursor.done = from.done;
}
