/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that may be called at any time may be called by several threads at once, at any thread level, also while
 * the main thread initializes and finalizes the World (MPI-5.0 section 11.4.1). The flags never go back. Errors go to
 * the handler of MPI_COMM_SELF while it exists, and to the initial handler before and afterwards.
 */
#include <pthread.h>

#include "mtest.h"

enum { THREADS = 3 };

static _Atomic int over, handled;
static _Atomic int rounds[THREADS]; /* of each thread */

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    CHECK(*comm == MPI_COMM_SELF && *code != MPI_SUCCESS);
    atomic_fetch_add(&handled, 1);
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
}

static void flags(int *before)
{
    int initialized = -1, finalized = -1, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    CHECK_OK(MPI_Finalized(&finalized));
    CHECK_OK(MPI_Initialized(&initialized));
    CHECK(initialized >= finalized && initialized + finalized >= *before);
    *before = initialized + finalized;
    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    CHECK_OK(MPI_Get_library_version(text, &length));
    CHECK((int)strlen(text) == length);
}

static void infos(void)
{
    MPI_Info info, copy, env, again;
    char key[MPI_MAX_INFO_KEY], value[64];
    int keys, flag, size = sizeof value;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "river", "danube"));
    CHECK_OK(MPI_Info_set(info, "lake", "garda"));
    CHECK_OK(MPI_Info_delete(info, "lake"));
    CHECK_OK(MPI_Info_get_nkeys(info, &keys));
    CHECK_OK(MPI_Info_get_nthkey(info, 0, key));
    CHECK(keys == 1 && strcmp(key, "river") == 0);
    CHECK_CLASS(MPI_Info_get_nthkey(info, 7, key), MPI_ERR_ARG);
    again = MPI_Info_fromint(MPI_Info_toint(info));
    CHECK_OK(MPI_Info_dup(again, &copy));
    CHECK_OK(MPI_Info_get_string(copy, "river", &size, value, &flag));
    CHECK(flag && strcmp(value, "danube") == 0);
    CHECK_OK(MPI_Info_free(&copy));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_create_env(0, NULL, &env));
    CHECK_OK(MPI_Info_get_nkeys(env, &keys));
    CHECK_OK(MPI_Info_free(&env));
    CHECK_OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &keys));
}

static void errors(void)
{
    MPI_Errhandler handler, again;
    char text[MPI_MAX_ERROR_STRING];
    int class, code, of, length;
    CHECK_OK(MPI_Session_create_errhandler(on_session, &handler));
    again = MPI_Errhandler_fromint(MPI_Errhandler_toint(handler));
    CHECK(again == handler);
    CHECK_OK(MPI_Errhandler_free(&again));
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_string(code, "ours"));
    CHECK_OK(MPI_Error_class(code, &of));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(of == class && length == 4 && strcmp(text, "ours") == 0);
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_OK(MPI_Remove_error_class(class));
}

static void *call_all(void *own_rounds)
{
    int before = 0;
    while (!atomic_load(&over)) {
        flags(&before);
        infos();
        errors();
        atomic_fetch_add((_Atomic int *)own_rounds, 1);
    }
    return NULL;
}

/* Until each thread has begun and ended a round since. */
static void let_them_call(void)
{
    for (int i = 0; i < THREADS; i++)
        for (int from = atomic_load(&rounds[i]); atomic_load(&rounds[i]) < from + 2;)
            errors();
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int provided = -1, one = 1, sum = 0;
    MPI_Errhandler handler;
    setenv("PLENUM_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, call_all, &rounds[i]);
    let_them_call();
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &mtest_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mtest_size);
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    let_them_call();
    CHECK(atomic_load(&handled) > 0);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == mtest_size);
    CHECK_OK(MPI_Finalize());
    let_them_call(); /* any thread that was in the handler has left it */
    int last = atomic_load(&handled);
    let_them_call();
    CHECK(atomic_load(&handled) == last);
    atomic_store(&over, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MTEST_END;
}
