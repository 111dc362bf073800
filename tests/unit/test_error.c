/* SPDX-License-Identifier: BSD-3-Clause */
/* Error classes, details, published texts, classes and codes of the user. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/error_codes.h"
#include "core/base/memory.h"
#include "mpi-ext.h"

static const char *string_of(int code)
{
    static char text[MPI_MAX_ERROR_STRING];
    pl_error_string(code, text);
    return text;
}

static int publish(const char *function, int code)
{
    char message[MPI_MAX_ERROR_STRING];
    pl_error_publish(function, code, message);
    ck_assert_str_eq(message, string_of(code));
    return code;
}

START_TEST(class_table)
{
    int named = 0;
    for (int class = -2; class < 20000; class ++) {
        const char *name = pl_error_class_name(class);
        bool expected = (class >= 0 && class <= MPI_ERR_ABI) ||
                        (class >= MPI_T_ERR_CANNOT_INIT && class <= MPI_T_ERR_PVAR_NO_ATOMIC) ||
                        class == MPIX_ERR_TIMEOUT || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED;
        UNIT_CHECK((name != NULL) == expected);
        UNIT_CHECK(pl_error_code_valid(class) == expected);
        UNIT_CHECK(pl_error_code_class(class) == (expected ? class : MPI_ERR_UNKNOWN));
        named += name != NULL;
        if (name)
            ck_assert_ptr_nonnull(strstr(string_of(class), pl_error_class_text(class)));
    }
    ck_assert_int_eq(named, MPI_ERR_ABI + 1 + 18 + 3);
    ck_assert_int_eq(pl_error_class_from_name("MPI_ERR_RANK"), MPI_ERR_RANK);
    ck_assert_int_eq(pl_error_class_from_name("MPIX_ERR_TIMEOUT"), MPIX_ERR_TIMEOUT);
    ck_assert_int_eq(pl_error_class_from_name("MPI_ERR_RANG"), MPI_ERR_UNKNOWN);
    ck_assert_str_eq(pl_error_class_name(MPI_ERR_RANK), "MPI_ERR_RANK");
    ck_assert_str_eq(pl_error_class_name(MPI_ERR_ABI), "MPI_ERR_ABI");
    ck_assert_str_eq(pl_error_class_name(MPI_T_ERR_PVAR_NO_ATOMIC), "MPI_T_ERR_PVAR_NO_ATOMIC");
    ck_assert_str_eq(string_of(MPI_SUCCESS), "no error (MPI_SUCCESS)");
    ck_assert_str_eq(string_of(MPI_ERR_TAG), "the tag is out of range (MPI_ERR_TAG)");
}
END_TEST

START_TEST(detail)
{
    int class = -1;
    ck_assert_str_eq(pl_error_detail(&class), "");
    ck_assert_int_eq(class, 0);
    ck_assert_int_eq(pl_fail(MPI_ERR_RANK, "rank %d is too much", 7), MPI_ERR_RANK);
    ck_assert_str_eq(pl_error_detail(&class), "rank 7 is too much");
    ck_assert_int_eq(class, MPI_ERR_RANK);
    errno = ENOENT;
    ck_assert_int_eq(pl_fail_errno(MPI_ERR_OTHER, "cannot open %s", "x"), MPI_ERR_OTHER);
    ck_assert_str_eq(pl_error_detail(NULL), "cannot open x: No such file or directory");
    ck_assert_int_eq(pl_fail_memory("a cake"), MPI_ERR_NO_MEM);
    ck_assert_str_eq(pl_error_detail(NULL), "out of memory for a cake");
    pl_error_clear();
    ck_assert_str_eq(pl_error_detail(&class), "");
}
END_TEST

START_TEST(long_detail)
{
    char text[2 * MPI_MAX_ERROR_STRING];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    errno = EACCES;
    pl_fail_errno(MPI_ERR_OTHER, "%s", text);
    ck_assert_uint_eq(strlen(pl_error_detail(NULL)), PL_DETAIL_MAX - 1);
    publish("MPI_Session_get_nth_pset", MPI_ERR_OTHER);
    const char *end = string_of(MPI_ERR_OTHER) + strlen(string_of(MPI_ERR_OTHER)) -
                      strlen("xxx...: Permission denied (MPI_ERR_OTHER)");
    ck_assert_str_eq(end, "xxx...: Permission denied (MPI_ERR_OTHER)");
    for (int i = 0; i < 4; i++) { /* characters of two bytes are not cut in the middle */
        for (size_t at = i; at + 2 < sizeof text; at += 2)
            memcpy(text + at, "\xc3\xbc", 2);
        text[sizeof text - 1] = '\0';
        errno = EACCES;
        pl_fail_errno(MPI_ERR_OTHER, "%s", text);
        const char *told = pl_error_detail(NULL);
        size_t length = strlen(told), more = strlen("\xc3\xbc...: Permission denied");
        ck_assert_uint_ge(length, PL_DETAIL_MAX - 2);
        ck_assert_str_eq(told + length - more, "\xc3\xbc...: Permission denied");
    }
}
END_TEST

