/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data representations of files (MPI-5.0 section 14.5): "native", "internal" (the same here), "external32", and those
 * that the user registers with functions, which stay until the last instance closes.
 *
 * The representation defines the size of each basic element in the file. Derived types are rebuilt from these sizes as
 * they are built from native ones in memory. The data of an access is converted as a whole, between the user's buffer
 * and an image of the file.
 */
#ifndef PLENUM_CORE_FILE_DATAREP_H
#define PLENUM_CORE_FILE_DATAREP_H

#include "core/datatype/datatype.h"
#include "mpi.h"

struct pl_datarep {
    char name[MPI_MAX_DATAREP_STRING];
    bool external; /* external32 */
    bool user;     /* by these functions; where one is NULL the data stays as it is */
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_c, *write_c;
    MPI_Datarep_extent_function *extent;
    void *extra_state;
    struct pl_datarep *next;
};

/* By name; borrowed, valid until all are forgotten. MPI_ERR_UNSUPPORTED_DATAREP. */
int pl_datarep_find(const char *name, const struct pl_datarep **datarep);
extern const struct pl_datarep pl_datarep_native;

/* Registers a copy. MPI_ERR_DUP_DATAREP, MPI_ERR_ARG (the name is empty), MPI_ERR_NO_MEM. */
int pl_datarep_register(const struct pl_datarep *datarep);
void pl_datareps_forget(void);

/* Whether data is converted when it is read or written. */
static inline bool pl_datarep_converts(const struct pl_datarep *datarep, bool write)
{
    if (datarep->external)
        return true;
    return datarep->user && (write ? datarep->write || datarep->write_c : datarep->read || datarep->read_c);
}

/* The type as stored in the file; retained. MPI_ERR_CONVERSION if the user's extent function fails, MPI_ERR_NO_MEM,
 * MPI_ERR_VALUE_TOO_LARGE. Runs user code. */
int pl_datarep_type(const struct pl_datarep *datarep, struct pl_type *type, struct pl_type **in_file);

/* How many bytes of the file `count` elements take. MPI_ERR_CONVERSION. Runs user code. */
int pl_datarep_size(const struct pl_datarep *datarep, MPI_Count count, const struct pl_type *type, MPI_Count *bytes);

/* Converts `count` elements into `filebuf`, where they take `bytes` bytes. Or back from it, as many whole basic
 * elements as it has; `native` is their size in the user's memory. MPI_ERR_CONVERSION. Runs user code. */
int pl_datarep_write(const struct pl_datarep *datarep, const void *buf, MPI_Count count, const struct pl_type *type,
                     void *filebuf, size_t bytes);
int pl_datarep_read(const struct pl_datarep *datarep, void *buf, MPI_Count count, const struct pl_type *type,
                    const void *filebuf, size_t bytes, size_t *native);

#endif
