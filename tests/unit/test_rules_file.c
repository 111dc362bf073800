/* SPDX-License-Identifier: BSD-3-Clause */
/* core/coll/rules_file.c: the rules of a file apply, else the built-in ones; every mistake is reported with its
 * line. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/coll/rules_file.h"
#include "core/coll/select.h"

static int read_table(const char *text)
{
    setenv("PLENUM_COLL_TABLE", unit_file(text), 1);
    pl_error_clear();
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    return pl_coll_rules_open();
}

static void setup(void)
{
    setenv("PLENUM_CONFIG", "", 1);
}

static void teardown(void)
{
    pl_coll_rules_close();
}

static const char *chosen(enum pl_coll_kind kind, int size, MPI_Count bytes)
{
    static struct pl_group group = { .stride = 1 };
    static struct pl_comm comm = { .group = &group };
    struct pl_coll coll = { .kind = kind,
                            .comm = &comm,
                            .recvcount = bytes,
                            .recvtype = PL_TYPE_BYTE,
                            .sendcount = bytes,
                            .sendtype = PL_TYPE_BYTE,
                            .op = pl_op_predefined((uintptr_t)MPI_BOR) };
    comm.size = group.size = size;
    return pl_coll_select(&coll)->name;
}

START_TEST(test_replaces)
{
    ck_assert_int_eq(read_table("{ \"allreduce\": [ { \"ranks\": 4, \"bytes\": \"1K\", \"algorithm\": \"ring\" },\n"
                                "  { \"bytes\": 5000, \"algorithm\": \"reduce_bcast\" } ],\n"
                                "  \"bcast\": [ { \"algorithm\": \"chain\" } ] }"),
                     MPI_SUCCESS);
    ck_assert_str_eq(chosen(PL_COLL_ALLREDUCE, 4, 1024), "ring");
    ck_assert_str_eq(chosen(PL_COLL_ALLREDUCE, 4, 1025), "reduce_bcast");
    ck_assert_str_eq(chosen(PL_COLL_ALLREDUCE, 5, 8), "reduce_bcast");
    ck_assert_str_eq(chosen(PL_COLL_ALLREDUCE, 5, 5001), "recursive_doubling"); /* no rule of the file */
    ck_assert_str_eq(chosen(PL_COLL_BCAST, 2, 1), "chain");
    ck_assert_str_eq(chosen(PL_COLL_GATHER, 2, 1), "linear");
    uint32_t settings = pl_coll_settings();
    ck_assert_uint_ne(settings, 0);
    ck_assert_int_eq(read_table("{ \"bcast\": [ { \"algorithm\": \"chain\" } ] }"), MPI_SUCCESS);
    ck_assert_uint_ne(pl_coll_settings(), settings);
    ck_assert_str_eq(chosen(PL_COLL_ALLREDUCE, 4, 4096), "linear");
    ck_assert_str_eq(chosen(PL_COLL_ALLREDUCE, 4, 4097), "recursive_doubling");
    ck_assert_int_eq(read_table("{}"), MPI_SUCCESS);
    ck_assert_uint_eq(pl_coll_settings(), 0);
    ck_assert_str_eq(chosen(PL_COLL_BCAST, 2, 1), "binomial");
}
END_TEST

/* A rule whose algorithm cannot do the call is skipped: Bruck's algorithm of alltoall cannot work in place. */
START_TEST(test_fits)
{
    struct pl_comm comm = { .size = 4 };
    struct pl_coll coll = {
        .kind = PL_COLL_ALLTOALL, .comm = &comm, .recvcount = 1, .recvtype = PL_TYPE_BYTE, .sendbuf = MPI_IN_PLACE
    };
    ck_assert_int_eq(read_table("{ \"alltoall\": [ { \"algorithm\": \"bruck\" } ] }"), MPI_SUCCESS);
    ck_assert_str_eq(pl_coll_select(&coll)->name, "exchange");
    coll.sendbuf = &comm;
    ck_assert_str_eq(pl_coll_select(&coll)->name, "bruck");
}
END_TEST

static const struct mistake {
    const char *text, *message;
} mistakes[] = {
    { "[]", ":1:" },
    { "{\n\"allredcue\": [] }", ":2: allredcue: this key is not known" },
    { "{\n\n\"scan\": [] }", ":3: scan: must be an array" },
    { "{\"scan\": {} }", ":1: scan: must be an array" },
    { "{\"scan\": [\n 7 ] }", ":2: scan/0: a rule must be an object" },
    { "{\"scan\": [ {} ] }", ":1: scan/0: the rule has no \"algorithm\"" },
    { "{\"scan\": [ { \"algorithm\": \"linear\" },\n{ \"algorithm\": \"ring\" } ] }",
      ":2: scan/1/algorithm: \"ring\" is not an algorithm of scan; there are doubling|linear" },
    { "{\"scan\": [ { \"algorithm\": 7 } ] }", "scan/0/algorithm: \"?\" is not an algorithm" },
    { "{\"scan\": [ { \"algorithm\": \"linear\",\n\"size\": 7 } ] }", ":2: scan/0/size: this key is not known" },
    { "{\"scan\": [ { \"ranks\": 0, \"algorithm\": \"linear\" } ] }", "scan/0/ranks: must be a whole number" },
    { "{\"scan\": [ { \"ranks\": \"4\", \"algorithm\": \"linear\" } ] }", "scan/0/ranks: must be" },
    { "{\"scan\": [ { \"ranks\": 4000000000, \"algorithm\": \"linear\" } ] }", "scan/0/ranks: must be" },
    { "{\"scan\": [ { \"bytes\": -1, \"algorithm\": \"linear\" } ] }", "scan/0/bytes: must be" },
    { "{\"scan\": [ { \"bytes\": \"4X\", \"algorithm\": \"linear\" } ] }", "scan/0/bytes: must be" },
    { "{\"scan\": [ { \"bytes\": \"\", \"algorithm\": \"linear\" } ] }", "scan/0/bytes: must be" },
    { "{\"scan\": [ { \"bytes\": \"9000000000000G\", \"algorithm\": \"linear\" } ] }", "scan/0/bytes: must be" },
    { "{\"scan\": [ { \"bytes\": 1.5, \"algorithm\": \"linear\" } ] }", "scan/0/bytes: must be" },
    { "{\"scan\": [", ":1:" },
    { "", ":1:" },
};

START_TEST(test_mistakes)
{
    const struct mistake *mistake = &mistakes[_i];
    int count;
    ck_assert_int_eq(read_table(mistake->text), MPI_ERR_ARG);
    const char *detail = pl_error_detail(NULL);
    ck_assert_msg(strncmp(detail, getenv("PLENUM_COLL_TABLE"), strlen(getenv("PLENUM_COLL_TABLE"))) == 0, "%s", detail);
    ck_assert_msg(strstr(detail, mistake->message) != NULL, "%s", detail);
    ck_assert_ptr_null(pl_coll_rules(PL_COLL_SCAN, &count));
    ck_assert_int_eq(count, 0);
}
END_TEST

START_TEST(test_not_there)
{
    setenv("PLENUM_COLL_TABLE", "/nowhere/table.json", 1);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_int_eq(pl_coll_rules_open(), MPI_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "/nowhere/table.json: cannot be opened"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rules_file");
    TCase *tcase = unit_case(suite);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_replaces);
    tcase_add_test(tcase, test_fits);
    tcase_add_loop_test(tcase, test_mistakes, 0, sizeof mistakes / sizeof *mistakes);
    tcase_add_test(tcase, test_not_there);
    return unit_end(suite);
}
