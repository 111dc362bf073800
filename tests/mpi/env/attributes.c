/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes where the objects' own functions run the callbacks (MPI-5.0 section 7.7): a duplicated or freed datatype,
 * a communicator whose delete callback refuses, keyvals that are freed early. Duplicated communicators:
 * comm/dup_attributes.c; MPI_COMM_SELF at the end: world/self_attributes.c.
 */
#include "mtest.h"

static int copies, deletes, refusing;
static MPI_Datatype last_type;

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)keyval, (void)extra;
    last_type = type;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return refusing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    last_type = type;
    deletes++;
    return refusing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    deletes++;
    return refusing ? *(int *)value : MPI_SUCCESS;
}

static void datatypes(void)
{
    static char cells[4];
    MPI_Datatype type, copy, original;
    int keyval, number, flag;
    void *value = NULL;
    CHECK_OK(MPI_Type_create_keyval(copy_type, delete_type, &keyval, NULL));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, keyval, &cells[1]));
    number = keyval;
    CHECK_OK(MPI_Type_free_keyval(&keyval));
    CHECK(keyval == MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK(copies == 1 && last_type == type);
    CHECK_OK(MPI_Type_get_attr(copy, number, &value, &flag));
    CHECK(flag && value == &cells[2]);

    refusing = 1;
    CHECK_CLASS(MPI_Type_dup(type, &original), MPI_ERR_OTHER);
    refusing = 0;

    original = copy;
    CHECK_OK(MPI_Type_free(&copy));
    CHECK(deletes == 1 && last_type == original);
    original = type;
    CHECK_OK(MPI_Type_free(&type));
    CHECK(deletes == 2 && last_type == original);
    CHECK_CLASS(MPI_Type_get_attr(MPI_INT, number, &value, &flag), MPI_ERR_KEYVAL);
}

/* A delete callback that fails makes MPI_Comm_free fail, and the communicator remains valid. */
static void refused_free(void)
{
    int keyval, other, flag, code = MPI_ERR_OTHER, *value;
    MPI_Comm comm, before;
    deletes = 0;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &keyval, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &other, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, &code));
    CHECK_OK(MPI_Comm_set_attr(comm, other, &code));
    before = comm;
    refusing = 1;
    CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_OTHER);
    CHECK(comm == before && deletes == 1);
    refusing = 0;
    CHECK_OK(MPI_Comm_get_attr(comm, other, &value, &flag));
    CHECK(flag && value == &code);
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL && deletes == 3);
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK_OK(MPI_Comm_free_keyval(&other));
}

/* The attributes that the standard caches are on every communicator, also on a new one. */
static void predefined(MPI_Comm comm)
{
    int *value, flag;
    CHECK_OK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    CHECK_OK(MPI_Comm_get_attr(comm, MPI_WTIME_IS_GLOBAL, &value, &flag));
    CHECK(flag && (*value == 0 || *value == 1));
    CHECK_OK(MPI_Comm_get_attr(comm, MPI_IO, &value, &flag));
    CHECK(flag && *value == MPI_ANY_SOURCE);
    CHECK_OK(MPI_Comm_get_attr(comm, MPI_APPNUM, &value, &flag));
    CHECK(!flag || *value == 0);
    CHECK_OK(MPI_Comm_get_attr(comm, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK(!flag || *value >= mtest_size);
    CHECK_CLASS(MPI_Comm_set_attr(comm, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
}

int main(int argc, char **argv)
{
    MPI_Comm copy;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    predefined(MPI_COMM_WORLD);
    predefined(MPI_COMM_SELF);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    predefined(copy);
    CHECK_OK(MPI_Comm_free(&copy));
    datatypes();
    refused_free();
    MTEST_END;
}
