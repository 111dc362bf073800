/* SPDX-License-Identifier: BSD-3-Clause */
/* What sysfs says of processors, in directories like those of machines and containers. */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/sysfs.h"

static char sys[PATH_MAX / 4];

static void make(void)
{
    const char *directory = getenv("TMPDIR");
    snprintf(sys, sizeof sys, "%s/plenum-sysfs-XXXXXX", directory ? directory : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(sys));
}

static void drop(void)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", sys);
    ck_assert_int_eq(system(command), 0);
}

/* A directory below it, with those above. */
static void add(const char *path)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "mkdir -p '%s/%s'", sys, path);
    ck_assert_int_eq(system(command), 0);
}

static void add_file(const char *path, const char *text)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/%s", sys, path);
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(test_has_processors)
{
    ck_assert(!pl_sysfs_has_processors(sys)); /* not mounted */
    add("devices/system/cpu");
    ck_assert(!pl_sysfs_has_processors(sys)); /* empty, as where listing is denied */
    add("devices/system/cpu/cpufreq/topology");
    add("devices/system/cpu/cpu0x/topology");
    ck_assert(!pl_sysfs_has_processors(sys)); /* no processors */
    add("devices/system/cpu/cpu0");
    ck_assert(!pl_sysfs_has_processors(sys)); /* one of which nothing is said */
    add("devices/system/cpu/cpu12/topology");
    ck_assert(pl_sysfs_has_processors(sys));
}
END_TEST

START_TEST(test_lists)
{
    cpu_set_t cpus;
    add("devices/system/cpu/cpu4/topology");
    ck_assert(!pl_sysfs_online(sys, &cpus));
    add_file("devices/system/cpu/online", "0-2,4\n");
    ck_assert(pl_sysfs_online(sys, &cpus));
    ck_assert_int_eq(CPU_COUNT(&cpus), 4);
    ck_assert(CPU_ISSET(2, &cpus) && !CPU_ISSET(3, &cpus) && CPU_ISSET(4, &cpus));
    add_file("devices/system/cpu/cpu4/topology/core_siblings_list", "0-1");
    ck_assert(!pl_sysfs_topology(sys, 4, "core_siblings_list", &cpus)); /* itself is missing */
    add_file("devices/system/cpu/cpu4/topology/core_siblings_list", "1,4");
    ck_assert(pl_sysfs_topology(sys, 4, "core_siblings_list", &cpus));
    ck_assert_int_eq(CPU_COUNT(&cpus), 2);
}
END_TEST

START_TEST(test_highest_cache)
{
    cpu_set_t cpus;
    add("devices/system/cpu/cpu1/cache/index0");
    add("devices/system/cpu/cpu1/cache/index1");
    ck_assert(!pl_sysfs_cache(sys, 1, &cpus));
    add_file("devices/system/cpu/cpu1/cache/index0/level", "3\n");
    add_file("devices/system/cpu/cpu1/cache/index0/shared_cpu_list", "0-7\n");
    add_file("devices/system/cpu/cpu1/cache/index1/level", "2\n");
    add_file("devices/system/cpu/cpu1/cache/index1/shared_cpu_list", "0-1\n");
    ck_assert(pl_sysfs_cache(sys, 1, &cpus));
    ck_assert_int_eq(CPU_COUNT(&cpus), 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sysfs");
    TCase *tcase = unit_case(suite);
    tcase_add_checked_fixture(tcase, make, drop);
    tcase_add_test(tcase, test_has_processors);
    tcase_add_test(tcase, test_lists);
    tcase_add_test(tcase, test_highest_cache);
    return unit_end(suite);
}
