/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and unpacking, in the machine's representation and in external32. */
#include <limits.h>
#include <string.h>

#include "api/call.h"
#include "api/pmpi.h"
#include "core/datatype/external.h"

/* The user's position, in the int form or the _c form of a function. */
struct position {
    int *narrow;
    MPI_Count *wide;
};

static MPI_Count position_get(struct position position)
{
    return position.wide ? *position.wide : *position.narrow;
}

static void position_set(struct position position, MPI_Count value)
{
    if (position.wide)
        *position.wide = value;
    else
        *position.narrow = (int)value; /* within the buffer, whose size is an int */
}

static const struct pl_arg_names in_names = { .buffer = "inbuf", .count = "incount" };
static const struct pl_arg_names out_names = { .buffer = "outbuf", .count = "outcount" };

/* Bytes of `count` elements of `size` bytes. */
static MPI_Count mpi_pack_bytes_of(struct pl_call *call, MPI_Count count, MPI_Count size)
{
    MPI_Count bytes = 0;
    if (!call->err && __builtin_mul_overflow(count, size, &bytes))
        pl_call_error(call, MPI_ERR_COUNT, "%lld elements of %lld bytes are more than MPI_Count can hold",
                      (long long)count, (long long)size);
    return bytes;
}

/* The address of the data in the packed buffer, which must have `bytes` bytes from the position on. */
static char *arg_packed(struct pl_call *call, const void *buffer, MPI_Count size, struct position position,
                        MPI_Count bytes, const char *name)
{
    pl_arg_output(call, position.wide ? (void *)position.wide : position.narrow, "position");
    MPI_Count at = call->err ? 0 : position_get(position);
    if (size < 0)
        pl_call_error(call, MPI_ERR_ARG, "the size of %s is %lld; it must not be negative", name, (long long)size);
    else if (at < 0 || at > size)
        pl_call_error(call, MPI_ERR_ARG, "position is %lld, not within %s of %lld bytes", (long long)at, name,
                      (long long)size);
    else if (bytes > size - at)
        pl_call_error(call, MPI_ERR_TRUNCATE, "%lld bytes from position %lld on extend beyond %s of %lld bytes",
                      (long long)bytes, (long long)at, name, (long long)size);
    else if (!buffer && bytes > 0)
        pl_call_error(call, MPI_ERR_BUFFER, "%s is NULL", name);
    return call->err ? NULL : pl_address(buffer, (MPI_Aint)at);
}

/* --- in the machine's representation --- */

static int mpi_pack_do(struct pl_call *call, const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                       MPI_Count outsize, struct position position, MPI_Comm comm)
{
    pl_arg_comm(call, comm);
    call->names = &in_names;
    pl_arg_count(call, incount);
    struct pl_type *t = pl_arg_type(call, datatype);
    pl_arg_buffer(call, inbuf, incount, t);
    MPI_Count bytes = t ? mpi_pack_bytes_of(call, incount, t->size) : 0;
    char *packed = arg_packed(call, outbuf, outsize, position, bytes, "outbuf");
    if (!call->err) {
        struct pl_cursor cursor;
        pl_cursor_init(&cursor, inbuf, incount, t);
        pl_cursor_pack(&cursor, packed, cursor.total);
        position_set(position, position_get(position) + bytes);
    }
    return pl_call_leave(call);
}

int MPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position,
             MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Pack);
    return mpi_pack_do(&call, inbuf, incount, datatype, outbuf, outsize, (struct position){ .narrow = position }, comm);
}

int MPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
               MPI_Count *position, MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Pack_c);
    return mpi_pack_do(&call, inbuf, incount, datatype, outbuf, outsize, (struct position){ .wide = position }, comm);
}

static int mpi_pack_unpack(struct pl_call *call, const void *inbuf, MPI_Count insize, struct position position,
                           void *outbuf, MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    pl_arg_comm(call, comm);
    call->names = &out_names;
    pl_arg_count(call, outcount);
    struct pl_type *t = pl_arg_type(call, datatype);
    pl_arg_buffer(call, outbuf, outcount, t);
    MPI_Count bytes = t ? mpi_pack_bytes_of(call, outcount, t->size) : 0;
    const char *packed = arg_packed(call, inbuf, insize, position, bytes, "inbuf");
    if (!call->err) {
        struct pl_cursor cursor;
        pl_cursor_init(&cursor, outbuf, outcount, t);
        pl_cursor_unpack(&cursor, packed, cursor.total);
        position_set(position, position_get(position) + bytes);
    }
    return pl_call_leave(call);
}

int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype,
               MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Unpack);
    return mpi_pack_unpack(&call, inbuf, insize, (struct position){ .narrow = position }, outbuf, outcount, datatype,
                           comm);
}

int MPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                 MPI_Datatype datatype, MPI_Comm comm)
{
    struct pl_call call = PL_CALL(MPI_Unpack_c);
    return mpi_pack_unpack(&call, inbuf, insize, (struct position){ .wide = position }, outbuf, outcount, datatype,
                           comm);
}

