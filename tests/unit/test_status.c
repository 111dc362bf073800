/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses: what the library writes into them, and what the public functions read and set. */
#include "typemap.h"

#include <limits.h>

#include "core/engine/status.h"

START_TEST(outcomes)
{
    MPI_Status status;
    memset(&status, 0x5a, sizeof status);
    const struct pl_outcome outcome = { .source = 3, .tag = 9, .bytes = 1ll << 40, .cancelled = true };
    pl_status_set(&status, &outcome);
    ck_assert_int_eq(status.MPI_SOURCE, 3);
    ck_assert_int_eq(status.MPI_TAG, 9);
    ck_assert_int_eq(status.MPI_ERROR, 0x5a5a5a5a); /* not for single completions */
    ck_assert_int_eq(pl_status_bytes(&status), 1ll << 40);
    ck_assert(pl_status_cancelled(&status));

    pl_status_empty(&status);
    ck_assert_int_eq(status.MPI_SOURCE, MPI_ANY_SOURCE);
    ck_assert_int_eq(status.MPI_TAG, MPI_ANY_TAG);
    ck_assert_int_eq(status.MPI_ERROR, MPI_SUCCESS);
    ck_assert_int_eq(pl_status_bytes(&status), 0);
    ck_assert(!pl_status_cancelled(&status));

    pl_status_set(MPI_STATUS_IGNORE, &outcome);
    pl_status_empty(MPI_STATUS_IGNORE);
}
END_TEST

static int count_of(const MPI_Status *status, MPI_Datatype type)
{
    int count = -1;
    MPI_Count large = -1;
    ck_assert_int_eq(MPI_Get_count(status, type, &count), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Get_count_c(status, type, &large), MPI_SUCCESS);
    ck_assert(count == large || large > INT_MAX);
    return count;
}

static int elements_of(const MPI_Status *status, MPI_Datatype type)
{
    int count = -1;
    MPI_Count large = -1, extended = -1;
    ck_assert_int_eq(MPI_Get_elements(status, type, &count), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Get_elements_c(status, type, &large), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Get_elements_x(status, type, &extended), MPI_SUCCESS);
    ck_assert_int_eq(large, extended);
    ck_assert(count == large || large > INT_MAX);
    return count;
}

START_TEST(counts)
{
    MPI_Status status;
    MPI_Datatype empty, mixed;
    typemap_errors_return();
    pl_status_empty(&status);
    pl_status_set_bytes(&status, 24);
    ck_assert_int_eq(count_of(&status, MPI_DOUBLE), 3);
    ck_assert_int_eq(count_of(&status, MPI_LONG_DOUBLE), MPI_UNDEFINED);
    ck_assert_int_eq(elements_of(&status, MPI_DOUBLE), 3);
    ck_assert_int_eq(elements_of(&status, MPI_LONG_DOUBLE), MPI_UNDEFINED);
    ck_assert_int_eq(count_of(&status, MPI_DOUBLE_INT), 2);
    ck_assert_int_eq(elements_of(&status, MPI_DOUBLE_INT), 4); /* value and index are one each */

    MPI_Type_contiguous(0, MPI_INT, &empty);
    ck_assert_int_eq(count_of(&status, empty), MPI_UNDEFINED);
    pl_status_set_bytes(&status, 0);
    ck_assert_int_eq(count_of(&status, empty), 0);
    ck_assert_int_eq(elements_of(&status, empty), 0);
    MPI_Type_free(&empty);

    const int lengths[] = { 2, 3 };
    const MPI_Aint places[] = { 0, 8 };
    const MPI_Datatype types[] = { MPI_INT, MPI_CHAR };
    MPI_Type_create_struct(2, lengths, places, types, &mixed); /* 4 4 1 1 1 */
    static const struct {
        int bytes, count, elements;
    } cases[] = {
        { 0, 0, 0 },  { 4, MPI_UNDEFINED, 1 }, { 6, MPI_UNDEFINED, MPI_UNDEFINED }, { 9, MPI_UNDEFINED, 3 },
        { 11, 1, 5 }, { 22, 2, 10 },           { 22 + 8, MPI_UNDEFINED, 12 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pl_status_set_bytes(&status, cases[i].bytes);
        ck_assert_int_eq(count_of(&status, mixed), cases[i].count);
        ck_assert_int_eq(elements_of(&status, mixed), cases[i].elements);
        if (cases[i].elements == MPI_UNDEFINED)
            continue;
        ck_assert_int_eq(MPI_Status_set_elements(&status, mixed, cases[i].elements), MPI_SUCCESS);
        ck_assert_int_eq(pl_status_bytes(&status), cases[i].bytes);
    }
    MPI_Type_free(&mixed);
}
END_TEST

START_TEST(large_counts)
{
    MPI_Status status;
    MPI_Count large;
    typemap_errors_return();
    pl_status_empty(&status);
    const MPI_Count many = 5ll * INT_MAX;
    ck_assert_int_eq(MPI_Status_set_elements_c(&status, MPI_INT, many), MPI_SUCCESS);
    ck_assert_int_eq(pl_status_bytes(&status), 4 * many);
    ck_assert_int_eq(count_of(&status, MPI_INT), MPI_UNDEFINED);
    ck_assert_int_eq(elements_of(&status, MPI_INT), MPI_UNDEFINED);
    MPI_Get_count_c(&status, MPI_INT, &large);
    ck_assert_int_eq(large, many);
    ck_assert_int_eq(MPI_Status_set_elements_x(&status, MPI_INT, 7), MPI_SUCCESS);
    ck_assert_int_eq(count_of(&status, MPI_INT), 7);
    ck_assert_int_eq(MPI_Status_set_elements_c(&status, MPI_INT, INT64_MAX), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Status_set_elements_c(&status, MPI_INT, -1), MPI_ERR_COUNT);
    ck_assert_int_eq(count_of(&status, MPI_INT), 7);
}
END_TEST

START_TEST(fields)
{
    MPI_Status status;
    int value, count;
    typemap_errors_return();
    pl_status_empty(&status);
    ck_assert_int_eq(MPI_Status_set_source(&status, 4), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Status_set_tag(&status, 5), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Status_get_source(&status, &value), MPI_SUCCESS);
    ck_assert_int_eq(value, 4);
    ck_assert_int_eq(MPI_Status_get_tag(&status, &value), MPI_SUCCESS);
    ck_assert_int_eq(value, 5);
    ck_assert_int_eq(MPI_Status_get_error(&status, &value), MPI_SUCCESS);
    ck_assert_int_eq(value, MPI_ERR_TRUNCATE);
    ck_assert_int_eq(MPI_Status_set_cancelled(&status, 17), MPI_SUCCESS);
    ck_assert(pl_status_cancelled(&status));
    ck_assert_int_eq(MPI_Status_set_cancelled(&status, 0), MPI_SUCCESS);
    ck_assert(!pl_status_cancelled(&status));

    ck_assert_int_eq(MPI_Status_get_source(&status, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Status_get_tag(MPI_STATUS_IGNORE, &value), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Status_set_error(MPI_STATUS_IGNORE, 0), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Status_set_elements(MPI_STATUS_IGNORE, MPI_INT, 0), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Get_count(&status, MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE);
    ck_assert_int_eq(MPI_Get_elements(&status, MPI_INT, NULL), MPI_ERR_ARG);
}
END_TEST

UNIT_MAIN("status", outcomes, counts, large_counts, fields)
