/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks can be bound to, on machines made of files; which programs are sure to use our own library. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/coll/area/place.h"
#include "core/job/process.h"
#include "unit.h"
#include "world/runtime/job/binding.h"
#include "world/runtime/job/core_list.h"
#include "world/runtime/job/native.h"

static const char *top;

static void put(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *text, const char *format, ...)
{
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%s/", top);
    va_list args;
    va_start(args, format);
    vsnprintf(path + used, sizeof path - (size_t)used, format, args);
    va_end(args);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

/* Two sockets, each a NUMA node, of two cores of two threads: threads of a core are n and n + 4. */
static void make_machine(void)
{
    static const char *const core[] = { "0,4", "1,5", "2,6", "3,7" }, *const socket[] = { "0-1,4-5", "2-3,6-7" };
    for (int cpu = 0; cpu < 8; cpu++) {
        put(core[cpu % 4], "devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        put(socket[cpu % 4 / 2], "devices/system/cpu/cpu%d/topology/core_siblings_list", cpu);
    }
    for (int cpu = 0; cpu < 8;
         cpu++) { /* the files are in no order; a cache of level 3 belongs to three cores or one */
        static const char *const level[] = { "1", "3", "2" };
        const char *shared[] = { core[cpu % 4], cpu % 4 < 3 ? "0-2,4-6" : "3,7", core[cpu % 4] };
        for (int index = 0; index < 3; index++) {
            put(level[index], "devices/system/cpu/cpu%d/cache/index%d/level", cpu, index);
            put(shared[index], "devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
        }
    }
    for (int node = 0; node < 2; node++)
        put(socket[node], "devices/system/node/node%d/cpulist", node);
}

static void begin(void)
{
    top = unit_directory();
}

static cpu_set_t cpus_of(const char *digits)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (; *digits; digits++)
        CPU_SET((size_t)(*digits - '0'), &set);
    return set;
}

/* `wanted`: the places in order, with blanks between them. */
static void expect_each(const char *allowed, enum plenum_bind bind, enum plenum_map map, long each, const char *wanted)
{
    struct pl_binding_places places;
    char all[256] = "", one[64];
    cpu_set_t set = cpus_of(allowed);
    ck_assert(pl_binding_find(top, &set, bind, map, each, &places));
    for (int i = 0; i < places.count; i++) {
        ck_assert_int_eq(pl_binding_text(&places.cpus[i], one, sizeof one), (int)strlen(one));
        strcat(strcat(all, i ? " " : ""), one);
    }
    ck_assert_str_eq(all, wanted);
    pl_binding_fini(&places);
}

static void expect(const char *allowed, enum plenum_bind bind, enum plenum_map map, const char *wanted)
{
    expect_each(allowed, bind, map, 0, wanted);
    expect_each(allowed, bind, map, 1, wanted);
}

START_TEST(machine)
{
    begin();
    make_machine();
    expect("01234567", PLENUM_BIND_CORE, PLENUM_MAP_SLOT, "0,4 1,5 2,6 3,7");
    expect("01234567", PLENUM_BIND_CORE, PLENUM_MAP_SOCKET, "0,4 2,6 1,5 3,7");
    expect("01234567", PLENUM_BIND_CORE, PLENUM_MAP_NUMA, "0,4 2,6 1,5 3,7");
    expect("01234567", PLENUM_BIND_SOCKET, PLENUM_MAP_SLOT, "0-1,4-5 2-3,6-7");
    expect("01234567", PLENUM_BIND_NUMA, PLENUM_MAP_SOCKET, "0-1,4-5 2-3,6-7");
    expect("01234567", PLENUM_BIND_THREAD, PLENUM_MAP_SLOT, "0 1 2 3 4 5 6 7");
    expect("01234567", PLENUM_BIND_THREAD, PLENUM_MAP_SOCKET, "0 2 1 3 4 6 5 7");
    expect("01234567", PLENUM_BIND_L3CACHE, PLENUM_MAP_SLOT, "0-2,4-6 3,7");
    expect("01234567", PLENUM_BIND_CORE, PLENUM_MAP_L3CACHE, "0,4 3,7 1,5 2,6");
    /* only what is allowed; groups of unequal size */
    expect("0147", PLENUM_BIND_CORE, PLENUM_MAP_SLOT, "0,4 1 7");
    expect("0147", PLENUM_BIND_CORE, PLENUM_MAP_SOCKET, "0,4 7 1");
    expect("01", PLENUM_BIND_SOCKET, PLENUM_MAP_SLOT, "0-1");
    expect("3", PLENUM_BIND_NUMA, PLENUM_MAP_NUMA, "3");
}
END_TEST

START_TEST(several_each)
{
    begin();
    make_machine();
    expect_each("01234567", PLENUM_BIND_CORE, PLENUM_MAP_SLOT, 2, "0-1,4-5 2-3,6-7");
    expect_each("01234567", PLENUM_BIND_THREAD, PLENUM_MAP_SLOT, 2, "0-1 4-5 2-3 6-7");
    expect_each("01234567", PLENUM_BIND_THREAD, PLENUM_MAP_SOCKET, 2, "0-1 2-3 4-5 6-7");
    expect_each("01234567", PLENUM_BIND_THREAD, PLENUM_MAP_SLOT, 3, "0-1,4 2-3,6");
    /* a socket with too few; no socket with enough; a machine without enough */
    expect_each("01452", PLENUM_BIND_CORE, PLENUM_MAP_SLOT, 2, "0-1,4-5");
    expect_each("0126", PLENUM_BIND_CORE, PLENUM_MAP_SOCKET, 3, "0-2,6");
    expect_each("0123", PLENUM_BIND_CORE, PLENUM_MAP_SLOT, 1000000, "0-3");
    expect_each("01234567", PLENUM_BIND_SOCKET, PLENUM_MAP_NUMA, 2, "0-7");
}
END_TEST

/* What `count` ranks have that take the places in order, and are then ranked. */
static void expect_ranked(enum plenum_bind bind, enum plenum_map map, int count, enum plenum_rank rank,
                          const char *wanted)
{
    struct pl_binding_places places;
    char all[256] = "", one[64];
    cpu_set_t set = cpus_of("01234567"), taken[16];
    ck_assert(pl_binding_find(top, &set, bind, map, 0, &places));
    for (int r = 0; r < count; r++)
        taken[r] = places.cpus[r % places.count];
    ck_assert(pl_binding_rank(top, &set, map, rank, taken, count));
    for (int r = 0; r < count; r++) {
        pl_binding_text(&taken[r], one, sizeof one);
        strcat(strcat(all, r ? " " : ""), one);
    }
    ck_assert_str_eq(all, wanted);
    pl_binding_fini(&places);
}

START_TEST(ranked)
{
    begin();
    make_machine();
    static const enum plenum_map by[] = { PLENUM_MAP_SOCKET, PLENUM_MAP_NUMA };
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        expect_ranked(PLENUM_BIND_CORE, by[i], 4, PLENUM_RANK_MAPPED, "0,4 2,6 1,5 3,7");
        expect_ranked(PLENUM_BIND_CORE, by[i], 4, PLENUM_RANK_SLOT, "0,4 2,6 1,5 3,7");
        expect_ranked(PLENUM_BIND_CORE, by[i], 4, PLENUM_RANK_NODE, "0,4 2,6 1,5 3,7");
        expect_ranked(PLENUM_BIND_CORE, by[i], 4, PLENUM_RANK_FILL, "0,4 1,5 2,6 3,7");
        expect_ranked(PLENUM_BIND_CORE, by[i], 3, PLENUM_RANK_FILL, "0,4 1,5 2,6"); /* mapped first, then ranked */
        expect_ranked(PLENUM_BIND_CORE, by[i], 6, PLENUM_RANK_FILL, "0,4 1,5 0,4 2,6 3,7 2,6");
        expect_ranked(PLENUM_BIND_SOCKET, by[i], 4, PLENUM_RANK_FILL, "0-1,4-5 0-1,4-5 2-3,6-7 2-3,6-7");
        expect_ranked(PLENUM_BIND_CORE, by[i], 4, PLENUM_RANK_SPAN, "0,4 2,6 1,5 3,7");
    }
    expect_ranked(PLENUM_BIND_CORE, PLENUM_MAP_SLOT, 4, PLENUM_RANK_SPAN, "0,4 2,6 1,5 3,7");
    expect_ranked(PLENUM_BIND_CORE, PLENUM_MAP_SLOT, 3, PLENUM_RANK_SPAN, "0,4 2,6 1,5");
    expect_ranked(PLENUM_BIND_CORE, PLENUM_MAP_NODE, 3, PLENUM_RANK_FILL, "0,4 1,5 2,6");
    expect_ranked(PLENUM_BIND_THREAD, PLENUM_MAP_SLOT, 8, PLENUM_RANK_FILL, "0 1 4 5 2 3 6 7");
    expect_ranked(PLENUM_BIND_CORE, PLENUM_MAP_SLOT, 0, PLENUM_RANK_SPAN, "");
}
END_TEST

/* `wanted` "": the list names something that is not there. */
static void expect_list(const char *allowed, const char *list, const char *wanted)
{
    char text[64];
    cpu_set_t set = cpus_of(allowed), got;
    ck_assert_msg(pl_core_list_valid(list), "%s", list);
    enum pl_core_list outcome = pl_core_list_find(top, &set, list, &got);
    ck_assert_msg(outcome == (*wanted ? PL_CORE_LIST_FOUND : PL_CORE_LIST_ABSENT), "%s", list);
    pl_binding_text(&got, text, sizeof text);
    ck_assert_msg(!*wanted || strcmp(text, wanted) == 0, "%s is %s, not %s", list, text, wanted);
}

START_TEST(lists)
{
    static const char all[] = "01234567";
    begin();
    make_machine();
    put("0-7", "devices/system/cpu/online");
    expect_list(all, "0", "0,4");
    expect_list(all, "0-1,3", "0-1,3-5,7");
    expect_list(all, "1:0", "2,6");
    expect_list(all, "1:0-1", "2-3,6-7");
    expect_list(all, "1:*", "2-3,6-7");
    expect_list(all, "0:1,1:1", "1,3,5,7");
    expect_list(all, "1:0;0", "0,2,4,6");
    expect_list(all, "0:0,1", "0-1,4-5");
    expect_list(all, "p6", "6");
    expect_list(all, "P0-1,7", "0-1,7");
    expect_list(all, "p5;3", "3,5,7");
    expect_list("0136", "2", "6"); /* numbers are those of the machine, not of what is allowed */
    expect_list("0136", "1:*", "3,6");
    expect_list("01", "2", "");
    expect_list("01", "1:*", "");
    expect_list("01", "p0-2", "");
    expect_list(all, "4", "");
    expect_list(all, "0-4", "");
    expect_list(all, "1:2", "");
    expect_list(all, "2:0", "");
    expect_list(all, "p99999", "");
    static const char *const wrong[] = { "",   "x",  "-1",   "1-",   "2-1", "0,",  ",0",   "0;",    "*",    "p",
                                         ":0", "0:", "0:p1", "p0:1", "p*",  "0 1", "0:*1", "0-1-2", "0:0:0" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!pl_core_list_valid(wrong[i]), "%s", wrong[i]);
}
END_TEST

/* A kernel that says nothing, or nonsense. */
START_TEST(silence)
{
    begin();
    expect("0134", PLENUM_BIND_CORE, PLENUM_MAP_SOCKET, "0 1 3 4");
    expect("0134", PLENUM_BIND_SOCKET, PLENUM_MAP_SLOT, "0-1,3-4");
    expect("0134", PLENUM_BIND_NUMA, PLENUM_MAP_NUMA, "0-1,3-4");
    static const char *const nonsense[] = { "", "x", "-1", "5-1", "9999999999", "1,2", "0-", "0-99999" };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        put(nonsense[i], "devices/system/cpu/cpu0/topology/thread_siblings_list");
        struct pl_binding_places places;
        cpu_set_t set = cpus_of("01");
        ck_assert(pl_binding_find(top, &set, PLENUM_BIND_CORE, PLENUM_MAP_SLOT, 0, &places));
        ck_assert(places.count >= 1 && CPU_ISSET(0, &places.cpus[0]));
        pl_binding_fini(&places);
    }
}
END_TEST

