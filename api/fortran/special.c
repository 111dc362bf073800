/* SPDX-License-Identifier: BSD-3-Clause */
/* Procedures whose arguments in Fortran are not those of C one by one. */
#include <pthread.h>
#include <stdio.h>

#include "api/fortran/fortran.h"

/* --- Start-up ---------------------------------------------------------------------------------------------------- */

/* A key of MPI_Abi_set_fortran_info(): "mpi_integer" with 8 is "mpi_integer8_supported". */
static void tell_types(MPI_Info info, const char *type, const MPI_Fint *has, int count, int bytes)
{
    for (int i = 0; i < count; i++, bytes *= 2) {
        char key[64];
        snprintf(key, sizeof key, "mpi_%s%d_supported", type, bytes);
        PMPI_Info_set(info, key, has[i] ? "true" : "false");
    }
}

static void tell_info(void)
{
    static const char *const size[] = { "mpi_logical_size", "mpi_integer_size", "mpi_real_size",
                                        "mpi_double_precision_size" };
    MPI_Info info;
    if (PMPI_Info_create(&info) != MPI_SUCCESS)
        return;
    for (int i = 0; i < 4; i++) {
        char bytes[16];
        snprintf(bytes, sizeof bytes, "%d", plf_bytes[i]);
        PMPI_Info_set(info, size[i], bytes);
    }
    tell_types(info, "logical", plf_has_logical, 5, 1);
    tell_types(info, "integer", plf_has_integer, 5, 1);
    tell_types(info, "real", plf_has_real, 4, 2);
    tell_types(info, "complex", plf_has_real, 4, 4);
    PMPI_Info_set(info, "mpi_double_complex_supported", "true");
    PMPI_Abi_set_fortran_info(info);
    PMPI_Info_free(&info);
}

/* Tells the library about the compiler, once, and after an initialization that has succeeded: not all libraries accept
 * it before (MPI-5.0, section 20.4). The program makes none of these calls, so a profiling tool does not see them. */
static void tell_compiler(int code)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Fint yes, no;
    int told = 0;
    if (code != MPI_SUCCESS)
        return;
    pthread_mutex_lock(&lock);
    /* Asked before the types are told: MPICH takes the truth values for set as soon as it knows the size of LOGICAL. */
    int asked = PMPI_Abi_get_fortran_booleans(sizeof(MPI_Fint), &yes, &no, &told);
    if (PMPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info == MPI_INFO_NULL)
        tell_info();
    else if (info != MPI_INFO_NULL)
        PMPI_Info_free(&info);
    if (asked == MPI_SUCCESS && !told)
        PMPI_Abi_set_fortran_booleans(sizeof(MPI_Fint), (void *)&plf_true, (void *)&plf_false);
    pthread_mutex_unlock(&lock);
}

/* Where C has initialized the library. */
void plf_tell_compiler(void)
{
    int initialized = 0, finalized = 0;
    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized && PMPI_Finalized(&finalized) == MPI_SUCCESS &&
        !finalized)
        tell_compiler(MPI_SUCCESS);
}

PLF_NAMES(init)
void pmpi_init_(MPI_Fint *ierror)
{
    int code = MPI_Init(NULL, NULL);
    tell_compiler(code);
    plf_return(ierror, code);
}

PLF_NAMES(init_thread)
void pmpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    int code = MPI_Init_thread(NULL, NULL, *required, provided);
    tell_compiler(code);
    plf_return(ierror, code);
}

PLF_NAMES(session_init)
void pmpi_session_init_(const MPI_Fint *info, const MPI_Fint *errhandler, MPI_Fint *session, MPI_Fint *ierror)
{
    MPI_Session opened = MPI_SESSION_NULL;
    int code = MPI_Session_init(MPI_Info_fromint(*info), MPI_Errhandler_fromint(*errhandler), &opened);
    tell_compiler(code);
    if (code == MPI_SUCCESS)
        *session = MPI_Session_toint(opened);
    plf_return(ierror, code);
}

/* --- Info and process sets: the length of a Fortran string has no place for a terminator ------------------------- */

/* The length of a string that is asked for. A text has fewer than `most` bytes, so more space is not necessary, and
 * might not fit an int. */
static int string_length(MPI_Fint wanted, int most)
{
    return wanted < most ? wanted : most;
}

PLF_NAMES(info_create_env)
void pmpi_info_create_env_(MPI_Fint *info, MPI_Fint *ierror)
{
    MPI_Info made = MPI_INFO_NULL;
    int code = MPI_Info_create_env(0, NULL, &made);
    if (code == MPI_SUCCESS)
        *info = MPI_Info_toint(made);
    plf_return(ierror, code);
}

