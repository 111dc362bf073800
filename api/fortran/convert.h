/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions of arguments: sentinels, LOGICAL, arrays, strings. */
#ifndef PLENUM_FORTRAN_CONVERT_H
#define PLENUM_FORTRAN_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/fortran/pending.h"
#include "api/fortran/raise.h"
#include "api/mpi.h"

/* --- Sentinels: their addresses count --------------------------------------------------------------------------- */

#pragma GCC visibility push(default)
enum { PLF_BOTTOM, PLF_IN_PLACE, PLF_BUFFER_AUTOMATIC, PLF_BUFFERS };
extern MPI_Fint mpifort_buffers_[PLF_BUFFERS];
extern MPI_Fint mpifort_status_ignore_[], mpifort_statuses_ignore_[], mpifort_errcodes_ignore_[];
extern MPI_Fint mpifort_unweighted_[], mpifort_weights_empty_[];
extern char mpifort_argv_null_[], mpifort_argvs_null_[];
#pragma GCC visibility pop

#pragma GCC visibility push(hidden)

#define PLF_LIKELY(condition) __builtin_expect(condition, 1)
#define PLF_RARE              __attribute__((noinline, cold))
/* A step that a procedure goes on to with a jump: it keeps its arguments as they are. */
#if __has_attribute(noipa)
#define PLF_OTHER __attribute__((noipa))
#else
#define PLF_OTHER __attribute__((noinline))
#endif
/* A call on an unlikely path would have the usual one save registers. */
#define PLF_INLINE static inline __attribute__((always_inline))
/* What a pointer points to is read again, which needs no register meanwhile. */
#define PLF_READ_AGAIN(pointer) __asm__("" : "+r"(pointer))

PLF_INLINE bool plf_is_memory(const void *buffer)
{
    return (uintptr_t)buffer - (uintptr_t)mpifort_buffers_ >= sizeof mpifort_buffers_;
}

/* The address of a buffer for C. */
static inline void *plf_address(const void *buffer)
{
    if (buffer == &mpifort_buffers_[PLF_BOTTOM])
        return MPI_BOTTOM;
    if (buffer == &mpifort_buffers_[PLF_IN_PLACE])
        return MPI_IN_PLACE;
    if (buffer == &mpifort_buffers_[PLF_BUFFER_AUTOMATIC])
        return MPI_BUFFER_AUTOMATIC;
    return (void *)buffer;
}

static inline MPI_Status *plf_status(MPI_Fint *status)
{
    return status == mpifort_status_ignore_ ? MPI_STATUS_IGNORE : (MPI_Status *)status;
}

static inline MPI_Status *plf_statuses(MPI_Fint *statuses)
{
    return statuses == mpifort_statuses_ignore_ ? MPI_STATUSES_IGNORE : (MPI_Status *)statuses;
}

static inline int *plf_weights(const MPI_Fint *weights)
{
    if (weights == mpifort_unweighted_)
        return MPI_UNWEIGHTED;
    return weights == mpifort_weights_empty_ ? MPI_WEIGHTS_EMPTY : (int *)weights;
}

/* --- Handles ----------------------------------------------------------------------------------------------------- */

/*
 * MPI_X_fromint() and MPI_X_toint(). A predefined handle of the ABI is its number in both languages, which is below
 * PLF_CONSTANTS (MPI-5.0, section 20.5). Others are computed without a call where MPIX_Handle_layout() says how.
 */
enum { PLF_CONSTANTS = 1024, PLF_FIRST = 4096, PLF_SHIFT = 6, PLF_UNIT = 1 << PLF_SHIFT };

/* Points to the base of the layout, which is 0 while there is no object. To a 0 until plf_handles_learn(), and above
 * libraries without that function. */
extern const MPI_Aint *plf_handles_base;
void plf_handles_learn(void);

