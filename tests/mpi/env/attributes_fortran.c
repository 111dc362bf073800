/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/*
 * MPIX_Comm_create_keyval_x() and MPIX_Comm_set_attr_as_fortran() with their relatives, as a binding of Fortran uses
 * them: integers beside pointers (MPI-5.0 section 19.3.7), and a state that is given back once.
 */
#include <mpi-ext.h>
#include <stdbool.h>
#include <stdint.h>

#include "mtest.h"

static int destroyed, deletes;
static intptr_t last_deleted;

static void forget(void *state)
{
    CHECK(state == &destroyed);
    destroyed++;
}

static int copy_next(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval;
    CHECK(state == &destroyed);
    *(intptr_t *)out = (intptr_t)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_value(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval;
    CHECK(state == &destroyed);
    last_deleted = (intptr_t)value;
    deletes++;
    return MPI_SUCCESS;
}

/* A callback of a key that C has made. */
static int copy_pointed(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    static MPI_Aint copy;
    (void)comm, (void)keyval, (void)state;
    copy = *(const MPI_Aint *)in + 10;
    *(void **)out = &copy;
    *flag = 1;
    return MPI_SUCCESS;
}

static intptr_t get(MPI_Comm comm, int keyval, bool as_fortran)
{
    void *value = NULL;
    int found = 0;
    CHECK_OK(as_fortran ? MPIX_Comm_get_attr_as_fortran(comm, keyval, &value, &found)
                        : MPI_Comm_get_attr(comm, keyval, &value, &found));
    CHECK(found);
    return (intptr_t)value;
}

/* What C finds where the attribute points to. */
static MPI_Aint get_number(MPI_Comm comm, int keyval)
{
    const MPI_Aint *value = NULL;
    int found = 0;
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &value, &found));
    CHECK(found);
    return found ? *value : 0;
}

static void communicators(void)
{
    const intptr_t big = 1234567890123;
    MPI_Comm comm, copy;
    int keyval, pointed, number;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPIX_Comm_create_keyval_x(copy_next, delete_value, forget, &keyval, &destroyed));
    CHECK_OK(MPIX_Comm_set_attr_as_fortran(comm, keyval, (void *)big));
    CHECK(get(comm, keyval, true) == big && get_number(comm, keyval) == big);
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK(get(copy, keyval, true) == big + 1 && get_number(copy, keyval) == big + 1);
    CHECK_OK(MPI_Comm_set_attr(copy, keyval, &comm));
    CHECK(last_deleted == big + 1);
    CHECK(get(copy, keyval, true) == (intptr_t)&comm && get(copy, keyval, false) == (intptr_t)&comm);
    number = keyval;
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK(destroyed == 0);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK(last_deleted == (intptr_t)&comm && destroyed == 0);
    CHECK_OK(MPI_Comm_delete_attr(comm, number));
    CHECK(last_deleted == big && deletes == 3 && destroyed == 1);

    CHECK_OK(MPI_Comm_create_keyval(copy_pointed, MPI_COMM_NULL_DELETE_FN, &pointed, NULL));
    CHECK_OK(MPIX_Comm_set_attr_as_fortran(comm, pointed, (void *)big));
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK(get_number(copy, pointed) == big + 10);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free_keyval(&pointed));
    CHECK_OK(MPI_Comm_free(&comm));
}

/* A key without attributes gives its state back at once, and a call that fails does not keep it. */
static void states(void)
{
    int keyval, before = destroyed;
    CHECK_OK(MPIX_Type_create_keyval_x(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, forget, &keyval, &destroyed));
    CHECK_OK(MPI_Type_free_keyval(&keyval));
    CHECK(destroyed == before + 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPIX_Win_create_keyval_x(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, forget, NULL, &destroyed),
                MPI_ERR_ARG);
    CHECK(destroyed == before + 1);
    CHECK_CLASS(MPIX_Comm_set_attr_as_fortran(MPI_COMM_SELF, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPIX_Comm_set_attr_as_fortran(MPI_COMM_NULL, MPI_TAG_UB, NULL), MPI_ERR_COMM);
}

static void datatypes_and_windows(void)
{
    MPI_Datatype type, copy;
    MPI_Win win;
    MPI_Aint value;
    int keyval, flag, cell = 0, *pointer;
    CHECK_OK(MPIX_Type_create_keyval_x(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, NULL, &keyval, NULL));
    CHECK_OK(MPI_Type_dup(MPI_INT, &type));
    CHECK_OK(MPIX_Type_set_attr_as_fortran(type, keyval, (void *)(intptr_t)-5));
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_OK(MPIX_Type_get_attr_as_fortran(copy, keyval, &value, &flag));
    CHECK(flag && value == -5);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_OK(MPI_Type_free_keyval(&keyval));

    CHECK_OK(MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPIX_Win_create_keyval_x(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, NULL, &keyval, NULL));
    CHECK_OK(MPIX_Win_get_attr_as_fortran(win, keyval, &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPIX_Win_set_attr_as_fortran(win, keyval, (void *)(intptr_t)99));
    CHECK_OK(MPIX_Win_get_attr_as_fortran(win, keyval, &value, &flag));
    CHECK(flag && value == 99);
    CHECK_OK(MPIX_Win_get_attr_as_fortran(win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag && value == (MPI_Aint)&cell);
    CHECK_OK(MPIX_Win_get_attr_as_fortran(win, MPI_WIN_SIZE, &value, &flag));
    CHECK(flag && value == sizeof cell);
    CHECK_OK(MPIX_Win_get_attr_as_fortran(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag && value == MPI_WIN_FLAVOR_CREATE);
    CHECK_OK(MPI_Win_free_keyval(&keyval));
    CHECK_OK(MPI_Win_free(&win));

    CHECK_OK(MPIX_Comm_get_attr_as_fortran(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &pointer, &flag));
    CHECK(flag && value == *pointer);
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    communicators();
    states();
    datatypes_and_windows();
    MTEST_END;
}