PLF_NAMES(info_get)
void pmpi_info_get_(const MPI_Fint *info, const char *key, const MPI_Fint *valuelen, char *value, MPI_Fint *flag,
                    MPI_Fint *ierror, size_t key_len, size_t value_len)
{
    struct plf_string name;
    int code, found = 0, length = string_length(*valuelen, MPI_MAX_INFO_VAL);
    char *text = malloc(length > 0 ? (size_t)length + 1 : 1);
    if (plf_word(&name, key, key_len) && text)
        code = MPI_Info_get(MPI_Info_fromint(*info), name.text, length, text, &found);
    else
        code = plf_raise_none("MPI_Info_get", MPI_ERR_NO_MEM);
    if (code == MPI_SUCCESS) {
        *flag = plf_logical(found);
        if (found)
            plf_fill(value, value_len, text);
    }
    plf_string_free(&name);
    free(text);
    plf_return(ierror, code);
}

PLF_NAMES(info_get_string)
void pmpi_info_get_string_(const MPI_Fint *info, const char *key, MPI_Fint *buflen, char *value, MPI_Fint *flag,
                           MPI_Fint *ierror, size_t key_len, size_t value_len)
{
    struct plf_string name;
    int code, found = 0, length = *buflen > 0 ? string_length(*buflen, MPI_MAX_INFO_VAL) + 1 : 0;
    char *text = malloc((size_t)length + 1);
    if (plf_word(&name, key, key_len) && text)
        code = MPI_Info_get_string(MPI_Info_fromint(*info), name.text, &length, text, &found);
    else
        code = plf_raise_none("MPI_Info_get_string", MPI_ERR_NO_MEM);
    if (code == MPI_SUCCESS) {
        *flag = plf_logical(found);
        if (found && *buflen > 0)
            plf_fill(value, value_len, text);
        if (found)
            *buflen = length - 1;
    }
    plf_string_free(&name);
    free(text);
    plf_return(ierror, code);
}

PLF_NAMES(session_get_nth_pset)
void pmpi_session_get_nth_pset_(const MPI_Fint *session, const MPI_Fint *info, const MPI_Fint *n, MPI_Fint *pset_len,
                                char *pset_name, MPI_Fint *ierror, size_t pset_name_len)
{
    int code, length = *pset_len > 0 ? string_length(*pset_len, MPI_MAX_PSET_NAME_LEN) + 1 : 0;
    MPI_Session opened = MPI_Session_fromint(*session);
    char *text = malloc((size_t)length + 1);
    if (text)
        code = MPI_Session_get_nth_pset(opened, MPI_Info_fromint(*info), *n, &length, text);
    else
        code = plf_raise_session(opened, "MPI_Session_get_nth_pset", MPI_ERR_NO_MEM);
    if (text && code == MPI_SUCCESS) {
        if (*pset_len > 0)
            plf_fill(pset_name, pset_name_len, text);
        *pset_len = length - 1;
    }
    free(text);
    plf_return(ierror, code);
}

/* --- Statuses ---------------------------------------------------------------------------------------------------- */

PLF_NAMES(status_f2f08)
void pmpi_status_f2f08_(const MPI_Fint *f_status, MPI_Fint *f08_status, MPI_Fint *ierror)
{
    memcpy(f08_status, f_status, sizeof(MPI_Status));
    plf_return(ierror, MPI_SUCCESS);
}

PLF_NAMES(status_f082f)
void pmpi_status_f082f_(const MPI_Fint *f08_status, MPI_Fint *f_status, MPI_Fint *ierror)
{
    memcpy(f_status, f08_status, sizeof(MPI_Status));
    plf_return(ierror, MPI_SUCCESS);
}

/* --- Buffers ----------------------------------------------------------------------------------------------------- */

PLF_WEAK(weak mpi_f_sync_reg_ = pmpi_f_sync_reg_)
void pmpi_f_sync_reg_(void *buf)
{
    (void)buf;
}

PLF_WEAK(weak mpi_f_sync_reg_f08ts_ = pmpi_f_sync_reg_f08ts_)
PLF_WEAK(weak mpi_f_sync_reg_fts_ = pmpi_f_sync_reg_f08ts_)
PLF_WEAK(weak pmpi_f_sync_reg_fts_ = pmpi_f_sync_reg_f08ts_)
void pmpi_f_sync_reg_f08ts_(const CFI_cdesc_t *buf)
{
    (void)buf;
}

