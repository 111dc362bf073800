/* SPDX-License-Identifier: BSD-3-Clause */
/* The hardware places of a process: unbound, and bound to one processor. */
#include "unit.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/comm/topology_hw.h"

enum { PLACES_MAX = 32 };
static const struct pl_topology_ops *ops;

static void load(void)
{
    char exe[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    ck_assert_int_gt(length, 0);
    exe[length] = '\0';
    snprintf(path, sizeof path, "%s/../../lib/plenum/hwloc.so", dirname(exe));
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(handle != NULL, "%s", dlerror());
    ops = dlsym(handle, PL_TOPOLOGY_SYMBOL);
    ck_assert_ptr_nonnull(ops);
    ck_assert_uint_eq(ops->abi, PL_TOPOLOGY_ABI);
}

static int bind_to_first(void)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one);
        }
    return -1;
}

START_TEST(test_places)
{
    struct pl_topology_place places[PLACES_MAX];
    int count = ops->places(places, PLACES_MAX);
    ck_assert_int_ge(count, 1);
    ck_assert_int_le(count, PLACES_MAX);
    ck_assert_str_eq(places[0].type, "hwloc://Machine");
    ck_assert_int_eq(places[0].index, 0);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(ops->index(places[i].type), places[i].index);
    ck_assert_int_eq(ops->places(places, 0), count);
}
END_TEST

START_TEST(test_bound)
{
    struct pl_topology_place places[PLACES_MAX];
    ck_assert_int_eq(bind_to_first(), 0);
    int count = ops->places(places, PLACES_MAX);
    ck_assert_int_ge(count, 2);
    int found = -1;
    for (int i = 0; i < count; i++)
        if (strcmp(places[i].type, "hwloc://PU") == 0)
            found = places[i].index;
    ck_assert_int_ge(found, 0);
    ck_assert_int_eq(ops->index("PU"), found);
    ck_assert_int_ge(ops->index("core"), -1);
}
END_TEST

START_TEST(test_names)
{
    ck_assert_int_eq(ops->index("machine"), 0);
    ck_assert_int_eq(ops->index("HWLOC://Machine"), 0);
    ck_assert_int_eq(ops->index("hwloc://NoSuchThing"), -2);
    ck_assert_int_eq(ops->index(""), -2);
    ck_assert_int_eq(ops->index("hwloc://"), -2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hwloc");
    TCase *tcase = unit_case(suite);
    tcase_add_checked_fixture(tcase, load, NULL);
    tcase_add_test(tcase, test_places);
#ifndef __SANITIZE_THREAD__ /* its own thread is not bound, so that the process is not confined */
    tcase_add_test(tcase, test_bound);
#else
    (void)test_bound;
#endif
    tcase_add_test(tcase, test_names);
    return unit_end(suite);
}