START_TEST(short_text)
{
    char text[4];
    cpu_set_t set = cpus_of("02356");
    ck_assert_int_eq(pl_binding_text(&set, text, sizeof text), 9);
    ck_assert_str_eq(text, "0,2");
    ck_assert_int_eq(pl_binding_text(&set, NULL, 0), 9);
    CPU_ZERO(&set);
    ck_assert_int_eq(pl_binding_text(&set, text, sizeof text), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

/* --- programs ---------------------------------------------------------------------------------------------- */

/* Copies `bytes` of ourselves, with a byte changed. */
static void copy_damaged(const char *to, long bytes, long at)
{
    FILE *from = fopen("/proc/self/exe", "r"), *file = fopen(to, "w");
    ck_assert(from && file);
    for (long i = 0; i < bytes; i++) {
        int c = getc(from);
        putc(i == at ? c ^ 0xff : c, file);
    }
    fclose(from);
    fclose(file);
}

/* No other program passes for one of ours, and files of any content do no harm. */
START_TEST(not_native)
{
    char file[PATH_MAX];
    begin();
    snprintf(file, sizeof file, "%s/x", top);
    ck_assert(!pl_native_program("/bin/sh", NULL));
    ck_assert(!pl_native_program("/proc/self/exe", "/usr/lib:/lib"));
    ck_assert(!pl_native_program("/no/such/file", NULL));
    ck_assert(!pl_native_program(top, NULL));
    put("#!/bin/sh", "x");
    ck_assert(!pl_native_program(file, ""));
    for (long bytes = 0; bytes < 256; bytes += 17) {
        copy_damaged(file, bytes, -1);
        ck_assert(!pl_native_program(file, NULL));
    }
    for (long at = 0; at < 1024; at += 3) {
        copy_damaged(file, 4096, at);
        ck_assert(!pl_native_program(file, NULL));
    }
}
END_TEST

/* A process that may run in several places of a kind has none of that kind. */
START_TEST(of_a_rank)
{
    static const struct {
        const char *cpus;
        int package, node, cache;
    } cases[] = { { "0", 0, 0, 0 },    { "6", 2, 2, 0 },     { "37", 2, 2, 3 },
                  { "26", 2, 2, 0 },   { "01", 0, 0, 0 },    { "23", 2, 2, -1 },
                  { "12", -1, -1, 0 }, { "03", -1, -1, -1 }, { "0123", -1, -1, -1 } };
    begin();
    make_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cpu_set_t cpus = cpus_of(cases[i].cpus);
        struct pl_area_place place = pl_area_place_in(top, &cpus);
        ck_assert_int_eq(place.package, cases[i].package);
        ck_assert_int_eq(place.node, cases[i].node);
        ck_assert_int_eq(place.cache, cases[i].cache);
        ck_assert_int_eq(place.given, 0);
    }
    cpu_set_t one = cpus_of("0");
    struct pl_area_place nowhere = pl_area_place_in("/nowhere", &one);
    ck_assert(nowhere.package == -1 && nowhere.node == -1 && nowhere.cache == -1);
}
END_TEST

/* The configuration variable, and what a value of it is. */
START_TEST(given)
{
    static const char *const good[] = { "auto", "none", "1x1", "2x12", "16x8" }, *const bad[] = {
        "", "2", "2x", "x2", "0x2", "2x-1", "2x2x2", "2x2 ", "none2", "99999x1"
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert(pl_area_places_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!pl_area_places_valid(bad[i]), "\"%s\"", bad[i]);
    setenv("PLENUM_COLL_PLACES", "2x3", 1);
    ck_assert_int_eq(pl_config_load(), 0);
    for (int rank = 0; rank < 24; rank++) {
        pl_process.identity.rank = rank;
        pl_process.identity.local_size = 12; /* of each of two hosts */
        struct pl_area_place place = pl_area_place_self(true);
        ck_assert_int_eq(place.cache, rank % 12 / 2);
        ck_assert_int_eq(place.package, rank % 12 / 6);
        ck_assert_int_eq(place.given, 1);
    }
    setenv("PLENUM_COLL_PLACES", "none", 1);
    ck_assert_int_eq(pl_config_load(), 0);
    ck_assert_int_eq(pl_area_place_self(false).cache, -1);
    setenv("PLENUM_COLL_PLACES", "2by3", 1);
    ck_assert_int_ne(pl_config_load(), 0);
}
END_TEST

UNIT_MAIN("places", of_a_rank, given, machine, several_each, ranked, lists, silence, short_text, not_native)
