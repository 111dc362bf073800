/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes: MPI-5.0, section 19.3.7. An attribute of Fortran is an integer. C sees a pointer to it; an attribute that
 * C has set is its pointer, as an integer, in Fortran. The predefined ones are values in Fortran, and pointers in C.
 *
 * Where the library of the ABI has the functions of extension.h, it does all that, and frees the state of keys. Above
 * another one, an integer that Fortran sets lies in a holder, and the attribute in C is the address of it. A table of
 * holders tells them from pointers of C. The delete callback of a key from Fortran frees the holder. A key from C has a
 * callback that does not know holders: they stay until the library is unloaded, and so does the state of a key.
 *
 * Locking: `holders_lock` protects the table; callbacks run without it.
 */
#include <pthread.h>

#include "api/fortran/extension.h"
#include "api/fortran/fortran.h"

/* --- Holders ----------------------------------------------------------------------------------------------------- */

struct holder {
    MPI_Aint value; /* first: the attribute is its address */
    struct holder *next;
};

enum { HOLDER_BUCKETS = 1024 };
static struct holder *holders[HOLDER_BUCKETS];
static pthread_mutex_t holders_lock = PTHREAD_MUTEX_INITIALIZER;

static struct holder **holder_bucket(const void *address)
{
    return &holders[((uintptr_t)address >> 5) % HOLDER_BUCKETS];
}

static void *holder_create(MPI_Aint value)
{
    struct holder *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    struct holder **bucket = holder_bucket(made);
    made->value = value;
    pthread_mutex_lock(&holders_lock);
    made->next = *bucket;
    *bucket = made;
    pthread_mutex_unlock(&holders_lock);
    return made;
}

/* The attribute as Fortran sees it, and whether it is a holder. */
static MPI_Aint holder_value(const void *attribute, bool *held)
{
    MPI_Aint value = (MPI_Aint)attribute;
    *held = false;
    pthread_mutex_lock(&holders_lock);
    for (struct holder *holder = *holder_bucket(attribute); holder && !*held; holder = holder->next)
        if (holder == attribute) {
            value = holder->value;
            *held = true;
        }
    pthread_mutex_unlock(&holders_lock);
    return value;
}

/* Frees the holder, if the attribute is one. */
static void holder_free(void *attribute)
{
    struct holder *found = NULL;
    pthread_mutex_lock(&holders_lock);
    for (struct holder **at = holder_bucket(attribute); *at; at = &(*at)->next) {
        if (*at == attribute) {
            found = *at;
            *at = found->next;
            break;
        }
    }
    pthread_mutex_unlock(&holders_lock);
    free(found);
}

/* --- Keys -------------------------------------------------------------------------------------------------------- */

typedef void plf_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra_state, MPI_Aint *in, MPI_Aint *out,
                      MPI_Fint *flag, MPI_Fint *ierror);
typedef void plf_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *extra_state, MPI_Fint *ierror);
/* MPI_Keyval_create(): default integers. */
typedef void plf_old_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *extra_state, MPI_Fint *in, MPI_Fint *out,
                          MPI_Fint *flag, MPI_Fint *ierror);
typedef void plf_old_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *extra_state,
                            MPI_Fint *ierror);

/* The extra state of a key from Fortran. */
struct key {
    void (*copy)(void);
    void (*delete)(void);
    MPI_Aint extra_state;
    bool old; /* of MPI_Keyval_create() */
};

/* Calls the procedure. The copy is `*out` if `*flag` is true. */
static int key_copy(const struct key *key, MPI_Fint object, int keyval, MPI_Aint in, MPI_Aint *out, int *flag)
{
    MPI_Aint state = key->extra_state;
    MPI_Fint number = keyval, logical = plf_false, code = MPI_SUCCESS;

    if (key->old) {
        MPI_Fint in_short = (MPI_Fint)in, out_short = 0, state_short = (MPI_Fint)state;
        ((plf_old_copy *)key->copy)(&object, &number, &state_short, &in_short, &out_short, &logical, &code);
        *out = out_short;
    } else {
        ((plf_copy *)key->copy)(&object, &number, &state, &in, out, &logical, &code);
    }
    *flag = plf_truth(logical);
    return code;
}

