/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of memory allocation kinds: what is granted, which list contains which, odd and very long texts. */
#include "unit.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/object/alloc_kinds.h"
#include "core/object/info.h"

static char *granted(const char *wanted)
{
    struct pl_info *info = pl_info_create();
    ck_assert_int_eq(pl_alloc_kinds_grant(info, wanted), MPI_SUCCESS);
    char *text;
    ck_assert_int_eq(pl_info_get(info, PL_ALLOC_KINDS_KEY, &text), MPI_SUCCESS);
    pl_handle_drop(info);
    return text;
}

static void check_granted(const char *wanted, const char *expected)
{
    char *text = granted(wanted);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(grants)
{
    check_granted(NULL, "mpi,system");
    check_granted("", "mpi,system");
    check_granted("system,mpi", "mpi,system");
    check_granted(",, ,system , mpi:alloc_mem ,", "mpi,system,mpi:alloc_mem");
    check_granted("cuda,rocm:device,system:odd,mpi:,mpi:alloc_mem:", "mpi,system");
    check_granted("mpi:win_allocate_shared:alloc_mem", "mpi,system,mpi:win_allocate_shared:alloc_mem");
}
END_TEST

START_TEST(endless)
{
    char *wanted = calloc(1, 100001);
    for (int i = 0; i + 14 <= 100000; i += 14)
        memcpy(wanted + i, "mpi:alloc_mem,", 14);
    char *text = granted(wanted);
    ck_assert_uint_lt(strlen(text), MPI_MAX_INFO_VAL);
    ck_assert_uint_gt(strlen(text), MPI_MAX_INFO_VAL - 20);
    free(text);
    free(wanted);
}
END_TEST

START_TEST(within)
{
    ck_assert(pl_alloc_kinds_within("", ""));
    ck_assert(pl_alloc_kinds_within("", "mpi"));
    ck_assert(!pl_alloc_kinds_within("mpi", ""));
    ck_assert(pl_alloc_kinds_within("mpi:alloc_mem", "system,mpi"));
    ck_assert(!pl_alloc_kinds_within("mpi", "system,mpi:alloc_mem"));
    ck_assert(!pl_alloc_kinds_within("mpix", "mpi"));
    ck_assert(!pl_alloc_kinds_within("system,rocm", "mpi,system"));
}
END_TEST

START_TEST(memory)
{
    struct pl_info *info = pl_info_create();
    pl_memory_fail_at(1);
    ck_assert_int_eq(pl_alloc_kinds_grant(info, "system"), MPI_ERR_NO_MEM);
    pl_memory_fail_at(0);
    pl_handle_drop(info);
}
END_TEST

UNIT_MAIN("alloc_kinds", grants, endless, within, memory)
