/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The application binary interface: its version and sizes, a Fortran binding's description of its compiler, and
 * integers for handles.
 *
 * Locking: `fortran.lock` protects the Fortran binding's description; the integers need no lock.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/info.h"
#include "api/pmpi.h"
#include "core/object/arena.h"

#define NAMES(X) X(MPIX_Handle_layout)
NAMES(PL_WEAK)

int MPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    struct pl_call call = PL_CALL(MPI_Abi_get_version);

    pl_arg_output(&call, abi_major, "abi_major");
    pl_arg_output(&call, abi_minor, "abi_minor");
    if (!call.err) {
        *abi_major = MPI_ABI_VERSION;
        *abi_minor = MPI_ABI_SUBVERSION;
    }
    return pl_call_leave(&call);
}

/* --- info objects ---------------------------------------------------------------------------------------------- */

static int set_number(struct pl_info *info, const char *key, int number)
{
    char text[16];

    snprintf(text, sizeof text, "%d", number);
    return pl_info_set(info, key, text);
}

int MPI_Abi_get_info(MPI_Info *info)
{
    struct pl_call call = PL_CALL(MPI_Abi_get_info);
    pl_arg_output(&call, info, "info");
    struct pl_info *made = call.err ? NULL : pl_info_create();
    if (made)
        call.err = set_number(made, "mpi_aint_size", sizeof(MPI_Aint));
    if (made && !call.err)
        call.err = set_number(made, "mpi_count_size", sizeof(MPI_Count));
    if (made && !call.err)
        call.err = set_number(made, "mpi_offset_size", sizeof(MPI_Offset));
    return pl_info_leave(&call, made, info);
}

/* A Fortran binding's description: sizes, which must be those of the library's datatypes, and its optional types. */
static const struct fortran_key {
    const char *name;
    int size; /* bytes; 0: the value is "true" or "false" */
} fortran_keys[] = {
    { "mpi_logical_size", 4 },
    { "mpi_integer_size", 4 },
    { "mpi_real_size", 4 },
    { "mpi_double_precision_size", 8 },
    { "mpi_logical1_supported", 0 },
    { "mpi_logical2_supported", 0 },
    { "mpi_logical4_supported", 0 },
    { "mpi_logical8_supported", 0 },
    { "mpi_logical16_supported", 0 },
    { "mpi_integer1_supported", 0 },
    { "mpi_integer2_supported", 0 },
    { "mpi_integer4_supported", 0 },
    { "mpi_integer8_supported", 0 },
    { "mpi_integer16_supported", 0 },
    { "mpi_real2_supported", 0 },
    { "mpi_real4_supported", 0 },
    { "mpi_real8_supported", 0 },
    { "mpi_real16_supported", 0 },
    { "mpi_complex4_supported", 0 },
    { "mpi_complex8_supported", 0 },
    { "mpi_complex16_supported", 0 },
    { "mpi_complex32_supported", 0 },
    { "mpi_double_complex_supported", 0 },
};
enum { FORTRAN_KEYS = sizeof fortran_keys / sizeof *fortran_keys, LOGICAL_SIZES = 5 };

enum answer { NOT_TOLD, TOLD_FALSE, TOLD_TRUE, TOLD_SIZE };

static struct {
    struct pl_lock lock;
    bool told;
    enum answer answers[FORTRAN_KEYS];
    struct {
        bool told;
        unsigned char yes[16], no[16];
    } logical[LOGICAL_SIZES]; /* of 1, 2, 4, 8, 16 bytes */
} fortran = { .lock = PL_LOCK_INIT(PL_RANK_LEAF) };

static int mpi_abi_read_answer(const struct fortran_key *key, const char *text, enum answer *answer)
{
    char *end;

    if (key->size > 0) {
        if (strtol(text, &end, 10) != key->size || end == text || *end)
            return pl_fail(MPI_ERR_ABI, "%s is \"%s\"; this library has %d", key->name, text, key->size);
        *answer = TOLD_SIZE;
    } else if (strcmp(text, "true") == 0) {
        *answer = TOLD_TRUE;
    } else if (strcmp(text, "false") == 0) {
        *answer = TOLD_FALSE;
    } else {
        return pl_fail(MPI_ERR_INFO_VALUE, "%s is \"%s\"; it must be true or false", key->name, text);
    }
    return MPI_SUCCESS;
}