START_TEST(published)
{
    pl_fail(MPI_ERR_RANK, "rank 7 is not in communicator \"ocean\" of 4 processes");
    publish("MPI_Send", MPI_ERR_RANK);
    ck_assert_str_eq(string_of(MPI_ERR_RANK),
                     "MPI_Send: rank 7 is not in communicator \"ocean\" of 4 processes (MPI_ERR_RANK)");
    ck_assert_str_eq(string_of(MPI_ERR_TAG), "the tag is out of range (MPI_ERR_TAG)");
    /* Without a detail, or with one of another class, the function's name and the general text. */
    publish("MPI_Recv", MPI_ERR_RANK);
    ck_assert_str_eq(string_of(MPI_ERR_RANK), "MPI_Recv: the rank is not in the communicator or group (MPI_ERR_RANK)");
    pl_fail(MPI_ERR_RANK, "this was overcome");
    publish("MPI_Recv", MPI_ERR_TAG);
    ck_assert_str_eq(string_of(MPI_ERR_TAG), "MPI_Recv: the tag is out of range (MPI_ERR_TAG)");
    ck_assert_str_eq(pl_error_detail(NULL), "");
    publish("MPI_Comm_dup", 4711);
    ck_assert_str_eq(string_of(4711),
                     "MPI_Comm_dup: an error without a class of its own (code 4711 of MPI_ERR_UNKNOWN)");
}
END_TEST

static void *other_thread(void *unused)
{
    (void)unused;
    ck_assert_str_eq(string_of(MPI_ERR_RANK), "the rank is not in the communicator or group (MPI_ERR_RANK)");
    pl_fail(MPI_ERR_RANK, "theirs");
    char message[MPI_MAX_ERROR_STRING];
    pl_error_publish("MPI_Ssend", MPI_ERR_RANK, message);
    return NULL;
}

START_TEST(detail_of_thread)
{
    pthread_t thread;
    pl_fail(MPI_ERR_RANK, "mine");
    publish("MPI_Send", MPI_ERR_RANK);
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    ck_assert_str_eq(string_of(MPI_ERR_RANK), "MPI_Send: mine (MPI_ERR_RANK)");
}
END_TEST

START_TEST(user_classes)
{
    int class, code, second;
    ck_assert_int_eq(*pl_error_last_used(), MPI_ERR_LASTCODE);
    ck_assert_int_eq(pl_error_add_class(&class), MPI_SUCCESS);
    ck_assert_int_gt(class, MPI_ERR_LASTCODE);
    ck_assert_int_eq(*pl_error_last_used(), class);
    ck_assert_int_eq(pl_error_add_code(class, &code), MPI_SUCCESS);
    ck_assert_int_eq(pl_error_add_code(MPI_ERR_FILE, &second), MPI_SUCCESS);
    ck_assert_int_eq(*pl_error_last_used(), second);
    ck_assert_int_eq(pl_error_code_class(class), class);
    ck_assert_int_eq(pl_error_code_class(code), class);
    ck_assert_int_eq(pl_error_code_class(second), MPI_ERR_FILE);
    ck_assert(pl_error_code_valid(class) && pl_error_code_valid(code) && !pl_error_code_valid(second + 1));

    ck_assert_int_eq(pl_error_add_text(code, "the pump leaks"), MPI_SUCCESS);
    ck_assert_str_eq(string_of(code), "the pump leaks");
    ck_assert_int_eq(pl_error_add_text(code, "the pump burns"), MPI_SUCCESS);
    ck_assert_str_eq(string_of(code), "the pump burns");
    ck_assert_int_eq(pl_error_add_text(class, "pumps"), MPI_SUCCESS);
    ck_assert_str_eq(string_of(class), "pumps");
    ck_assert_str_eq(string_of(second), "");

    /* Removing goes from the text to the code to the class. */
    ck_assert_int_eq(pl_error_remove_class(class), MPI_ERR_OTHER);
    ck_assert_int_eq(pl_error_remove_code(code), MPI_ERR_OTHER);
    ck_assert_int_eq(pl_error_remove_text(code), MPI_SUCCESS);
    ck_assert_int_eq(pl_error_remove_text(code), MPI_ERR_ARG);
    ck_assert_str_eq(string_of(code), "");
    ck_assert_int_eq(pl_error_remove_code(class), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_remove_class(code), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_remove_code(code), MPI_SUCCESS);
    ck_assert_int_eq(pl_error_remove_code(code), MPI_ERR_ARG);
    ck_assert(!pl_error_code_valid(code));
    ck_assert_int_eq(pl_error_remove_class(class), MPI_ERR_OTHER);
    ck_assert_int_eq(pl_error_remove_text(class), MPI_SUCCESS);
    ck_assert_int_eq(pl_error_remove_class(class), MPI_SUCCESS);
    ck_assert(!pl_error_code_valid(class));
    ck_assert_int_eq(*pl_error_last_used(), second);
    ck_assert_int_eq(pl_error_remove_code(second), MPI_SUCCESS);
}
END_TEST

