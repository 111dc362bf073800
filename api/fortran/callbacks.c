/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks in Fortran: reduction operations, error handlers, generalized requests, data representations.
 *
 * C calls a function of this file, which converts the arguments and calls the Fortran procedure. Where C passes a
 * context, that is the procedure's address. Operations and error handlers have a context only with the functions of
 * extension.h; otherwise each procedure takes one of SLOTS functions that know their number, and keeps it.
 */
#include <pthread.h>

#include "api/fortran/extension.h"
#include "api/fortran/fortran.h"

typedef void plf_user_function(void *in, void *inout, MPI_Fint *count, MPI_Fint *datatype);
typedef void plf_user_function_c(void *in, void *inout, MPI_Count *count, MPI_Fint *datatype);
typedef void plf_errhandler_function(MPI_Fint *object, MPI_Fint *code);

/* --- Functions with a number in place of a context --------------------------------------------------------------- */

enum { SLOTS = 16 };
enum slot_kind { SLOT_OP, SLOT_OP_C, SLOT_COMM, SLOT_FILE, SLOT_SESSION, SLOT_WIN, SLOT_KINDS };

static void (*slots[SLOT_KINDS][SLOTS])(void);
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

/* The number of the procedure, new or known; -1: there are no more. */
static int slot_of(enum slot_kind kind, void (*procedure)(void))
{
    int number = 0;
    pthread_mutex_lock(&slots_lock);
    while (number < SLOTS && slots[kind][number] && slots[kind][number] != procedure)
        number++;
    if (number < SLOTS)
        slots[kind][number] = procedure;
    pthread_mutex_unlock(&slots_lock);
    return number < SLOTS ? number : -1;
}

#define SLOT_NUMBERS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

static void op_call(void (*procedure)(void), void *in, void *inout, MPI_Fint count, MPI_Datatype datatype)
{
    MPI_Fint type = MPI_Type_toint(datatype);
    ((plf_user_function *)procedure)(in, inout, &count, &type);
}

static void op_call_c(void (*procedure)(void), void *in, void *inout, MPI_Count count, MPI_Datatype datatype)
{
    MPI_Fint type = MPI_Type_toint(datatype);
    ((plf_user_function_c *)procedure)(in, inout, &count, &type);
}

static void errhandler_call(void (*procedure)(void), MPI_Fint object, MPI_Fint code)
{
    ((plf_errhandler_function *)procedure)(&object, &code);
}

#define OP_SLOT(n)                                                                                                     \
    static void op_slot_##n(void *in, void *inout, int *count, MPI_Datatype *type)                                     \
    {                                                                                                                  \
        op_call(slots[SLOT_OP][n], in, inout, *count, *type);                                                          \
    }                                                                                                                  \
    static void op_c_slot_##n(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)                             \
    {                                                                                                                  \
        op_call_c(slots[SLOT_OP_C][n], in, inout, *count, *type);                                                      \
    }                                                                                                                  \
    static void comm_slot_##n(MPI_Comm *comm, int *code, ...)                                                          \
    {                                                                                                                  \
        errhandler_call(slots[SLOT_COMM][n], MPI_Comm_toint(*comm), *code);                                            \
    }                                                                                                                  \
    static void file_slot_##n(MPI_File *file, int *code, ...)                                                          \
    {                                                                                                                  \
        errhandler_call(slots[SLOT_FILE][n], MPI_File_toint(*file), *code);                                            \
    }                                                                                                                  \
    static void session_slot_##n(MPI_Session *session, int *code, ...)                                                 \
    {                                                                                                                  \
        errhandler_call(slots[SLOT_SESSION][n], MPI_Session_toint(*session), *code);                                   \
    }                                                                                                                  \
    static void win_slot_##n(MPI_Win *win, int *code, ...)                                                             \
    {                                                                                                                  \
        errhandler_call(slots[SLOT_WIN][n], MPI_Win_toint(*win), *code);                                               \
    }
SLOT_NUMBERS(OP_SLOT)

#define OP_SLOT_NAME(n)      op_slot_##n,
#define OP_C_SLOT_NAME(n)    op_c_slot_##n,
#define COMM_SLOT_NAME(n)    comm_slot_##n,
#define FILE_SLOT_NAME(n)    file_slot_##n,
#define SESSION_SLOT_NAME(n) session_slot_##n,
#define WIN_SLOT_NAME(n)     win_slot_##n,
static MPI_User_function *const op_slots[] = { SLOT_NUMBERS(OP_SLOT_NAME) };
static MPI_User_function_c *const op_c_slots[] = { SLOT_NUMBERS(OP_C_SLOT_NAME) };
static MPI_Comm_errhandler_function *const comm_slots[] = { SLOT_NUMBERS(COMM_SLOT_NAME) };
static MPI_File_errhandler_function *const file_slots[] = { SLOT_NUMBERS(FILE_SLOT_NAME) };
static MPI_Session_errhandler_function *const session_slots[] = { SLOT_NUMBERS(SESSION_SLOT_NAME) };
static MPI_Win_errhandler_function *const win_slots[] = { SLOT_NUMBERS(WIN_SLOT_NAME) };

