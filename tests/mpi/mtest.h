/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What MPI test programs share: checks that say where they failed, and an end that combines them over all ranks.
 *
 *     int main(int argc, char **argv)
 *     {
 *         MTEST_INIT(argc, argv);               (MPI_Init; sets mtest_rank and mtest_size)
 *         CHECK(mtest_size > 0);
 *         CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
 *         MTEST_END;                            (prints one line, MPI_Finalize, returns 0 only if all is well)
 *     }
 *
 * Checks may be made before MPI_Init and after MPI_Finalize too: a program that is not initialized when it comes to
 * MTEST_END answers for itself alone. Threads may check.
 */
#ifndef PLENUM_TESTS_MTEST_H
#define PLENUM_TESTS_MTEST_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int mtest_rank = -1, mtest_size = 0;
static _Atomic int mtest_checks, mtest_failures;
static unsigned long mtest_kept; /* objects that the test keeps to its end */

/* The first failures are shown, all are counted. */
static inline int mtest_check(int passed, const char *file, int line, const char *what, const char *detail)
{
    enum { SHOWN = 20 };
    atomic_fetch_add(&mtest_checks, 1);
    if (!passed && atomic_fetch_add(&mtest_failures, 1) < SHOWN) {
        fprintf(stderr, "%s:%d: rank %d: %s%s%s\n", file, line, mtest_rank, what, *detail ? ": " : "", detail);
        fflush(stderr);
    }
    return passed;
}

/* `code` must be of error class `wanted`. */
static inline int mtest_check_code(int code, int wanted, const char *file, int line, const char *what)
{
    char detail[MPI_MAX_ERROR_STRING + 64] = "", text[MPI_MAX_ERROR_STRING];
    int class = code, length;
    if (code != MPI_SUCCESS && MPI_Error_class(code, &class) != MPI_SUCCESS)
        class = -1;
    if (class != wanted && MPI_Error_string(code, text, &length) == MPI_SUCCESS)
        snprintf(detail, sizeof detail, "class %d instead of %d: %s", class, wanted, text);
    return mtest_check(class == wanted, file, line, what, detail);
}

#define CHECK(condition)        mtest_check(!!(condition), __FILE__, __LINE__, #condition, "")
#define CHECK_OK(call)          mtest_check_code((call), MPI_SUCCESS, __FILE__, __LINE__, #call)
#define CHECK_CLASS(call, want) mtest_check_code((call), (want), __FILE__, __LINE__, #call)

static inline void mtest_init(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &mtest_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mtest_size);
}

/* Like MTEST_INIT, for programs that need a thread level; returns the one that was given. */
static inline int mtest_init_thread(int *argc, char ***argv, int required)
{
    int provided = -1;
    MPI_Init_thread(argc, argv, required, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mtest_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mtest_size);
    return provided;
}

/* The value of a performance variable that belongs to no object. */
static inline unsigned long mtest_level(int index)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long level = 0;
    int count;
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(session, handle, &level) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    return level;
}

/* How many objects of a kind exist: "live_requests" and the like. */
static inline unsigned long mtest_live(const char *variable)
{
    int provided, index = -1;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_index(variable, MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
    unsigned long level = mtest_level(index);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    return level;
}

/* When MPI has ended no other object exists: neither the test nor the library has kept a reference. Returns the number
 * of failures. */
static inline int mtest_left(const char *file)
{
    int provided, variables = 0, before = mtest_failures;
    unsigned long left = 0;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_num(&variables) == MPI_SUCCESS && variables > 0);
    for (int i = 0; i < variables; i++) {
        char name[64] = "";
        int length = sizeof name, any;
        MPI_T_pvar_get_info(i, name, &length, &any, &any, NULL, NULL, NULL, NULL, &any, &any, &any, &any);
        unsigned long live = strncmp(name, "live_", 5) == 0 ? mtest_level(i) : 0;
        if (live > 0 && mtest_kept == 0)
            fprintf(stderr, "%s: rank %d: %s is %lu at the end\n", file, mtest_rank, name, live);
        left += live;
    }
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(left == mtest_kept);
    return mtest_failures - before;
}

static inline int mtest_end(const char *file)
{
    int initialized = 0, finalized = 0;
    int mine[2] = { mtest_failures, mtest_checks }, all[2] = { mine[0], mine[1] };
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) {
        int code = MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        all[0] += !mtest_check_code(code, MPI_SUCCESS, file, __LINE__, "the last MPI_Allreduce");
        all[0] += !mtest_check_code(MPI_Finalize(), MPI_SUCCESS, file, __LINE__, "MPI_Finalize");
    }
    all[0] += mtest_left(file);
    if (mtest_rank <= 0)
        printf("%s: %d checks, %d failed\n", file, all[1], all[0]);
    return all[0] || !all[1] ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define MTEST_INIT(argc, argv) mtest_init(&(argc), &(argv))
#define MTEST_END              return mtest_end(__FILE__)

#endif