static int key_delete(const struct key *key, MPI_Fint object, int keyval, MPI_Aint value)
{
    MPI_Aint state = key->extra_state;
    MPI_Fint number = keyval, code = MPI_SUCCESS;

    if (key->old) {
        MPI_Fint value_short = (MPI_Fint)value, state_short = (MPI_Fint)state;
        ((plf_old_delete *)key->delete)(&object, &number, &value_short, &state_short, &code);
    } else {
        ((plf_delete *)key->delete)(&object, &number, &value, &state, &code);
    }
    return code;
}

/* The same for attributes that may be holders. A copy is of the language of its original. */
static int key_copy_held(const struct key *key, MPI_Fint object, int keyval, void *attribute, void **copied, int *flag)
{
    bool held;
    MPI_Aint in = holder_value(attribute, &held), out = 0;
    int code = key_copy(key, object, keyval, in, &out, flag);
    if (code == MPI_SUCCESS && *flag && !(*copied = held ? holder_create(out) : (void *)out))
        code = held ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    return code;
}

static int key_delete_held(const struct key *key, MPI_Fint object, int keyval, void *attribute)
{
    bool held;
    int code = key_delete(key, object, keyval, holder_value(attribute, &held));
    if (code == MPI_SUCCESS && held)
        holder_free(attribute);
    return code;
}

/* The predefined attributes: C has pointers to these integers. */
static bool comm_attribute_is_int(int keyval)
{
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE: return true;
    default: return false;
    }
}

static MPI_Aint comm_value(int keyval, const void *attribute)
{
    bool held;
    return comm_attribute_is_int(keyval) ? *(const int *)attribute : holder_value(attribute, &held);
}

static MPI_Aint type_value(int keyval, const void *attribute)
{
    bool held;
    (void)keyval;
    return holder_value(attribute, &held);
}

static MPI_Aint win_value(int keyval, const void *attribute)
{
    bool held;
    switch (keyval) {
    case MPI_WIN_BASE: return (MPI_Aint)attribute;
    case MPI_WIN_SIZE: return *(const MPI_Aint *)attribute;
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL: return *(const int *)attribute;
    default: return holder_value(attribute, &held);
    }
}

/* An error of a datatype is of no object that has a handler. */
#define RAISE_comm(comm, name) plf_raise_comm(comm, name, MPI_ERR_NO_MEM, PLF_ALONE)
#define RAISE_type(type, name) plf_raise_none(name, MPI_ERR_NO_MEM)
#define RAISE_win(win, name)   plf_raise_win(win, name, MPI_ERR_NO_MEM, PLF_ALONE)

