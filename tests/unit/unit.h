/* SPDX-License-Identifier: BSD-3-Clause */
/* What small unit tests share: a main of one test case, files, and random numbers that are the same every time. */
#ifndef PLENUM_TESTS_UNIT_H
#define PLENUM_TESTS_UNIT_H

#include <check.h>
#include <dirent.h>
#include <float.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A real number of 113 bits, and Fortran's REAL*16. */
#if LDBL_MANT_DIG == 113
typedef long double unit_quad;
#else
typedef __float128 unit_quad;
#endif
#if LDBL_MANT_DIG == 106
typedef long double unit_real16;
#else
typedef unit_quad unit_real16;
#endif

/* A case of the suite, without a time limit: the runner has one. */
static inline TCase *unit_case(Suite *suite)
{
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 0);
    suite_add_tcase(suite, all);
    return all;
}

/* Holds the directories of the tests, which run in processes of their own. */
static char unit_top[128];

static inline int unit_remove(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    return remove(path);
}

/* Runs the suite, for main() to return. */
static inline int unit_end(Suite *suite)
{
    const char *where = getenv("TMPDIR");
    snprintf(unit_top, sizeof unit_top, "%.100s/plenum-unit-XXXXXX", where ? where : "/tmp");
    if (!mkdtemp(unit_top)) {
        perror(unit_top);
        return EXIT_FAILURE;
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    nftw(unit_top, unit_remove, 8, FTW_DEPTH | FTW_PHYS);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int unit_run(const char *name, SFun before, SFun after, const TTest *const tests[], int count)
{
    Suite *suite = suite_create(name);
    TCase *all = unit_case(suite);
    tcase_add_checked_fixture(all, before, after);
    for (int i = 0; i < count; i++)
        tcase_add_test(all, tests[i]);
    return unit_end(suite);
}

/* For tests that each run once, `before` and `after` around each; others write main() with the functions above. */
#define UNIT_MAIN_WITH(name, before, after, ...)                                                                       \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const TTest *const tests[] = { __VA_ARGS__ };                                                                  \
        return unit_run(name, before, after, tests, (int)(sizeof tests / sizeof tests[0]));                            \
    }
#define UNIT_MAIN(name, ...) UNIT_MAIN_WITH(name, NULL, NULL, __VA_ARGS__)

static inline uint64_t unit_random(uint64_t *state)
{
    uint64_t x = *state ? *state : 0x2545f4914f6cdd1du;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* Creates an empty directory. It is removed with its contents when all tests have run, even if this one crashes. */
static inline const char *unit_directory(void)
{
    static char name[sizeof unit_top + 8];
    snprintf(name, sizeof name, "%s/XXXXXX", unit_top);
    ck_assert_ptr_nonnull(mkdtemp(name));
    return name;
}

static inline int unit_entries(const char *directory)
{
    int count = 0;
    DIR *dir = opendir(directory);
    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/*
 * The name of a file with this text, valid until the next call. It lies in memory, so that no file remains if the test
 * dies.
 */
static inline const char *unit_file(const char *text)
{
    static char name[32];
    static int fd = -1;
    if (fd >= 0)
        close(fd);
    fd = memfd_create("unit", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return name;
}

/* For checks by the million: ck_assert() writes a byte to the runner for each check that holds. */
#define UNIT_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("%s", #condition);                                                                            \
    } while (0)

/* 0 .. below - 1 */
static inline int unit_below(uint64_t *state, int below)
{
    return (int)(unit_random(state) % (uint64_t)below);
}

#endif