/* --- Reduction operations ---------------------------------------------------------------------------------------- */

static void op_call_x(void *in, void *inout, MPI_Count count, MPI_Datatype datatype, void *procedure)
{
    op_call((void (*)(void))procedure, in, inout, (MPI_Fint)count, datatype);
}

static void op_call_x_c(void *in, void *inout, MPI_Count count, MPI_Datatype datatype, void *procedure)
{
    op_call_c((void (*)(void))procedure, in, inout, count, datatype);
}

PLF_NAMES(op_create)
void pmpi_op_create_(void (*user_fn)(void), const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror)
{
    MPI_Op made = MPI_OP_NULL;
    int code, slot;
    if (PLF_HAS(MPIX_Op_create_x))
        code = PLF_CALL_AS("MPIX_Op_create_x", "MPI_Op_create",
                           MPIX_Op_create_x(op_call_x, NULL, plf_truth(*commute), (void *)user_fn, &made));
    else if ((slot = slot_of(SLOT_OP, user_fn)) >= 0)
        code = MPI_Op_create(op_slots[slot], plf_truth(*commute), &made);
    else
        code = plf_raise_none("MPI_Op_create", MPI_ERR_NO_MEM);
    if (code == MPI_SUCCESS)
        *op = MPI_Op_toint(made);
    plf_return(ierror, code);
}

PLF_WEAK(weak mpi_op_create_c_f08_ = pmpi_op_create_c_f08_)
void pmpi_op_create_c_f08_(void (*user_fn)(void), const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror)
{
    MPI_Op made = MPI_OP_NULL;
    int code, slot;
    if (PLF_HAS(MPIX_Op_create_x))
        code = PLF_CALL_AS("MPIX_Op_create_x", "MPI_Op_create_c",
                           MPIX_Op_create_x(op_call_x_c, NULL, plf_truth(*commute), (void *)user_fn, &made));
    else if ((slot = slot_of(SLOT_OP_C, user_fn)) >= 0)
        code = MPI_Op_create_c(op_c_slots[slot], plf_truth(*commute), &made);
    else
        code = plf_raise_none("MPI_Op_create_c", MPI_ERR_NO_MEM);
    if (code == MPI_SUCCESS)
        *op = MPI_Op_toint(made);
    plf_return(ierror, code);
}

/* --- Error handlers ---------------------------------------------------------------------------------------------- */

