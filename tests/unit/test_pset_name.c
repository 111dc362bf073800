/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of process sets: valid URIs, equal names, hostile names. */
#include <stdio.h>
#include <string.h>

#include "core/base/pset_name.h"
#include "unit.h"

START_TEST(good_names)
{
    static const char *const names[] = {
        "mpi://WORLD", "a://b",  "app://mesh/fine?level=3#x", "a+b-c.d9://x", "x://[::1]:80/~u;v=1,2", "x://%20%C3%a4",
        "file:///x",   "x:////",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(!pl_pset_name_check(names[i]), "%s: %s", names[i], pl_pset_name_check(names[i]));
    char longest[PL_PSET_NAME_MAX + 2] = "app://";
    memset(longest + 6, 'x', sizeof longest - 7);
    longest[sizeof longest - 1] = '\0';
    ck_assert_ptr_nonnull(strstr(pl_pset_name_check(longest), "longer"));
    longest[PL_PSET_NAME_MAX] = '\0';
    ck_assert_ptr_null(pl_pset_name_check(longest));
}
END_TEST

START_TEST(bad_names)
{
    static const struct {
        const char *name, *why;
    } cases[] = {
        { "", "empty" },
        { "world", "scheme" },
        { "://x", "scheme" },
        { "1a://x", "scheme" },
        { "a b://x", "scheme" },
        { "app:/x", "scheme" },
        { "app://", "nothing" },
        { "app://a b", "character" },
        { "app://a\nb", "character" },
        { "app://\xc3\xa4", "character" },
        { "app://%2", "character" },
        { "app://%zz", "character" },
        { "app://a\"b", "character" },
        { "app://<x>", "character" },
        { "app://a\\b", "character" },
        { "app://{x}", "character" },
        { "a\x01://x", "scheme" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = pl_pset_name_check(cases[i].name);
        ck_assert_msg(said && strstr(said, cases[i].why), "\"%s\": %s", cases[i].name, said ? said : "(taken)");
    }
}
END_TEST

START_TEST(same_names)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "mpi://WORLD", "MPI://world", true },
        { "app://Mesh/A", "APP://mESH/A", true },
        { "app://mesh/A", "app://mesh/a", false },
        { "app://mesh?A", "app://mesh?a", false },
        { "app://mesh", "app://mesh/", false },
        { "app://mesh", "apx://mesh", false },
        { "plain", "PLAIN", false },
        { "plain", "plain", true },
        { "", "", true },
        { "app://a", "app://ab", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(pl_pset_name_same(cases[i].a, cases[i].b) == cases[i].same, "%s, %s", cases[i].a, cases[i].b);
        ck_assert(pl_pset_name_same(cases[i].b, cases[i].a) == cases[i].same);
    }
    ck_assert(pl_pset_name_has_scheme("HWLOC://x", "hwloc") && pl_pset_name_has_scheme("hwloc://x", "Hwloc"));
    ck_assert(!pl_pset_name_has_scheme("hwlocs://x", "hwloc") && !pl_pset_name_has_scheme("hwlo://x", "hwloc"));
    ck_assert(!pl_pset_name_has_scheme("hwloc", "hwloc") && !pl_pset_name_has_scheme("", ""));
}
END_TEST

/* Any bytes: nothing is read behind the end, and the shown text has no control characters. */
START_TEST(random_bytes)
{
    uint64_t state = 7;
    char shown[24];
    for (int i = 0; i < 100000; i++) {
        size_t length = (size_t)unit_below(&state, 24);
        char *name = malloc(length + 1);
        for (size_t k = 0; k < length; k++)
            name[k] = (char)(unit_below(&state, 3) ? "ap:/%2Z"[unit_below(&state, 7)] : 1 + unit_below(&state, 255));
        name[length] = '\0';
        if (!pl_pset_name_check(name))
            UNIT_CHECK(strstr(name, "://") && !pl_pset_name_check(name));
        UNIT_CHECK(pl_pset_name_same(name, name));
        pl_pset_name_show(name, shown, sizeof shown);
        for (const char *c = shown; *c; c++)
            UNIT_CHECK(*c >= ' ' && *c < 127);
        free(name);
    }
    ck_assert_str_eq(pl_pset_name_show("app://a_long_name", shown, 10), "app://...");
}
END_TEST

UNIT_MAIN("pset_name", good_names, bad_names, same_names, random_bytes)
