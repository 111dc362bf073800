/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies into memory of other processors: each length and each place, and nothing beside it. */
#include "unit.h"

#include <string.h>

#include "core/base/far_copy.h"

enum { MOST = 3 * PL_FAR_COPY_FROM, GAP = 64 };

static unsigned char source[MOST + GAP], target[GAP + MOST + 2 * GAP];

static void check_copy(size_t bytes, size_t from, size_t to)
{
    memset(target, 0xee, sizeof target);
    pl_far_copy(target + GAP + to, source + from, bytes);
    ck_assert_mem_eq(target + GAP + to, source + from, bytes);
    for (size_t i = 0; i < sizeof target; i++)
        if (i < GAP + to || i >= GAP + to + bytes)
            ck_assert_uint_eq(target[i], 0xee);
}

START_TEST(test_lengths)
{
    static const size_t lengths[] = { 0,    1,    63,   64,   65,   PL_FAR_COPY_FROM - 1,     PL_FAR_COPY_FROM,
                                      2049, 2111, 2112, 4095, 4096, 2 * PL_FAR_COPY_FROM + 7, MOST };
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t at = 0; at < GAP; at += 7) {
            check_copy(lengths[i], 0, at);
            check_copy(lengths[i], at, 0);
            check_copy(lengths[i], at, GAP - at);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("far_copy");
    TCase *tcase = unit_case(suite);
    tcase_add_test(tcase, test_lengths);
    return unit_end(suite);
}