#define ERRHANDLERS(Kind, kind, SLOT)                                                                                  \
    static void kind##_error_x(MPI_##Kind object, int code, void *procedure)                                           \
    {                                                                                                                  \
        errhandler_call((void (*)(void))procedure, MPI_##Kind##_toint(object), code);                                  \
    }                                                                                                                  \
    PLF_NAMES(kind##_create_errhandler)                                                                                \
    void pmpi_##kind##_create_errhandler_(void (*function)(void), MPI_Fint *errhandler, MPI_Fint *ierror)              \
    {                                                                                                                  \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                                     \
        int code, slot;                                                                                                \
        if (PLF_HAS(MPIX_##Kind##_create_errhandler_x))                                                                \
            code = PLF_CALL_AS("MPIX_" #Kind "_create_errhandler_x", "MPI_" #Kind "_create_errhandler",                \
                               MPIX_##Kind##_create_errhandler_x(kind##_error_x, NULL, (void *)function, &made));      \
        else if ((slot = slot_of(SLOT, function)) >= 0)                                                                \
            code = MPI_##Kind##_create_errhandler(kind##_slots[slot], &made);                                          \
        else                                                                                                           \
            code = plf_raise_none("MPI_" #Kind "_create_errhandler", MPI_ERR_NO_MEM);                                  \
        if (code == MPI_SUCCESS)                                                                                       \
            *errhandler = MPI_Errhandler_toint(made);                                                                  \
        plf_return(ierror, code);                                                                                      \
    }
ERRHANDLERS(Comm, comm, SLOT_COMM)
ERRHANDLERS(File, file, SLOT_FILE)
ERRHANDLERS(Session, session, SLOT_SESSION)
ERRHANDLERS(Win, win, SLOT_WIN)

/* --- Generalized requests ---------------------------------------------------------------------------------------- */

struct grequest {
    void (*query)(MPI_Aint *extra_state, MPI_Fint *status, MPI_Fint *ierror);
    void (*free)(MPI_Aint *extra_state, MPI_Fint *ierror);
    void (*cancel)(MPI_Aint *extra_state, MPI_Fint *complete, MPI_Fint *ierror);
    MPI_Aint extra_state;
};

static int grequest_query(void *state, MPI_Status *status)
{
    struct grequest *g = state;
    MPI_Fint code = MPI_SUCCESS;
    g->query(&g->extra_state, (MPI_Fint *)status, &code);
    return code;
}

static int grequest_free(void *state)
{
    struct grequest *g = state;
    MPI_Fint code = MPI_SUCCESS;
    g->free(&g->extra_state, &code);
    free(g);
    return code;
}

static int grequest_cancel(void *state, int complete)
{
    struct grequest *g = state;
    MPI_Fint code = MPI_SUCCESS, logical = plf_logical(complete);
    g->cancel(&g->extra_state, &logical, &code);
    return code;
}

PLF_NAMES(grequest_start)
void pmpi_grequest_start_(void (*query)(MPI_Aint *, MPI_Fint *, MPI_Fint *), void (*release)(MPI_Aint *, MPI_Fint *),
                          void (*cancel)(MPI_Aint *, MPI_Fint *, MPI_Fint *), const MPI_Aint *extra_state,
                          MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int code;
    struct grequest *g = malloc(sizeof *g);
    if (g) {
        *g = (struct grequest){ query, release, cancel, *extra_state };
        code = MPI_Grequest_start(grequest_query, grequest_free, grequest_cancel, g, &made);
    } else {
        code = plf_raise_none("MPI_Grequest_start", MPI_ERR_NO_MEM);
    }
    if (made != MPI_REQUEST_NULL)
        *request = MPI_Request_toint(made);
    else
        free(g);
    plf_return(ierror, code);
}

/* --- Data representations: they stay until the end of the process, and so does their state ----------------------- */

struct datarep {
    void (*read)(void);
    void (*write)(void);
    void (*extent)(MPI_Fint *datatype, MPI_Aint *extent, MPI_Aint *extra_state, MPI_Fint *ierror);
    MPI_Aint extra_state;
};

typedef void plf_conversion(void *user, MPI_Fint *type, MPI_Fint *count, void *file, MPI_Offset *position,
                            MPI_Aint *state, MPI_Fint *ierror);
typedef void plf_conversion_c(void *user, MPI_Fint *type, MPI_Count *count, void *file, MPI_Offset *position,
                              MPI_Aint *state, MPI_Fint *ierror);

#define DATAREP_CONVERSION(name, slot, COUNT, conversion)                                                              \
    static int datarep_##name(void *user, MPI_Datatype datatype, COUNT count, void *file, MPI_Offset position,         \
                              void *state)                                                                             \
    {                                                                                                                  \
        struct datarep *d = state;                                                                                     \
        MPI_Fint type = MPI_Type_toint(datatype), code = MPI_SUCCESS;                                                  \
        ((conversion *)d->slot)(user, &type, &count, file, &position, &d->extra_state, &code);                         \
        return code;                                                                                                   \
    }
DATAREP_CONVERSION(read, read, MPI_Fint, plf_conversion)
DATAREP_CONVERSION(write, write, MPI_Fint, plf_conversion)
DATAREP_CONVERSION(read_c, read, MPI_Count, plf_conversion_c)
DATAREP_CONVERSION(write_c, write, MPI_Count, plf_conversion_c)

static int datarep_extent(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    struct datarep *d = state;
    MPI_Fint type = MPI_Type_toint(datatype), code = MPI_SUCCESS;
    d->extent(&type, extent, &d->extra_state, &code);
    return code;
}

void mpi_conversion_fn_null_(void);
void mpi_conversion_fn_null_c_(void);

#define REGISTER_DATAREP(symbol, function, name_f, null, c_null, suffix)                                               \
    void symbol(const char *name, void (*read)(void), void (*write)(void),                                             \
                void (*extent)(MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *), const MPI_Aint *extra_state,           \
                MPI_Fint *ierror, size_t name_len)                                                                     \
    {                                                                                                                  \
        struct plf_string text;                                                                                        \
        int code;                                                                                                      \
        struct datarep *d = malloc(sizeof *d);                                                                         \
        if (plf_string(&text, name, name_len) && d) {                                                                  \
            *d = (struct datarep){ read, write, extent, *extra_state };                                                \
            code = function(text.text, read == null ? c_null : datarep_read##suffix,                                   \
                            write == null ? c_null : datarep_write##suffix, datarep_extent, d);                        \
        } else {                                                                                                       \
            code = plf_raise_none(name_f, MPI_ERR_NO_MEM);                                                             \
        }                                                                                                              \
        if (code != MPI_SUCCESS)                                                                                       \
            free(d);                                                                                                   \
        plf_string_free(&text);                                                                                        \
        plf_return(ierror, code);                                                                                      \
    }
PLF_NAMES(register_datarep)
PLF_WEAK(weak mpi_register_datarep_c_f08_ = pmpi_register_datarep_c_f08_)
REGISTER_DATAREP(pmpi_register_datarep_, MPI_Register_datarep, "MPI_Register_datarep", mpi_conversion_fn_null_,
                 MPI_CONVERSION_FN_NULL, )
REGISTER_DATAREP(pmpi_register_datarep_c_f08_, MPI_Register_datarep_c, "MPI_Register_datarep_c",
                 mpi_conversion_fn_null_c_, MPI_CONVERSION_FN_NULL_C, _c)

/* Only their addresses are used. */
void mpi_conversion_fn_null_(void)
{
}

void mpi_conversion_fn_null_c_(void)
{
}