START_TEST(user_mistakes)
{
    int code;
    char text[MPI_MAX_ERROR_STRING + 1];
    memset(text, 'x', sizeof text);
    text[MPI_MAX_ERROR_STRING] = '\0';
    ck_assert_int_eq(pl_error_add_code(12345, &code), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_add_code(-1, &code), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_add_text(MPI_ERR_FILE, "no"), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_add_text(MPI_ERR_LASTCODE + 1, "no"), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_remove_class(MPI_ERR_FILE), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_remove_code(MPI_ERR_FILE), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_remove_text(MPI_ERR_FILE), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_add_code(MPI_ERR_FILE, &code), MPI_SUCCESS);
    int of_code;
    ck_assert_int_eq(pl_error_add_code(code, &of_code), MPI_ERR_ARG);
    ck_assert_int_eq(pl_error_add_text(code, text), MPI_ERR_ARG);
    text[MPI_MAX_ERROR_STRING - 1] = '\0';
    ck_assert_int_eq(pl_error_add_text(code, text), MPI_SUCCESS);
    ck_assert_str_eq(string_of(code), text);
    pl_memory_fail_at(1);
    ck_assert_int_eq(pl_error_add_text(code, "y"), MPI_ERR_NO_MEM);
    ck_assert_str_eq(string_of(code), text);
    ck_assert_int_eq(pl_error_remove_text(code), MPI_SUCCESS);
    ck_assert_int_eq(pl_error_remove_code(code), MPI_SUCCESS);
}
END_TEST

/* Numbers are given again once they are free, so that adding and removing for ever takes no memory. */
START_TEST(user_for_ever)
{
    int class, code, highest = 0;
    for (int i = 0; i < 10000; i++) {
        UNIT_CHECK(pl_error_add_class(&class) == MPI_SUCCESS);
        UNIT_CHECK(pl_error_add_code(class, &code) == MPI_SUCCESS);
        highest = code > highest ? code : highest;
        UNIT_CHECK(pl_error_remove_code(code) == MPI_SUCCESS);
        UNIT_CHECK(pl_error_remove_class(class) == MPI_SUCCESS);
    }
    ck_assert_int_le(highest, MPI_ERR_LASTCODE + 2);
}
END_TEST

static void *add_and_remove(void *wrong)
{
    for (int i = 0; i < 2000; i++) {
        int class, code;
        char text[MPI_MAX_ERROR_STRING], expected[32];
        pl_error_add_class(&class);
        pl_error_add_code(class, &code);
        snprintf(expected, sizeof expected, "mine is %d", code);
        pl_error_add_text(code, expected);
        pl_error_string(code, text);
        if (pl_error_code_class(code) != class || strcmp(text, expected) != 0)
            *(int *)wrong = 1;
        if (pl_error_remove_text(code) || pl_error_remove_code(code) || pl_error_remove_class(class))
            *(int *)wrong = 1;
    }
    return NULL;
}

START_TEST(user_threads)
{
    pthread_t thread[3];
    int wrong[3] = { 0 };
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, add_and_remove, &wrong[i]);
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_int_eq(wrong[i], 0);
    }
}
END_TEST

UNIT_MAIN("error", class_table, detail, long_detail, published, detail_of_thread, user_classes, user_mistakes,
          user_for_ever, user_threads)
