/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON files of the user: what is refused, and that the line of a mistake is the right one. */
#include "fakes.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/json.h"

static const char *path;

static void put(const char *text)
{
    path = unit_file(text);
}

static void refused(const char *text, const char *said)
{
    struct pl_json json;
    char want[256];
    put(text);
    ck_assert_int_eq(pl_json_open(path, &json), MPI_ERR_ARG);
    snprintf(want, sizeof want, "%s:%s", path, said);
    ck_assert_msg(strncmp(pl_error_detail(NULL), want, strlen(want)) == 0, "said \"%s\", not \"%s\"",
                  pl_error_detail(NULL), want);
    pl_json_close(&json);
}

START_TEST(whole_files)
{
    struct pl_json json;
    put("{ \"a\": [1, 2], \"b\": {} }");
    ck_assert_int_eq(pl_json_open(path, &json), MPI_SUCCESS);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(json.root, "a"), 1)), 2);
    pl_json_close(&json);
    refused("{ \"a\": 1,\n  \"b\": }", "2: column 8: ");
    refused("{\n\"a\": 1,\n\"a\": 2 }", "3: ");
    refused("[]", "1: the top-level value must be an object");
    refused("", "1: ");
    ck_assert_int_eq(pl_json_open("/nonexistent/file", &json), MPI_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "/nonexistent/file: cannot be opened"));
    ck_assert_int_eq(pl_json_open("/", &json), MPI_ERR_ARG);
    ck_assert_int_eq(pl_json_open("/dev/zero", &json), MPI_ERR_ARG);
}
END_TEST

START_TEST(line_of_a_value)
{
    static const struct {
        const char *where;
        int line;
    } cases[] = {
        { "", 1 },       { "one", 2 },       { "two", 3 },           { "two/0", 4 },
        { "two/1", 5 },  { "two/1/x]", 6 },  { "two/2", 8 },         { "a~1b", 9 },
        { "a~1b/c", 9 }, { "quoted\"", 10 }, { "two/1/nothing", 5 }, { "nothing/at/all", 1 },
    };
    struct pl_json json;
    char want[128];
    put("{\n \"one\": \"}{]\\\"\",\n\"two\" :\t[\n 1e3 ,\n {\n \"x]\": [[], {}]\n }\n,true],\n\"a/b\": { \"c\": null "
        "},\n\"quoted\\u0022\": 1}");
    ck_assert_int_eq(pl_json_open(path, &json), MPI_SUCCESS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(pl_json_fail(&json, MPI_ERR_ARG, cases[i].where, "is %d", 7), MPI_ERR_ARG);
        snprintf(want, sizeof want, "%s:%d: %s%sis 7", path, cases[i].line, cases[i].where,
                 *cases[i].where ? ": " : "");
        ck_assert_str_eq(pl_error_detail(NULL), want);
    }
    pl_json_close(&json);
}
END_TEST

START_TEST(unknown_keys)
{
    static const char *const allowed[] = { "one", "two", NULL };
    struct pl_json json;
    char want[256], small[8] = "";
    put("{ \"one\": 1,\n \"tw~o\": 2 }");
    ck_assert_int_eq(pl_json_open(path, &json), MPI_SUCCESS);
    ck_assert_int_eq(pl_json_keys(&json, "", json.root, allowed), MPI_ERR_ARG);
    snprintf(want, sizeof want, "%s:2: tw~0o: this key is not known; allowed are one, two", path);
    ck_assert_str_eq(pl_error_detail(NULL), want);
    json_object_del(json.root, "tw~o");
    ck_assert_int_eq(pl_json_keys(&json, "", json.root, allowed), MPI_SUCCESS);
    pl_json_enter(small, sizeof small, "a/b");
    pl_json_enter(small, sizeof small, "cdefghi");
    ck_assert_str_eq(small, "a~1b/c");
    pl_json_close(&json);
}
END_TEST

UNIT_MAIN("json", whole_files, line_of_a_value, unknown_keys)