static int read_answers(struct pl_info *info, enum answer answers[])
{
    int err = MPI_SUCCESS;

    for (int i = 0; i < FORTRAN_KEYS && !err; i++) {
        char *text;
        err = pl_info_get(info, fortran_keys[i].name, &text);
        if (text)
            err = mpi_abi_read_answer(&fortran_keys[i], text, &answers[i]);
        free(text);
    }
    return err;
}

int MPI_Abi_set_fortran_info(MPI_Info info)
{
    struct pl_call call = PL_CALL(MPI_Abi_set_fortran_info);
    struct pl_info *i = pl_arg_info(&call, info);
    enum answer answers[FORTRAN_KEYS] = { NOT_TOLD };

    if (!call.err)
        call.err = read_answers(i, answers);
    if (!call.err) {
        pl_lock_take(&fortran.lock);
        bool again = fortran.told;
        if (!again) {
            memcpy(fortran.answers, answers, sizeof answers);
            fortran.told = true;
        }
        pl_lock_drop(&fortran.lock);
        if (again)
            pl_call_error(&call, MPI_ERR_ABI, "the Fortran info is already set");
    }
    return pl_call_leave(&call);
}

static int write_answers(struct pl_info *info, const enum answer answers[])
{
    int err = MPI_SUCCESS;

    for (int i = 0; i < FORTRAN_KEYS && !err; i++) {
        if (answers[i] == TOLD_SIZE)
            err = set_number(info, fortran_keys[i].name, fortran_keys[i].size);
        else if (answers[i] != NOT_TOLD)
            err = pl_info_set(info, fortran_keys[i].name, answers[i] == TOLD_TRUE ? "true" : "false");
    }
    return err;
}

int MPI_Abi_get_fortran_info(MPI_Info *info)
{
    struct pl_call call = PL_CALL(MPI_Abi_get_fortran_info);
    enum answer answers[FORTRAN_KEYS];

    pl_lock_take(&fortran.lock);
    bool told = fortran.told;
    memcpy(answers, fortran.answers, sizeof answers);
    pl_lock_drop(&fortran.lock);

    pl_arg_output(&call, info, "info");
    if (!call.err && !told) {
        *info = MPI_INFO_NULL;
        return pl_call_leave(&call);
    }
    struct pl_info *made = call.err ? NULL : pl_info_create();
    if (made)
        call.err = write_answers(made, answers);
    return pl_info_leave(&call, made, info);
}

/* --- Fortran's .TRUE. and .FALSE. ------------------------------------------------------------------------------ */

/* Index of a size of LOGICAL in fortran.logical. */
static int arg_logical_size(struct pl_call *call, int size)
{
    for (int i = 0; i < LOGICAL_SIZES; i++)
        if (size == 1 << i)
            return i;
    pl_call_error(call, MPI_ERR_ARG, "logical_size is %d, not 1, 2, 4, 8 or 16", size);
    return 0;
}

int MPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    struct pl_call call = PL_CALL(MPI_Abi_set_fortran_booleans);
    int i = arg_logical_size(&call, logical_size);

    pl_arg_output(&call, logical_true, "logical_true");
    pl_arg_output(&call, logical_false, "logical_false");
    if (!call.err) {
        pl_lock_take(&fortran.lock);
        bool again = fortran.logical[i].told;
        if (!again) {
            memcpy(fortran.logical[i].yes, logical_true, (size_t)logical_size);
            memcpy(fortran.logical[i].no, logical_false, (size_t)logical_size);
            fortran.logical[i].told = true;
        }
        pl_lock_drop(&fortran.lock);
        if (again)
            pl_call_error(&call, MPI_ERR_ABI, "the values of LOGICAL of %d bytes are already set", logical_size);
    }
    return pl_call_leave(&call);
}

int MPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)
{
    struct pl_call call = PL_CALL(MPI_Abi_get_fortran_booleans);
    int i = arg_logical_size(&call, logical_size);

    pl_arg_output(&call, logical_true, "logical_true");
    pl_arg_output(&call, logical_false, "logical_false");
    pl_arg_output(&call, is_set, "is_set");
    if (!call.err) {
        pl_lock_take(&fortran.lock);
        *is_set = fortran.logical[i].told;
        if (*is_set) {
            memcpy(logical_true, fortran.logical[i].yes, (size_t)logical_size);
            memcpy(logical_false, fortran.logical[i].no, (size_t)logical_size);
        }
        pl_lock_drop(&fortran.lock);
    }
    return pl_call_leave(&call);
}

/* --- handles as integers --------------------------------------------------------------------------------------- */