/* The procedures of one kind of object; `name` is that of the procedure in messages. */
#define ATTRIBUTES(Kind, kind, handle)                                                                                 \
    static int kind##_copy(handle object, int keyval, void *key, void *in, void *out, int *flag)                       \
    {                                                                                                                  \
        return key_copy(key, MPI_##Kind##_toint(object), keyval, (MPI_Aint)in, out, flag);                             \
    }                                                                                                                  \
    static int kind##_delete(handle object, int keyval, void *value, void *key)                                        \
    {                                                                                                                  \
        return key_delete(key, MPI_##Kind##_toint(object), keyval, (MPI_Aint)value);                                   \
    }                                                                                                                  \
    static int kind##_copy_held(handle object, int keyval, void *key, void *in, void *out, int *flag)                  \
    {                                                                                                                  \
        return key_copy_held(key, MPI_##Kind##_toint(object), keyval, in, out, flag);                                  \
    }                                                                                                                  \
    static int kind##_delete_held(handle object, int keyval, void *attribute, void *key)                               \
    {                                                                                                                  \
        return key_delete_held(key, MPI_##Kind##_toint(object), keyval, attribute);                                    \
    }                                                                                                                  \
    static int kind##_create(void (*copy)(void), void (*delete)(void), MPI_Fint *keyval, MPI_Aint extra_state,         \
                             bool old, const char *name)                                                               \
    {                                                                                                                  \
        struct key *key = malloc(sizeof *key);                                                                         \
        if (!key)                                                                                                      \
            return plf_raise_none(name, MPI_ERR_NO_MEM);                                                               \
        *key = (struct key){ copy, delete, extra_state, old };                                                         \
        int code = PLF_HAS(MPIX_##Kind##_create_keyval_x)                                                              \
                       ? PLF_CALL_AS("MPIX_" #Kind "_create_keyval_x", name,                                           \
                                     MPIX_##Kind##_create_keyval_x(kind##_copy, kind##_delete, free, keyval, key))     \
                       : MPI_##Kind##_create_keyval(kind##_copy_held, kind##_delete_held, keyval, key);                \
        if (code != MPI_SUCCESS)                                                                                       \
            free(key);                                                                                                 \
        return code;                                                                                                   \
    }                                                                                                                  \
    static int kind##_set(handle object, int keyval, MPI_Aint value, const char *name)                                 \
    {                                                                                                                  \
        if (PLF_HAS(MPIX_##Kind##_set_attr_as_fortran))                                                                \
            return PLF_CALL_AS("MPIX_" #Kind "_set_attr_as_fortran", name,                                             \
                               MPIX_##Kind##_set_attr_as_fortran(object, keyval, (void *)value));                      \
        void *holder = holder_create(value);                                                                           \
        int code = holder ? MPI_##Kind##_set_attr(object, keyval, holder) : RAISE_##kind(object, name);                \
        if (code != MPI_SUCCESS)                                                                                       \
            holder_free(holder);                                                                                       \
        return code;                                                                                                   \
    }                                                                                                                  \
    static int kind##_get(handle object, int keyval, MPI_Aint *value, MPI_Fint *flag, const char *name)                \
    {                                                                                                                  \
        void *attribute = NULL;                                                                                        \
        bool own = PLF_HAS(MPIX_##Kind##_get_attr_as_fortran);                                                         \
        int found = 0;                                                                                                 \
        int code = own ? PLF_CALL_AS("MPIX_" #Kind "_get_attr_as_fortran", name,                                       \
                                     MPIX_##Kind##_get_attr_as_fortran(object, keyval, &attribute, &found))            \
                       : MPI_##Kind##_get_attr(object, keyval, &attribute, &found);                                    \
        if (code == MPI_SUCCESS) {                                                                                     \
            *flag = plf_logical(found);                                                                                \
            if (found)                                                                                                 \
                *value = own ? (MPI_Aint)attribute : kind##_value(keyval, attribute);                                  \
        }                                                                                                              \
        return code;                                                                                                   \
    }                                                                                                                  \
    PLF_NAMES(kind##_create_keyval)                                                                                    \
    void pmpi_##kind##_create_keyval_(void (*copy)(void), void (*delete)(void), MPI_Fint *keyval,                      \
                                      const MPI_Aint *extra_state, MPI_Fint *ierror)                                   \
    {                                                                                                                  \
        plf_return(ierror, kind##_create(copy, delete, keyval, *extra_state, false, "MPI_" #Kind "_create_keyval"));   \
    }                                                                                                                  \
    PLF_NAMES(kind##_set_attr)                                                                                         \
    void pmpi_##kind##_set_attr_(const MPI_Fint *object, const MPI_Fint *keyval, const MPI_Aint *value,                \
                                 MPI_Fint *ierror)                                                                     \
    {                                                                                                                  \
        plf_return(ierror, kind##_set(MPI_##Kind##_fromint(*object), *keyval, *value, "MPI_" #Kind "_set_attr"));      \
    }                                                                                                                  \
    PLF_NAMES(kind##_get_attr)                                                                                         \
    void pmpi_##kind##_get_attr_(const MPI_Fint *object, const MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag,      \
                                 MPI_Fint *ierror)                                                                     \
    {                                                                                                                  \
        plf_return(ierror, kind##_get(MPI_##Kind##_fromint(*object), *keyval, value, flag, "MPI_" #Kind "_get_attr")); \
    }
ATTRIBUTES(Comm, comm, MPI_Comm)
ATTRIBUTES(Type, type, MPI_Datatype)
ATTRIBUTES(Win, win, MPI_Win)

/* --- The deprecated procedures of communicators ------------------------------------------------------------------ */

PLF_WEAK(weak mpi_keyval_create_ = pmpi_keyval_create_)
void pmpi_keyval_create_(void (*copy)(void), void (*delete)(void), MPI_Fint *keyval, const MPI_Fint *extra_state,
                         MPI_Fint *ierror)
{
    plf_return(ierror, comm_create(copy, delete, keyval, *extra_state, true, "MPI_Keyval_create"));
}

PLF_WEAK(weak mpi_attr_put_ = pmpi_attr_put_)
void pmpi_attr_put_(const MPI_Fint *comm, const MPI_Fint *keyval, const MPI_Fint *value, MPI_Fint *ierror)
{
    plf_return(ierror, comm_set(MPI_Comm_fromint(*comm), *keyval, *value, "MPI_Attr_put"));
}

PLF_WEAK(weak mpi_attr_get_ = pmpi_attr_get_)
void pmpi_attr_get_(const MPI_Fint *comm, const MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror)
{
    MPI_Aint long_value = 0;
    int code = comm_get(MPI_Comm_fromint(*comm), *keyval, &long_value, flag, "MPI_Attr_get");
    if (code == MPI_SUCCESS && plf_truth(*flag))
        *value = (MPI_Fint)long_value;
    plf_return(ierror, code);
}

/* --- The predefined callbacks ------------------------------------------------------------------------------------ */

#define PREDEFINED_COPY(name, copies, INTEGER)                                                                         \
    void name(const MPI_Fint *object, const MPI_Fint *keyval, const INTEGER *extra_state, const INTEGER *in,           \
              INTEGER *out, MPI_Fint *flag, MPI_Fint *ierror)                                                          \
    {                                                                                                                  \
        (void)object, (void)keyval, (void)extra_state;                                                                 \
        if (copies)                                                                                                    \
            *out = *in;                                                                                                \
        *flag = plf_logical(copies);                                                                                   \
        plf_return(ierror, MPI_SUCCESS);                                                                               \
    }
#define PREDEFINED_DELETE(name, INTEGER)                                                                               \
    void name(const MPI_Fint *object, const MPI_Fint *keyval, const INTEGER *value, const INTEGER *extra_state,        \
              MPI_Fint *ierror)                                                                                        \
    {                                                                                                                  \
        (void)object, (void)keyval, (void)value, (void)extra_state;                                                    \
        plf_return(ierror, MPI_SUCCESS);                                                                               \
    }
PREDEFINED_COPY(mpi_comm_null_copy_fn_, false, MPI_Aint)
PREDEFINED_COPY(mpi_type_null_copy_fn_, false, MPI_Aint)
PREDEFINED_COPY(mpi_win_null_copy_fn_, false, MPI_Aint)
PREDEFINED_COPY(mpi_null_copy_fn_, false, MPI_Fint)
PREDEFINED_COPY(mpi_comm_dup_fn_, true, MPI_Aint)
PREDEFINED_COPY(mpi_type_dup_fn_, true, MPI_Aint)
PREDEFINED_COPY(mpi_win_dup_fn_, true, MPI_Aint)
PREDEFINED_COPY(mpi_dup_fn_, true, MPI_Fint)
PREDEFINED_DELETE(mpi_comm_null_delete_fn_, MPI_Aint)
PREDEFINED_DELETE(mpi_type_null_delete_fn_, MPI_Aint)
PREDEFINED_DELETE(mpi_win_null_delete_fn_, MPI_Aint)
PREDEFINED_DELETE(mpi_null_delete_fn_, MPI_Fint)
