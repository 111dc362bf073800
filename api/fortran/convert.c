/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions of arguments: sentinels, arrays, strings. */
#include "api/fortran/convert.h"

#include <string.h>

#include "api/fortran/extension.h"

/* At least as aligned as compilers make common blocks, so that a linker that merges them finds nothing to say. */
#define PLF_COMMON _Alignas(64)
PLF_COMMON MPI_Fint mpifort_buffers_[PLF_BUFFERS];
PLF_COMMON MPI_Fint mpifort_status_ignore_[MPI_F_STATUS_SIZE], mpifort_statuses_ignore_[MPI_F_STATUS_SIZE];
PLF_COMMON MPI_Fint mpifort_errcodes_ignore_[1], mpifort_unweighted_[1], mpifort_weights_empty_[1];
PLF_COMMON char mpifort_argv_null_[1], mpifort_argvs_null_[1];

_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "a status is MPI_F_STATUS_SIZE integers");

/* --- Handles ----------------------------------------------------------------------------------------------------- */

static const MPI_Aint no_handles;
const MPI_Aint *plf_handles_base = &no_handles;

void plf_handles_learn(void)
{
    const MPI_Aint *base = &no_handles;
    int first = 0, unit = 0;
    if (PLF_HAS(MPIX_Handle_layout) && MPIX_Handle_layout(&base, &first, &unit) == MPI_SUCCESS && first == PLF_FIRST &&
        unit == PLF_UNIT)
        __atomic_store_n(&plf_handles_base, base, __ATOMIC_RELAXED);
}

#define PLF_SLOW(Kind, kind, handle)                                                                                   \
    PLF_RARE handle plf_##kind##_slow(MPI_Fint number)                                                                 \
    {                                                                                                                  \
        plf_handles_learn();                                                                                           \
        return MPI_##Kind##_fromint(number);                                                                           \
    }
PLF_SLOW(Comm, comm, MPI_Comm)
PLF_SLOW(Errhandler, errhandler, MPI_Errhandler)
PLF_SLOW(File, file, MPI_File)
PLF_SLOW(Group, group, MPI_Group)
PLF_SLOW(Info, info, MPI_Info)
PLF_SLOW(Message, message, MPI_Message)
PLF_SLOW(Op, op, MPI_Op)
PLF_SLOW(Request, request, MPI_Request)
PLF_SLOW(Session, session, MPI_Session)
PLF_SLOW(Type, type, MPI_Datatype)
PLF_SLOW(Win, win, MPI_Win)

/* --- Arrays ------------------------------------------------------------------------------------------------------ */

/* Handles of which some may not be computed. */
#define PLF_ARRAY_SLOW(lower, handle)                                                                                  \
    void plf_##lower##_array_slow(handle *to, const MPI_Fint *from, int count)                                         \
    {                                                                                                                  \
        for (int i = 0; i < count; i++)                                                                                \
            to[i] = plf_##lower##_c(from[i]);                                                                          \
    }
PLF_ARRAY_SLOW(request, MPI_Request)
PLF_ARRAY_SLOW(type, MPI_Datatype)
PLF_ARRAY_SLOW(info, MPI_Info)

void *plf_array_open_long(struct plf_array *array, int count)
{
    array->count = count;
    array->space = calloc((size_t)count, sizeof(void *));
    return array->space;
}

int *plf_truths(struct plf_array *array, int count, const MPI_Fint *from)
{
    int *to = plf_array_open(array, count);
    for (int i = 0; to && i < array->count; i++)
        to[i] = from ? plf_truth(from[i]) : 0;
    return to;
}

void plf_truths_return(const struct plf_array *array, MPI_Fint *to, int code)
{
    const int *from = array->space;
    for (int i = 0; from && code == MPI_SUCCESS && i < array->count; i++)
        to[i] = plf_logical(from[i]);
}

/*
 * The functions below find a length before the C function has checked the communicator. With a wrong one they return 0,
 * without an error handler being called: the C function reports the error.
 */
static bool comm_is_none(MPI_Comm comm)
{
    return comm == MPI_COMM_NULL || comm == NULL;
}

int plf_members(MPI_Comm comm, enum plf_side side)
{
    int inter = 0, size = 0;
    (void)side;
    if (comm_is_none(comm) || MPI_Comm_test_inter(comm, &inter))
        return 0;
    return (inter ? MPI_Comm_remote_size(comm, &size) : MPI_Comm_size(comm, &size)) ? 0 : size;
}

int plf_neighbors(MPI_Comm comm, enum plf_side side)
{
    int topology = MPI_UNDEFINED, count = 0, out = 0, weighted = 0, rank = 0;
    if (comm_is_none(comm) || MPI_Topo_test(comm, &topology))
        return 0;
    switch (topology) {
    case MPI_CART: return MPI_Cartdim_get(comm, &count) ? 0 : 2 * count;
    case MPI_GRAPH: MPI_Comm_rank(comm, &rank); return MPI_Graph_neighbors_count(comm, rank, &count) ? 0 : count;
    case MPI_DIST_GRAPH:
        if (MPI_Dist_graph_neighbors_count(comm, &count, &out, &weighted))
            return 0;
        return side == PLF_SENT ? out : count;
    default: return 0;
    }
}

int plf_cart_dimensions(MPI_Comm comm)
{
    int topology = MPI_UNDEFINED, count = 0;
    if (comm_is_none(comm) || MPI_Topo_test(comm, &topology) || topology != MPI_CART)
        return 0;
    return MPI_Cartdim_get(comm, &count) ? 0 : count;
}

/* --- Strings ----------------------------------------------------------------------------------------------------- */

char *plf_string(struct plf_string *string, const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    string->text = length < sizeof string->small ? string->small : malloc(length + 1);
    if (string->text) {
        memcpy(string->text, text, length);
        string->text[length] = '\0';
    }
    return string->text;
}

char *plf_word(struct plf_string *string, const char *text, size_t length)
{
    for (; length > 0 && *text == ' '; length--)
        text++;
    return plf_string(string, text, length);
}

void plf_string_free(struct plf_string *string)
{
    if (string->text != string->small)
        free(string->text);
}

void plf_fill(char *to, size_t length, const char *from)
{
    size_t copied = strnlen(from, length);
    memcpy(to, from, copied);
    memset(to + copied, ' ', length - copied);
}
