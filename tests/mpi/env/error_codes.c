/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes and codes of the user (MPI-5.0 section 9.5), read through MPI_LASTUSEDCODE and MPI_Error_string, and
 * returned by a callback of the user. The same calls give the same numbers in every process.
 */
#include "mtest.h"

static int code;

static int refuse(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return code;
}

static int last_used(MPI_Comm comm)
{
    int *value, flag;
    CHECK_OK(MPI_Comm_get_attr(comm, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag);
    return flag ? *value : -1;
}

int main(int argc, char **argv)
{
    int class, got, length, keyval, lowest, highest;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm comm, copy = MPI_COMM_NULL;
    MTEST_INIT(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(last_used(MPI_COMM_WORLD) == MPI_ERR_LASTCODE);

    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Error_string(class, text, &length)); /* no text has been set yet */
    CHECK(strcmp(text, "") == 0 && length == 0);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "") == 0 && length == 0);
    CHECK_OK(MPI_Add_error_string(class, "pumps"));
    CHECK_OK(MPI_Add_error_string(code, "the pump leaks"));
    CHECK(class > MPI_ERR_LASTCODE && code > class);
    CHECK(last_used(MPI_COMM_WORLD) == code && last_used(MPI_COMM_SELF) == code);
    CHECK_OK(MPI_Allreduce(&code, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK(lowest == highest);

    /* A copy callback fails with the user's code: the duplication returns it, with the user's text. */
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, NULL));
    got = MPI_Comm_dup(comm, &copy);
    CHECK(got == code);
    CHECK_OK(MPI_Error_class(got, &got));
    CHECK(got == class);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "the pump leaks") == 0 && length == 14);
    CHECK_OK(MPI_Comm_delete_attr(comm, keyval));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_OTHER); /* it still has a string */
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "") == 0 && length == 0);
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(MPI_ERR_RANK), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_OTHER); /* its string is still there */
    CHECK_OK(MPI_Remove_error_string(class));
    CHECK_OK(MPI_Remove_error_class(class));
    CHECK_CLASS(MPI_Error_string(code, text, &length), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Error_class(class, &got), MPI_ERR_ARG);
    MTEST_END;
}
