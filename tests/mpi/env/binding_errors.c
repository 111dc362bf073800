/* SPDX-License-Identifier: BSD-3-Clause */
/* What a binding of another language reports: the names of functions, and errors that it raises itself. */
/* ranks: 1 2 */
#include <mpi-ext.h>
#include <string.h>

#include "mtest.h"

/* The words of MPI_Send with a rank that does not exist. */
static const char *words_of_send(void)
{
    static char words[MPI_MAX_ERROR_STRING];
    int length, code = MPI_Send(NULL, 0, MPI_INT, mtest_size, 0, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_RANK);
    CHECK_OK(MPI_Error_string(code, words, &length));
    return words;
}

static int begins(const char *words, const char *start)
{
    return strncmp(words, start, strlen(start)) == 0;
}

static void names(void)
{
    CHECK(begins(words_of_send(), "MPI_Send: rank "));
    MPIX_Call_as("MPI_Send", "send");
    CHECK(begins(words_of_send(), "send: rank "));
    MPIX_Call_as("MPI_Recv", "receive");
    CHECK(begins(words_of_send(), "MPI_Send: rank "));
    MPIX_Call_as("MPI_Send", NULL); /* no other name */
    CHECK(begins(words_of_send(), "MPI_Send: rank "));
    MPIX_Call_as("MPI_Send", "send");
    MPIX_Call_as(NULL, "send");
    CHECK(begins(words_of_send(), "MPI_Send: rank "));
    MPIX_Call_as(NULL, NULL);
    CHECK(begins(words_of_send(), "MPI_Send: rank "));
}

static const char *words_of(int code, int class)
{
    static char words[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_CLASS(code, class);
    CHECK_OK(MPI_Error_string(code, words, &length));
    return words;
}

/* A binding may have no name or no words to give. */
static void raised(void)
{
    char class_alone[MPI_MAX_ERROR_STRING];
    const char *words;
    int length;
    words = words_of(MPIX_Comm_raise(MPI_COMM_WORLD, "send", MPI_ERR_ARG, "it is empty", 0), MPI_ERR_ARG);
    CHECK(strcmp(words, "send: it is empty (MPI_ERR_ARG)") == 0);
    words = words_of(MPIX_Comm_raise(MPI_COMM_WORLD, NULL, MPI_ERR_ARG, "it is empty", 0), MPI_ERR_ARG);
    CHECK(strcmp(words, "MPIX_Comm_raise: it is empty (MPI_ERR_ARG)") == 0);
    MPIX_Call_as("MPI_Send", "send");
    words = words_of(MPIX_Comm_raise(MPI_COMM_WORLD, NULL, MPI_ERR_ARG, "it is empty", 0), MPI_ERR_ARG);
    CHECK(strcmp(words, "MPIX_Comm_raise: it is empty (MPI_ERR_ARG)") == 0);
    MPIX_Call_as(NULL, NULL);
    CHECK_OK(MPI_Error_string(MPI_ERR_TAG, class_alone, &length)); /* no error of this class is recorded */
    words = words_of(MPIX_Comm_raise(MPI_COMM_WORLD, "send", MPI_ERR_TAG, NULL, 0), MPI_ERR_TAG);
    CHECK(begins(words, "send: ") && strstr(words, class_alone) && !strstr(words, "null"));
}

int main(int argc, char **argv)
{
    MTEST_INIT(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    names();
    raised();
    MTEST_END;
}