PLF_WEAK(weak mpi_sizeof_f08ts_ = pmpi_sizeof_f08ts_)
PLF_WEAK(weak mpi_sizeof_fts_ = pmpi_sizeof_f08ts_)
PLF_WEAK(weak pmpi_sizeof_fts_ = pmpi_sizeof_f08ts_)
void pmpi_sizeof_f08ts_(const CFI_cdesc_t *x, MPI_Fint *size, MPI_Fint *ierror)
{
    *size = (MPI_Fint)x->elem_len;
    plf_return(ierror, MPI_SUCCESS);
}

/*
 * Each attached buffer is given back as its address in mpi_f08. In mpif.h and in module mpi the address has no use, and
 * the argument may be too short to hold one.
 */
#define PLF_DETACH(name, OBJECT, object, call, call_c, procedure)                                                      \
    PLF_WEAK(weak mpi_##name##_ = pmpi_##name##_)                                                                      \
    void pmpi_##name##_(OBJECT void *address, MPI_Fint *size, MPI_Fint *ierror)                                        \
    {                                                                                                                  \
        void *detached = NULL;                                                                                         \
        (void)address;                                                                                                 \
        plf_return(ierror, call(object &detached, size));                                                              \
    }                                                                                                                  \
    PLF_WEAK(weak mpi_##name##_f08_ = pmpi_##name##_f08_)                                                              \
    void pmpi_##name##_f08_(OBJECT void **address, MPI_Fint *size, MPI_Fint *ierror)                                   \
    {                                                                                                                  \
        int code = call(object address, size);                                                                         \
        if (code == MPI_SUCCESS && *address == MPI_BUFFER_AUTOMATIC)                                                   \
            *address = &mpifort_buffers_[PLF_BUFFER_AUTOMATIC];                                                        \
        plf_return(ierror, code);                                                                                      \
    }                                                                                                                  \
    PLF_WEAK(weak mpi_##name##_c_f08_ = pmpi_##name##_c_f08_)                                                          \
    void pmpi_##name##_c_f08_(OBJECT void **address, MPI_Count *size, MPI_Fint *ierror)                                \
    {                                                                                                                  \
        int code = PLF_CALL_AS(procedure "_c", procedure, call_c(object address, size));                               \
        if (code == MPI_SUCCESS && *address == MPI_BUFFER_AUTOMATIC)                                                   \
            *address = &mpifort_buffers_[PLF_BUFFER_AUTOMATIC];                                                        \
        plf_return(ierror, code);                                                                                      \
    }
#define NOTHING
#define COMM_PARAMETER    const MPI_Fint *comm,
#define SESSION_PARAMETER const MPI_Fint *session,
#define COMM_ARGUMENT     MPI_Comm_fromint(*comm),
#define SESSION_ARGUMENT  MPI_Session_fromint(*session),
PLF_DETACH(buffer_detach, NOTHING, NOTHING, MPI_Buffer_detach, MPI_Buffer_detach_c, "MPI_Buffer_detach")
PLF_DETACH(comm_detach_buffer, COMM_PARAMETER, COMM_ARGUMENT, MPI_Comm_detach_buffer, MPI_Comm_detach_buffer_c,
           "MPI_Comm_detach_buffer")
PLF_DETACH(session_detach_buffer, SESSION_PARAMETER, SESSION_ARGUMENT, MPI_Session_detach_buffer,
           MPI_Session_detach_buffer_c, "MPI_Session_detach_buffer")

/* --- Spawning ---------------------------------------------------------------------------------------------------- */

/*
 * Makes an argument vector of Fortran strings `stride` strings apart, which ends at a blank one. One allocation holds
 * the pointers and the text.
 */
static char **argument_vector(const char *strings, size_t length, size_t stride)
{
    size_t count = 0, at = 0;
    for (;; count++) {
        const char *text = strings + count * stride * length;
        size_t used = length;
        while (used > 0 && text[used - 1] == ' ')
            used--;
        if (used == 0)
            break;
        at += used + 1;
    }
    char **vector = malloc((count + 1) * sizeof *vector + at);
    if (!vector)
        return NULL;
    char *place = (char *)(vector + count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *text = strings + i * stride * length;
        size_t used = length;
        while (used > 0 && text[used - 1] == ' ')
            used--;
        vector[i] = place;
        memcpy(place, text, used);
        place[used] = '\0';
        place += used + 1;
    }
    vector[count] = NULL;
    return vector;
}

static int *error_codes(MPI_Fint *codes)
{
    return codes == mpifort_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

/* Whether this process is the root, whose arguments count alone. An error names the procedure. */
static int spawn_root(MPI_Comm comm, int root, const char *procedure, bool *is_root)
{
    int rank = 0, code = MPI_SUCCESS;
    if (comm != MPI_COMM_NULL)
        code = PLF_CALL_AS("MPI_Comm_rank", procedure, MPI_Comm_rank(comm, &rank));
    *is_root = code == MPI_SUCCESS && rank == root;
    return code;
}

PLF_NAMES(comm_spawn)
void pmpi_comm_spawn_(const char *command, const char *argv, const MPI_Fint *maxprocs, const MPI_Fint *info,
                      const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes,
                      MPI_Fint *ierror, size_t command_len, size_t argv_len)
{
    struct plf_string program;
    MPI_Comm made = MPI_COMM_NULL, c_comm = MPI_Comm_fromint(*comm);
    bool is_root;
    int code = spawn_root(c_comm, *root, "MPI_Comm_spawn", &is_root);
    bool plain = !is_root || argv == mpifort_argv_null_;
    char **vector = plain ? MPI_ARGV_NULL : argument_vector(argv, argv_len, 1);

    if (!plf_string(&program, command, is_root ? command_len : 0) || !(plain || vector))
        code = plf_raise_comm(c_comm, "MPI_Comm_spawn", MPI_ERR_NO_MEM, PLF_TOGETHER);
    else if (code == MPI_SUCCESS)
        code = MPI_Comm_spawn(program.text, vector, *maxprocs, MPI_Info_fromint(*info), *root, c_comm, &made,
                              error_codes(array_of_errcodes));
    if (code == MPI_SUCCESS)
        *intercomm = MPI_Comm_toint(made);
    plf_string_free(&program);
    free(vector);
    plf_return(ierror, code);
}

/* The root's arguments of MPI_Comm_spawn_multiple(). */
struct spawn_list {
    int count;
    char **commands;
    char ***vectors;
    MPI_Info *infos;
};

static void spawn_list_free(struct spawn_list *list)
{
    for (int i = 0; i < list->count; i++) {
        if (list->commands)
            free(list->commands[i]);
        if (list->vectors)
            free(list->vectors[i]);
    }
    free(list->commands);
    free(list->vectors);
    free(list->infos);
}

static bool spawn_list_make(struct spawn_list *list, const char *commands, size_t command_len, const char *argv,
                            size_t argv_len, const MPI_Fint *info)
{
    size_t count = (size_t)list->count;
    bool plain = argv == mpifort_argvs_null_;
    list->commands = calloc(count + 1, sizeof *list->commands);
    list->infos = calloc(count + 1, sizeof *list->infos);
    list->vectors = plain ? NULL : calloc(count + 1, sizeof *list->vectors);
    if (!list->commands || !list->infos || !(plain || list->vectors))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct plf_string program;
        if (plf_string(&program, commands + i * command_len, command_len))
            list->commands[i] = strdup(program.text);
        plf_string_free(&program);
        list->infos[i] = MPI_Info_fromint(info[i]);
        if (!plain)
            list->vectors[i] = argument_vector(argv + i * argv_len, argv_len, count);
        if (!list->commands[i] || !(plain || list->vectors[i]))
            return false;
    }
    return true;
}

PLF_NAMES(comm_spawn_multiple)
void pmpi_comm_spawn_multiple_(const MPI_Fint *count, const char *array_of_commands, const char *array_of_argv,
                               const MPI_Fint *array_of_maxprocs, const MPI_Fint *array_of_info, const MPI_Fint *root,
                               const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes, MPI_Fint *ierror,
                               size_t command_len, size_t argv_len)
{
    struct spawn_list list = { 0 };
    MPI_Comm made = MPI_COMM_NULL, c_comm = MPI_Comm_fromint(*comm);
    bool is_root;
    int code = spawn_root(c_comm, *root, "MPI_Comm_spawn_multiple", &is_root);

    list.count = is_root && *count > 0 ? *count : 0;
    if (is_root && !spawn_list_make(&list, array_of_commands, command_len, array_of_argv, argv_len, array_of_info))
        code = plf_raise_comm(c_comm, "MPI_Comm_spawn_multiple", MPI_ERR_NO_MEM, PLF_TOGETHER);
    else if (code == MPI_SUCCESS)
        code = MPI_Comm_spawn_multiple(*count, list.commands, list.vectors, array_of_maxprocs, list.infos, *root,
                                       c_comm, &made, error_codes(array_of_errcodes));
    if (code == MPI_SUCCESS)
        *intercomm = MPI_Comm_toint(made);
    spawn_list_free(&list);
    plf_return(ierror, code);
}
