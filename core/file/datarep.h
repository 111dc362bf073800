/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data representations of files (MPI-5.0 section 14.5): "native", "internal" (the same here), "external32", and those
 * that the user registers with functions, which stay until the last instance closes.
 *
 * In the file each basic element has the size that the representation gives it, and derived types are built from these
 * as they are in memory from the native ones. Data is converted as a whole, between the user's buffer and memory that
 * looks as the file does.
 */
#ifndef PLENUM_CORE_FILE_DATAREP_H
#define PLENUM_CORE_FILE_DATAREP_H

#include "core/datatype/datatype.h"
#include "mpi.h"

struct pl_datarep {
    char name[MPI_MAX_DATAREP_STRING];
    bool external; /* external32 */
    bool user;     /* by these functions; without one the data stays as it is */
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_c, *write_c;
    MPI_Datarep_extent_function *extent;
    void *extra_state;
    struct pl_datarep *next;
};

/* By name. MPI_ERR_UNSUPPORTED_DATAREP. Stays valid. */
int pl_datarep_find(const char *name, const struct pl_datarep **datarep);
extern const struct pl_datarep pl_datarep_native;

/* Registers a copy. MPI_ERR_DUP_DATAREP, MPI_ERR_ARG: no name, or too long a one; MPI_ERR_NO_MEM. */
int pl_datarep_register(const struct pl_datarep *datarep);
void pl_datareps_forget(void);

/* Does data have to be converted when it is read or written? */
static inline bool pl_datarep_converts(const struct pl_datarep *datarep, bool write)
{
    if (datarep->external)
        return true;
    return datarep->user && (write ? datarep->write || datarep->write_c : datarep->read || datarep->read_c);
}

/* The type as it lies in the file; retained. What the user's function for extents returns is MPI_ERR_CONVERSION; else
 * MPI_ERR_NO_MEM, MPI_ERR_VALUE_TOO_LARGE. User code runs. */
int pl_datarep_type(const struct pl_datarep *datarep, struct pl_type *type, struct pl_type **in_file);

/* Converts `count` elements into `filebuf`, which has room for `bytes` bytes, what they take there. Or back from it, as
 * many whole basic elements as it has; `native` is how many bytes of data these are. MPI_ERR_CONVERSION. User code
 * runs. */
int pl_datarep_write(const struct pl_datarep *datarep, const void *buf, MPI_Count count, const struct pl_type *type,
                     void *filebuf, size_t bytes);
int pl_datarep_read(const struct pl_datarep *datarep, void *buf, MPI_Count count, const struct pl_type *type,
                    const void *filebuf, size_t bytes, size_t *native);

#endif