static MPI_Count mpi_pack_size(struct pl_call *call, MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm,
                               const void *size)
{
    pl_arg_comm(call, comm);
    call->names = &in_names;
    pl_arg_count(call, incount);
    struct pl_type *t = pl_arg_type(call, datatype);
    pl_arg_output(call, size, "size");
    return t ? mpi_pack_bytes_of(call, incount, t->size) : 0;
}

int MPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    struct pl_call call = PL_CALL(MPI_Pack_size);
    MPI_Count bytes = mpi_pack_size(&call, incount, datatype, comm, size);
    if (!call.err)
        *size = bytes <= INT_MAX ? (int)bytes : MPI_UNDEFINED;
    return pl_call_leave(&call);
}

int MPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    struct pl_call call = PL_CALL(MPI_Pack_size_c);
    MPI_Count bytes = mpi_pack_size(&call, incount, datatype, comm, size);
    if (!call.err)
        *size = bytes;
    return pl_call_leave(&call);
}

/* --- in external32 --- */

/* Sizes and positions are MPI_Aint in one form and MPI_Count in the other: the same. */
_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "one worker serves both forms");

static void arg_datarep(struct pl_call *call, const char *datarep)
{
    pl_arg_output(call, datarep, "datarep");
    if (!call->err && strcmp(datarep, "external32") != 0)
        pl_call_error(call, MPI_ERR_ARG, "datarep is \"%.64s\"; it must be \"external32\"", datarep);
}

static int pack_external(struct pl_call *call, const char *datarep, const void *inbuf, MPI_Count incount,
                         MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position)
{
    struct position at = { .wide = position };
    arg_datarep(call, datarep);
    call->names = &in_names;
    pl_arg_count(call, incount);
    struct pl_type *t = pl_arg_type(call, datatype);
    pl_arg_buffer(call, inbuf, incount, t);
    if (t)
        mpi_pack_bytes_of(call, incount, t->size); /* not less than in external32 */
    MPI_Count bytes = call->err ? 0 : incount * pl_external_size(t);
    char *packed = arg_packed(call, outbuf, outsize, at, bytes, "outbuf");
    if (!call->err) {
        pl_external_pack(inbuf, incount, t, packed);
        *position += bytes;
    }
    return pl_call_leave(call);
}

int MPI_Pack_external(const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf,
                      MPI_Aint outsize, MPI_Aint *position)
{
    struct pl_call call = PL_CALL(MPI_Pack_external);
    return pack_external(&call, datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

int MPI_Pack_external_c(const char *datarep, const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                        MPI_Count outsize, MPI_Count *position)
{
    struct pl_call call = PL_CALL(MPI_Pack_external_c);
    return pack_external(&call, datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

static int unpack_external(struct pl_call *call, const char *datarep, const void *inbuf, MPI_Count insize,
                           MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype)
{
    struct position at = { .wide = position };
    arg_datarep(call, datarep);
    call->names = &out_names;
    pl_arg_count(call, outcount);
    struct pl_type *t = pl_arg_type(call, datatype);
    pl_arg_buffer(call, outbuf, outcount, t);
    if (t)
        mpi_pack_bytes_of(call, outcount, t->size);
    MPI_Count bytes = call->err ? 0 : outcount * pl_external_size(t);
    const char *packed = arg_packed(call, inbuf, insize, at, bytes, "inbuf");
    if (!call->err) {
        pl_external_unpack(packed, outbuf, outcount, t);
        *position += bytes;
    }
    return pl_call_leave(call);
}

int MPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf,
                        int outcount, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_Unpack_external);
    return unpack_external(&call, datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

int MPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                          MPI_Count outcount, MPI_Datatype datatype)
{
    struct pl_call call = PL_CALL(MPI_Unpack_external_c);
    return unpack_external(&call, datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

static int pack_external_size(struct pl_call *call, const char *datarep, MPI_Count incount, MPI_Datatype datatype,
                              MPI_Count *size)
{
    arg_datarep(call, datarep);
    call->names = &in_names;
    pl_arg_count(call, incount);
    struct pl_type *t = pl_arg_type(call, datatype);
    pl_arg_output(call, size, "size");
    MPI_Count bytes = t ? mpi_pack_bytes_of(call, incount, pl_external_size(t)) : 0;
    if (!call->err)
        *size = bytes;
    return pl_call_leave(call);
}

int MPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size)
{
    struct pl_call call = PL_CALL(MPI_Pack_external_size);
    return pack_external_size(&call, datarep, incount, datatype, size);
}

int MPI_Pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count *size)
{
    struct pl_call call = PL_CALL(MPI_Pack_external_size_c);
    return pack_external_size(&call, datarep, incount, datatype, size);
}

PL_NAMES_PACK(PL_PMPI)
