/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting the view of a file, and its two pointers. See position.h. */
#include "core/file/position.h"

#include "core/base/error.h"
#include "core/coll/collective.h"

/* --- the view ----------------------------------------------------------------------------------------------------- */

/* The byte at the shared pointer of a sequential file: there the new view begins. */
static int file_current_byte(struct pl_file *file, MPI_Offset *disp)
{
    int64_t result[2] = { 0 }; /* an error, the byte */
    if (file->comm->rank == 0) {
        int64_t etypes = 0;
        int rc = pl_pointer_add(file, 0, &etypes);
        result[0] = rc ? rc : pl_view_byte(&file->view, etypes, &result[1]);
    }
    int rc = pl_bcast(file->comm, result, 2, pl_type_predefined((uintptr_t)MPI_INT64_T), 0);
    *disp = result[1];
    return rc ? rc : (int)result[0];
}

static int file_make_view(struct pl_file *file, MPI_Offset disp, struct pl_type *etype, struct pl_type *filetype,
                          const char *name, struct pl_view *view)
{
    const struct pl_datarep *datarep;
    int rc = pl_datarep_find(name, &datarep);
    if (rc)
        return rc;
    return pl_view_init(disp, etype, filetype, datarep, !(file->amode & MPI_MODE_RDONLY), view);
}

/* A hash of a name (FNV-1a), to compare names by one number. */
static int64_t datarep_name_hash(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return (int64_t)(hash >> 1);
}

int pl_file_set_view(struct pl_file *file, int error, MPI_Offset disp, struct pl_type *etype, struct pl_type *filetype,
                     const char *datarep, struct pl_info *info)
{
    struct pl_view view = { 0 };
    bool sequential = file->amode & MPI_MODE_SEQUENTIAL;
    int rc = error, found = MPI_SUCCESS;
    if (!rc && sequential && disp != MPI_DISPLACEMENT_CURRENT)
        rc = pl_fail(MPI_ERR_ARG,
                     "disp is %lld; for a file with MPI_MODE_SEQUENTIAL it must be MPI_DISPLACEMENT_CURRENT",
                     (long long)disp);
    if (sequential)
        found = file_current_byte(file, &disp);
    rc = rc ? rc : found;
    if (rc == MPI_SUCCESS)
        rc = file_make_view(file, disp, etype, filetype, datarep, &view);
    rc = pl_file_same(file->comm, rc, rc ? 0 : datarep_name_hash(datarep), "the hash of datarep");
    if (rc == MPI_SUCCESS)
        rc = pl_file_same(file->comm, MPI_SUCCESS, view.file_etype->extent, "the extent of etype");
    if (rc == MPI_SUCCESS)
        rc = pl_file_tell(file->comm, file->comm->rank == 0 ? pl_pointer_set(file, 0) : MPI_SUCCESS);
    if (rc == MPI_SUCCESS)
        rc = pl_file_hints_set(file, info);
    if (rc) {
        if (view.etype)
            pl_view_fini(&view);
        return rc;
    }
    pl_view_fini(&file->view);
    file->view = view;
    file->position = 0;
    return MPI_SUCCESS;
}

/* --- the pointers ------------------------------------------------------------------------------------------------- */

/* The new position of a pointer that is at `current`. */
static int file_seek_target(const struct pl_file *file, MPI_Offset offset, int whence, MPI_Offset current,
                            MPI_Offset *to)
{
    MPI_Offset from = 0, size = 0;
    int rc = MPI_SUCCESS;
    switch (whence) {
    case MPI_SEEK_SET: break;
    case MPI_SEEK_CUR: from = current; break;
    case MPI_SEEK_END:
        rc = pl_file_get_size(file, &size);
        from = pl_view_etype_from(&file->view, size);
        break;
    default: return pl_fail(MPI_ERR_ARG, "whence is %d, not MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
    }
    if (rc == MPI_SUCCESS && (__builtin_add_overflow(from, offset, to) || *to < 0))
        rc = pl_fail(MPI_ERR_ARG, "offset is %lld from etype %lld of the view, which leads outside the view",
                     (long long)offset, (long long)from);
    return rc;
}

int pl_file_seek(struct pl_file *file, MPI_Offset offset, int whence)
{
    MPI_Offset to = 0;
    int rc = pl_file_check_random(file);
    if (rc)
        return rc;
    pl_lock_take(&file->lock);
    rc = file_seek_target(file, offset, whence, file->position, &to);
    if (rc == MPI_SUCCESS)
        file->position = to;
    pl_lock_drop(&file->lock);
    return rc;
}

int pl_file_seek_shared(struct pl_file *file, MPI_Offset offset, int whence)
{
    int rc = pl_file_check_random(file);
    if (rc == MPI_SUCCESS)
        rc = pl_file_same(file->comm, MPI_SUCCESS, offset, "offset");
    if (rc == MPI_SUCCESS)
        rc = pl_file_same(file->comm, MPI_SUCCESS, whence, "whence");
    if (rc)
        return rc;
    if (file->comm->rank == 0) {
        int64_t current = 0;
        MPI_Offset to = 0;
        rc = pl_pointer_add(file, 0, &current);
        if (rc == MPI_SUCCESS)
            rc = file_seek_target(file, offset, whence, current, &to);
        if (rc == MPI_SUCCESS)
            rc = pl_pointer_set(file, to);
    }
    return pl_file_tell(file->comm, rc);
}