/*
 * The integer of a predefined handle is its ABI constant. Any other object lies in the arena (core/object/arena.h), at
 * a multiple of 64 bytes: its integer is the distance from the arena's start in these units. There is no table.
 */
enum { GRAIN = PL_CHUNK_HEAD };

/* The null handle's integer for a bad handle, since the function cannot return an error. */
static inline int to_int(enum pl_kind kind, const void *handle)
{
    if ((uintptr_t)handle < PL_ABI_CONSTANTS)
        return (int)(uintptr_t)handle;
    if (!pl_object_find(kind, handle))
        return (int)pl_kinds[kind].null;
    assert((uintptr_t)handle % GRAIN == 0);
    return (int)(PL_ABI_CONSTANTS + ((uintptr_t)handle - pl_arena_range.base) / GRAIN);
}

/* The integer of a freed object gives its old handle, which each function refuses. */
static inline void *from_int(enum pl_kind kind, int integer)
{
    if (integer >= 0 && integer < PL_ABI_CONSTANTS)
        return (void *)(uintptr_t)integer;
    uintptr_t base = atomic_load_explicit(&pl_arena_range.base, memory_order_acquire);
    if (integer < 0 || !base)
        return (void *)pl_kinds[kind].null;
    return (void *)(base - (uintptr_t)PL_ABI_CONSTANTS * GRAIN + (uintptr_t)(unsigned)integer * GRAIN);
}

int MPIX_Handle_layout(const MPI_Aint **base, int *first, int *unit)
{
    struct pl_call call = PL_CALL(MPIX_Handle_layout);

    pl_arg_output(&call, base, "base");
    pl_arg_output(&call, first, "first");
    pl_arg_output(&call, unit, "unit");
    if (!call.err) {
        *base = (const MPI_Aint *)&pl_arena_range.base;
        *first = PL_ABI_CONSTANTS;
        *unit = GRAIN;
    }
    return pl_call_leave(&call);
}

int MPI_Comm_toint(MPI_Comm comm)
{
    return to_int(PL_COMM, comm);
}

MPI_Comm MPI_Comm_fromint(int comm)
{
    return from_int(PL_COMM, comm);
}

int MPI_Errhandler_toint(MPI_Errhandler errhandler)
{
    return to_int(PL_ERRHANDLER, errhandler);
}

MPI_Errhandler MPI_Errhandler_fromint(int errhandler)
{
    return from_int(PL_ERRHANDLER, errhandler);
}

int MPI_File_toint(MPI_File file)
{
    return to_int(PL_FILE, file);
}

MPI_File MPI_File_fromint(int file)
{
    return from_int(PL_FILE, file);
}

int MPI_Group_toint(MPI_Group group)
{
    return to_int(PL_GROUP, group);
}

MPI_Group MPI_Group_fromint(int group)
{
    return from_int(PL_GROUP, group);
}

int MPI_Info_toint(MPI_Info info)
{
    return to_int(PL_INFO, info);
}

MPI_Info MPI_Info_fromint(int info)
{
    return from_int(PL_INFO, info);
}

int MPI_Message_toint(MPI_Message message)
{
    return to_int(PL_MESSAGE, message);
}

MPI_Message MPI_Message_fromint(int message)
{
    return from_int(PL_MESSAGE, message);
}

int MPI_Op_toint(MPI_Op op)
{
    return to_int(PL_OP, op);
}

MPI_Op MPI_Op_fromint(int op)
{
    return from_int(PL_OP, op);
}

int MPI_Request_toint(MPI_Request request)
{
    return to_int(PL_REQUEST, request);
}

MPI_Request MPI_Request_fromint(int request)
{
    return from_int(PL_REQUEST, request);
}

int MPI_Session_toint(MPI_Session session)
{
    return to_int(PL_SESSION, session);
}

MPI_Session MPI_Session_fromint(int session)
{
    return from_int(PL_SESSION, session);
}

int MPI_Type_toint(MPI_Datatype datatype)
{
    return to_int(PL_DATATYPE, datatype);
}

MPI_Datatype MPI_Type_fromint(int datatype)
{
    return from_int(PL_DATATYPE, datatype);
}

int MPI_Win_toint(MPI_Win win)
{
    return to_int(PL_WIN, win);
}

MPI_Win MPI_Win_fromint(int win)
{
    return from_int(PL_WIN, win);
}

PL_NAMES_ABI(PL_PMPI)
NAMES(PL_PMPI)
