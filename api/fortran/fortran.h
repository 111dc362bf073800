/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the bodies of the Fortran procedures share: they convert arguments, call the C function of the standard, and
 * convert the results back. This library calls nothing but the standard's C functions, so it works with every library
 * of the standard ABI; what it uses of mpi-ext.h is optional (extension.h).
 *
 * Conversions: handles by MPI_X_fromint() and _toint(), truth to the compiler's LOGICAL, strings without their trailing
 * blanks, sentinels by the addresses of their common blocks. Integers and statuses are the same in both languages.
 */
#ifndef PLENUM_FORTRAN_H
#define PLENUM_FORTRAN_H

#include <ISO_Fortran_binding.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

/* Fortran calls the procedures, so their prototypes are in its modules. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
/* Procedures and sentinels are seen outside the library; what is declared between `hidden` and `pop` is not. */
#pragma GCC visibility push(default)

/* Gives a body written by hand, pmpi_x_(), its other names: mpi_x_(), which is weak, and those of module mpi_f08. */
#define PLF_WEAK(text) _Pragma(#text)
#define PLF_NAMES(name)                                                                                                \
    PLF_WEAK(weak mpi_##name##_ = pmpi_##name##_)                                                                      \
    PLF_WEAK(weak mpi_##name##_f08_ = pmpi_##name##_)                                                                  \
    PLF_WEAK(weak pmpi_##name##_f08_ = pmpi_##name##_)

/* --- Sentinels: their addresses count --------------------------------------------------------------------------- */

extern MPI_Fint mpifort_bottom_[], mpifort_in_place_[], mpifort_buffer_automatic_[];
extern MPI_Fint mpifort_status_ignore_[], mpifort_statuses_ignore_[], mpifort_errcodes_ignore_[];
extern MPI_Fint mpifort_unweighted_[], mpifort_weights_empty_[];
extern char mpifort_argv_null_[], mpifort_argvs_null_[];

#pragma GCC visibility push(hidden)

/* The address of a buffer for C. */
static inline void *plf_address(const void *buffer)
{
    if (buffer == mpifort_bottom_)
        return MPI_BOTTOM;
    if (buffer == mpifort_in_place_)
        return MPI_IN_PLACE;
    if (buffer == mpifort_buffer_automatic_)
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

extern const MPI_Fint plf_true, plf_false;

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

/* Gives space for the elements of an array, filled with zeros. NULL if memory is short. */
void *plf_array_open(struct plf_array *array, int count);

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
    static inline handle *plf_##lower##_array(struct plf_array *array, int count, const MPI_Fint *from)                \
    {                                                                                                                  \
        handle *to = plf_array_open(array, count);                                                                     \
        for (int i = 0; to && from && i < array->count; i++)                                                           \
            to[i] = MPI_##kind##_fromint(from[i]);                                                                     \
        return to;                                                                                                     \
    }                                                                                                                  \
    static inline void plf_##lower##_array_store(const struct plf_array *array, MPI_Fint *to)                          \
    {                                                                                                                  \
        handle const *from = array->space;                                                                             \
        for (int i = 0; from && i < array->count; i++)                                                                 \
            if (from[i])                                                                                               \
                to[i] = MPI_##kind##_toint(from[i]);                                                                   \
    }
PLF_HANDLE_ARRAY(Request, request, MPI_Request)
PLF_HANDLE_ARRAY(Type, type, MPI_Datatype)
PLF_HANDLE_ARRAY(Info, info, MPI_Info)

#define plf_type_array_return(array, to) plf_type_array_store(array, to)

/* Stores the requests of a completing call, and ends the copies of those that are complete (pending.c). */
void plf_request_array_return(const struct plf_array *array, MPI_Fint *requests);
void plf_request_array_settle(const struct plf_array *array, const MPI_Fint *requests);

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

/* --- Buffers by descriptor --------------------------------------------------------------------------------------- */

/*
 * A section with gaps becomes a datatype of the section's layout where count and type say what its elements are
 * (PLF_TYPED). Some collectives permit no other type, because of their counts, displacements or operations. For these,
 * and for types that are not basic, the section is copied to one piece. The copy of a pending operation lives until its
 * request is complete (pending.c).
 */
enum {
    PLF_TYPED = 1,
    PLF_COPIED = 2,
    PLF_WHOLE = 4,    /* must have no gaps: it stays in use without a request */
    PLF_NO_COPY = 8,  /* with PLF_TYPED: the operation has no request that ends it */
    PLF_WRITTEN = 16, /* the operation writes to it */
};

struct plf_section {
    void *address;
    MPI_Count count;
    MPI_Datatype type;
    int error;
    int flags;
    bool typed; /* type is ours */
    void *copy;
    struct plf_section_shape *shape; /* of the copied section */
};

/* True if the elements lie one behind the other, or the size is not known, which compilers permit for these alone. */
static inline bool plf_section_is_whole(const CFI_cdesc_t *descriptor)
{
    CFI_index_t stride = (CFI_index_t)descriptor->elem_len;
    for (int i = 0; i < descriptor->rank; i++) {
        if (descriptor->dim[i].extent < 0)
            return true;
        if (descriptor->dim[i].sm != stride && descriptor->dim[i].extent != 1)
            return false;
        stride *= descriptor->dim[i].extent;
    }
    return true;
}

void plf_section_open_gaps(struct plf_section *section, const CFI_cdesc_t *descriptor, int flags, MPI_Count count,
                           MPI_Datatype type);
void plf_sections_close_held(struct plf_section *sections, int count, int code, MPI_Request *request, bool persistent);

static inline void plf_section_open(struct plf_section *section, const CFI_cdesc_t *descriptor, int flags,
                                    MPI_Count count, MPI_Datatype type)
{
    if (__builtin_expect(plf_section_is_whole(descriptor), 1)) {
        section->address = plf_address(descriptor->base_addr);
        section->count = count;
        section->type = type;
    } else {
        plf_section_open_gaps(section, descriptor, flags, count, type);
    }
}

static inline int plf_sections_error(const struct plf_section *sections, int count)
{
    for (int i = 0; i < count; i++)
        if (sections[i].error)
            return sections[i].error;
    return MPI_SUCCESS;
}

/* Ends the use of sections. With a request, the copies stay until it completes; a persistent one is not active yet. */
static inline void plf_sections_close(struct plf_section *sections, int count, int code, MPI_Request *request,
                                      bool persistent)
{
    for (int i = 0; i < count; i++)
        if (sections[i].typed || sections[i].copy) {
            plf_sections_close_held(sections, count, code, request, persistent);
            return;
        }
}

/* A section that was copied: copies back, and forgets it. */
void plf_section_copy_in(const struct plf_section *section);
void plf_section_copy_out(const struct plf_section *section);
void plf_section_free(struct plf_section *section);

/* --- Copies that wait for a request (pending.c) ------------------------------------------------------------------ */

extern int plf_pending_total; /* read without the lock: a thread that completes a request has seen it made */

int plf_pending_add(MPI_Request request, const struct plf_section *section, bool persistent);
void plf_pending_settle_slow(MPI_Fint before, MPI_Request now);
void plf_pending_start_slow(const MPI_Fint *requests, int count);
void plf_pending_free_slow(MPI_Fint request);

/* After a call that may have completed a request. */
static inline void plf_pending_settle(MPI_Fint before, MPI_Request now)
{
    if (__atomic_load_n(&plf_pending_total, __ATOMIC_RELAXED))
        plf_pending_settle_slow(before, now);
}

/* Before a persistent request is started. */
static inline void plf_pending_startall(int count, const MPI_Fint *requests)
{
    if (__atomic_load_n(&plf_pending_total, __ATOMIC_RELAXED))
        plf_pending_start_slow(requests, count);
}

static inline void plf_pending_start(MPI_Fint request)
{
    plf_pending_startall(1, &request);
}

/* Before a request is freed. */
static inline void plf_pending_request_free(MPI_Fint request)
{
    if (__atomic_load_n(&plf_pending_total, __ATOMIC_RELAXED))
        plf_pending_free_slow(request);
}

#pragma GCC visibility pop

#endif
