/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of functions that take arrays, with one bad element in the middle: the error has the right class, its text
 * names the element and its value, and nothing is half done. No object is made or lost, no handle is changed, no
 * request is started or completed. With a good element instead, the same call succeeds.
 */
#ifndef PLENUM_TESTS_ELEMENTS_H
#define PLENUM_TESTS_ELEMENTS_H

#include "mtest.h"

enum { LEVELS = 5, ROUNDS = 5 };

static int mid; /* the place of the bad element */
static MPI_Comm comm;

/* --- what exists -------------------------------------------------------------------------------------------------- */

static MPI_T_pvar_session tool;
static MPI_T_pvar_handle level[LEVELS];

static inline void open_levels(void)
{
    static const char *const names[LEVELS] = { "live_communicators", "live_datatypes", "live_groups", "live_infos",
                                               "live_requests" };
    int provided, index, count;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_create(&tool) == MPI_SUCCESS);
    for (int i = 0; i < LEVELS; i++) {
        CHECK(MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_alloc(tool, index, NULL, &level[i], &count) == MPI_SUCCESS);
    }
}

static inline void read_levels(unsigned long live[LEVELS])
{
    for (int i = 0; i < LEVELS; i++)
        CHECK(MPI_T_pvar_read(tool, level[i], &live[i]) == MPI_SUCCESS);
}

static inline void check_error(const char *name, int code, int class, const char *says)
{
    char text[MPI_MAX_ERROR_STRING] = "", part[128], detail[2 * MPI_MAX_ERROR_STRING];
    int length, got = code;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(part, sizeof part, says, mid);
#pragma GCC diagnostic pop
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &got);
        MPI_Error_string(code, text, &length);
    }
    snprintf(detail, sizeof detail, "class %d and \"%s\", wanted %d and \"%s\"", got, text, class, part);
    mtest_check(got == class && strstr(text, part), __FILE__, __LINE__, name, detail);
}

static inline void begin_elements(void)
{
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    open_levels();
}

static inline void end_elements(void)
{
    CHECK_OK(MPI_Comm_free(&comm));
    MPI_T_pvar_session_free(&tool);
    MPI_T_finalize();
}

#endif
