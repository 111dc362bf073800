/* SPDX-License-Identifier: BSD-3-Clause */
/* How many processes the info key soft allows to spawn. */
#include "unit.h"

#include "core/base/error.h"
#include "mpi.h"
#include "world/spawn.h"

static const struct {
    const char *text;
    int maxprocs, number; /* 0: none of them */
} good[] = {
    { "3", 5, 3 },
    { "5", 5, 5 },
    { "6", 5, 0 },
    { "0", 5, 0 },
    { "2:8:2", 5, 4 },
    { "2:8:2", 9, 8 },
    { "2:9:2", 9, 8 },
    { "0:5", 5, 5 },
    { "9:1:-7", 5, 2 },
    { "9:1:-7", 9, 9 },
    { "8:8:-3", 9, 8 },
    { "2,16,4", 9, 4 },
    { "1:3 , 7:9", 8, 8 },
    { "-4:5:3", 3, 2 },
    { "-5:-1", 3, 0 },
    { "1:2147483647", 7, 7 },
    { "1:2147483647:2147483646", 7, 1 },
};

static const char *const bad[] = {
    "",
    "x",
    "2:",
    ":2",
    "2:3:",
    "2:3:4:5",
    "2,",
    ",2",
    "2;3",
    "3:2",
    "2:3:-1",
    "3:2:1",
    "2:3:0",
    "99999999999",
    "2147483648",
    "1:2x",
    "1.5",
    "-9223372036854775808:3",
    "-99999999999999999999:5:2",
};

START_TEST(numbers)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int number = -1, rc = pl_spawn_soft(good[i].text, good[i].maxprocs, &number);
        ck_assert_msg(number == good[i].number && rc == (number ? MPI_SUCCESS : MPI_ERR_SPAWN), "%s up to %d: %d, %d",
                      good[i].text, good[i].maxprocs, number, rc);
    }
}
END_TEST

START_TEST(no_numbers)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int number;
        ck_assert_msg(pl_spawn_soft(bad[i], 5, &number) == MPI_ERR_INFO_VALUE, "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "2:8:2,16"));
    }
}
END_TEST

UNIT_MAIN("spawn", numbers, no_numbers)