PLF_INLINE MPI_Aint plf_handles(void)
{
    return __atomic_load_n(__atomic_load_n(&plf_handles_base, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* For numbers that are joined by `|`: true if all are constants. */
PLF_INLINE bool plf_are_constants(unsigned numbers)
{
    return numbers < PLF_CONSTANTS;
}

/* The handle of the number of a constant, or of an object while the process has some. A number that stands for neither,
 * a negative one for instance, becomes an address without an object, which the C function refuses. */
PLF_INLINE void *plf_handle_of_constant(unsigned number)
{
    return (void *)(uintptr_t)number;
}

PLF_INLINE void *plf_handle_of_object(MPI_Aint base, unsigned number)
{
    return (void *)(base - (MPI_Aint)PLF_FIRST * PLF_UNIT + (MPI_Aint)number * PLF_UNIT);
}

PLF_INLINE void *plf_handle_of_any(MPI_Aint base, unsigned number)
{
    return plf_are_constants(number) ? plf_handle_of_constant(number) : plf_handle_of_object(base, number);
}

#define PLF_HANDLE(Kind, kind, handle)                                                                                 \
    handle plf_##kind##_slow(MPI_Fint number);                                                                         \
    static inline handle plf_##kind##_c(MPI_Fint number)                                                               \
    {                                                                                                                  \
        if (PLF_LIKELY(plf_are_constants((unsigned)number)))                                                           \
            return (handle)plf_handle_of_constant((unsigned)number);                                                   \
        MPI_Aint base = plf_handles();                                                                                 \
        return PLF_LIKELY(base != 0) ? (handle)plf_handle_of_object(base, (unsigned)number)                            \
                                     : plf_##kind##_slow(number);                                                      \
    }                                                                                                                  \
    PLF_INLINE MPI_Fint plf_##kind##_f(handle object)                                                                  \
    {                                                                                                                  \
        if ((uintptr_t)object < PLF_CONSTANTS)                                                                         \
            return (MPI_Fint)(intptr_t)object;                                                                         \
        MPI_Aint base = plf_handles();                                                                                 \
        return base ? (MPI_Fint)((((MPI_Aint)object - base) >> PLF_SHIFT) + PLF_FIRST) : MPI_##Kind##_toint(object);   \
    }
PLF_HANDLE(Comm, comm, MPI_Comm)
PLF_HANDLE(Errhandler, errhandler, MPI_Errhandler)
PLF_HANDLE(File, file, MPI_File)
PLF_HANDLE(Group, group, MPI_Group)
PLF_HANDLE(Info, info, MPI_Info)
PLF_HANDLE(Message, message, MPI_Message)
PLF_HANDLE(Op, op, MPI_Op)
PLF_HANDLE(Request, request, MPI_Request)
PLF_HANDLE(Session, session, MPI_Session)
PLF_HANDLE(Type, type, MPI_Datatype)
PLF_HANDLE(Win, win, MPI_Win)

/* --- Results ----------------------------------------------------------------------------------------------------- */

/* Stores the error code, unless the caller left the optional argument out. */
static inline void plf_return(MPI_Fint *ierror, int code)
{
    if (ierror)
        *ierror = code;
}

/* Adds one to indices that C counts from zero. */
static inline void plf_count_from_one(MPI_Fint *index, int count, int code)
{
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
        return;
    for (int i = 0; i < count; i++)
        if (index[i] != MPI_UNDEFINED)
            index[i]++;
}

/* --- LOGICAL: values.f90 tells the compiler's -------------------------------------------------------------------- */

extern const MPI_Fint plf_true, plf_false; /* these and the next: values.f90 */
extern const MPI_Fint plf_bytes[4], plf_has_integer[5], plf_has_logical[5], plf_has_real[4];

static inline int plf_truth(MPI_Fint logical)
{
    return logical != plf_false;
}

static inline MPI_Fint plf_logical(int truth)
{
    return truth ? plf_true : plf_false;
}

/* --- Arrays that need conversion --------------------------------------------------------------------------------- */

/* The C form of an array; short ones need no memory. */
struct plf_array {
    int count;
    void *space; /* NULL: memory is short, or the count is negative, which the C function finds */
    void *small[16];
};

/* Gives space for the elements of an array, filled with zeros if it is long. NULL if memory is short. */
void *plf_array_open_long(struct plf_array *array, int count);

static inline void *plf_array_open(struct plf_array *array, int count)
{
    if (PLF_LIKELY(count <= (int)(sizeof array->small / sizeof array->small[0]))) {
        array->count = count > 0 ? count : 0;
        return array->space = array->small;
    }
    return plf_array_open_long(array, count);
}

static inline void plf_array_free(struct plf_array *array)
{
    if (array->space != array->small)
        free(array->space);
}

static inline bool plf_array_failed(const struct plf_array *array)
{
    return array->space == NULL;
}

/*
 * Converts an array of handles to C. Without an array to convert, all elements are NULL, which no handle is. The
 * function _store gives back the elements that the call has set.
 */
#define PLF_HANDLE_ARRAY(kind, lower, handle)                                                                          \
    PLF_OTHER void plf_##lower##_array_slow(handle *to, const MPI_Fint *from, int count);                              \
    static inline handle *plf_##lower##_array(struct plf_array *array, int count, const MPI_Fint *from)                \
    {                                                                                                                  \
        handle *to = plf_array_open(array, count);                                                                     \
        MPI_Aint base = plf_handles();                                                                                 \
        int n = to ? array->count : 0;                                                                                 \
        if (!from && n > 0)                                                                                            \
            memset(to, 0, (size_t)n * sizeof *to);                                                                     \
        else if (PLF_LIKELY(from && base != 0))                                                                        \
            for (int i = 0; i < n; i++)                                                                                \
                to[i] = (handle)plf_handle_of_any(base, (unsigned)from[i]);                                            \
        else if (from)                                                                                                 \
            plf_##lower##_array_slow(to, from, n);                                                                     \
        return to;                                                                                                     \
    }                                                                                                                  \
    static inline void plf_##lower##_array_store(const struct plf_array *array, MPI_Fint *to)                          \
    {                                                                                                                  \
        handle const *from = array->space;                                                                             \
        for (int i = 0, n = from ? array->count : 0; i < n; i++)                                                       \
            if (from[i])                                                                                               \
                to[i] = plf_##lower##_f(from[i]);                                                                      \
    }
PLF_HANDLE_ARRAY(Request, request, MPI_Request)
PLF_HANDLE_ARRAY(Type, type, MPI_Datatype)
PLF_HANDLE_ARRAY(Info, info, MPI_Info)

/* Copies back what requests have received that are complete, after a call that ends none of them (pending.c). */
static inline void plf_request_array_settle(const struct plf_array *array, const MPI_Fint *requests)
{
    MPI_Request const *now = array->space;
    if (plf_pending_any())
        for (int i = 0; now && i < array->count; i++)
            plf_pending_settle(requests[i], now[i]);
}

int *plf_truths(struct plf_array *array, int count, const MPI_Fint *from);
void plf_truths_return(const struct plf_array *array, MPI_Fint *to, int code);

/* The lengths of arrays that the communicator decides. */
enum plf_side { PLF_SENT, PLF_RECEIVED };
int plf_members(MPI_Comm comm, enum plf_side side);
int plf_neighbors(MPI_Comm comm, enum plf_side side);
int plf_cart_dimensions(MPI_Comm comm);

/* --- Strings ----------------------------------------------------------------------------------------------------- */

/* A C string: in itself if it is short. */
struct plf_string {
    char *text;
    char small[120];
};

/* A copy without the trailing blanks; plf_word(): without the leading blanks, too. NULL if memory is short. */
char *plf_string(struct plf_string *string, const char *text, size_t length);
char *plf_word(struct plf_string *string, const char *text, size_t length);
void plf_string_free(struct plf_string *string);
/* Copies a C string into a CHARACTER of this length and fills it with blanks. */
void plf_fill(char *to, size_t length, const char *from);

#pragma GCC visibility pop

#endif
