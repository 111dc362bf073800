/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of process sets, in a process of its own as rank 2 of 8. Checked are the sets of each
 * provider, files with every kind
 * of error and the position that is named, permanent numbers, clashes, lack of memory.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/job/process.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "sessions/psets/psets.h"
#include "sessions/psets/publish.h"
#include "sessions/psets/registry.h"
#include "sessions/psets/watch.h"
#include "sessions/session.h"
#include "unit.h"

enum { SIZE = 8, RANK = 2 };

static struct pl_instance *session;

static void write_file(const char *text)
{
    setenv("PLENUM_PSETS", unit_file(text), 1);
}

/* With a file of this text, or none. */
static void begin(const char *text)
{
    if (text)
        write_file(text);
    else
        unsetenv("PLENUM_PSETS");
    ck_assert_int_eq(pl_session_open(NULL, NULL, &session), MPI_SUCCESS);
    pl_process.identity.size = pl_process.identity.local_size = SIZE;
    pl_process.identity.rank = RANK;
    pl_group_self = pl_process_self();
}

static void end(void)
{
    pl_session_close(session);
}

static void expect(const char *name, const char *members)
{
    struct pl_group *group;
    char text[128] = "";
    ck_assert_msg(pl_psets_group(session, name, &group) == MPI_SUCCESS, "%s: %s", name, pl_error_detail(NULL));
    for (int i = 0; i < group->size; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d", PL_PROC_RANK(pl_group_proc(group, i)));
    ck_assert_msg(strcmp(text, members) == 0, "%s has \"%s\" instead of \"%s\"", name, text, members);
    pl_handle_drop(group);
}

static void expect_error(const char *name, int class, const char *said)
{
    struct pl_group *group;
    int rc = pl_psets_group(session, name, &group);
    ck_assert_msg(rc == class && strstr(pl_error_detail(NULL), said), "%.60s: %d, %s", name, rc,
                  rc ? pl_error_detail(NULL) : "");
}

START_TEST(without_a_file)
{
    int count = 0;
    begin(NULL);
    expect("mpi://WORLD", "01234567");
    expect("Mpi://world", "01234567");
    expect("mpi://SELF", "2");
    expect("mpi://self", "2");
    expect("plenum://node", "01234567");
    expect_error("mpi://world/", MPI_ERR_ARG, "no process set");
    expect_error("mpi://NOWHERE", MPI_ERR_ARG, "no process set");
    expect_error("app://x", MPI_ERR_ARG, "plenum-info psets");
    expect_error("world", MPI_ERR_ARG, "not a URI");
    expect_error("", MPI_ERR_ARG, "empty");
    expect_error("app://\n", MPI_ERR_ARG, "app://?");
    char longest[4096];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memcpy(longest, "app://", 6);
    expect_error(longest, MPI_ERR_ARG, "longer");
    ck_assert_int_eq(pl_psets_count(session, &count), MPI_SUCCESS);
    ck_assert_int_ge(count, 3);
    end();
}
END_TEST

START_TEST(expressions)
{
    begin("{ \"psets\": { \"a://low\": {\"ranks\": [3, \"0-1\", \"1,2\"]}, \"a://high\": {\"difference\": "
          "[\"mpi://WORLD\", \"A://low\"]},\n"
          " \"a://nest\": {\"union\": [{\"intersection\": [\"a://high\", {\"ranks\": \"5-\"}]}, \"mpi://SELF\", "
          "{\"ranks\": 7}]},\n"
          " \"a://minus\": {\"difference\": [{\"ranks\":\"0-\"}, {\"ranks\":[0]}, {\"ranks\":\"6-7\"}]},\n"
          " \"a://one\": {\"union\": [\"a://low\"]}, \"a://alias\": \"a://one\", \"a://empty\": {\"ranks\": []},\n"
          " \"a://here\": {\"hosts\": \"localhost\"}, \"a://there\": {\"hosts\": [\"localhost\", \"no.such.host\"]},\n"
          " \"a://lost\": {\"union\": [\"mpi://SELF\",\n \"a://nobody\"]} } }");
    expect("a://low", "3012");
    expect("a://high", "4567");
    expect("a://nest", "5672");
    expect("a://minus", "12345");
    expect("a://one", "3012");
    expect("A://ALIAS", "3012");
    expect("a://empty", "");
    expect("a://here", "01234567");
    expect_error("a://there", MPI_ERR_ARG,
                 ":5: psets/a:~1~1there/hosts/1: no process of the job runs on host \"no.such.host\"");
    expect_error("a://lost", MPI_ERR_ARG, ":7: psets/a:~1~1lost/union/1: there is no process set \"a://nobody\"");
    expect("a://low", "3012");
    end();
}
END_TEST

static const struct {
    const char *text, *said;
} wrong[] = {
    { "{ \"psets\": {", ":1: column" },
    { "[]", ":1: the top-level value must be an object" },
    { "{}", ":1: \"psets\" must be an object" },
    { "{ \"psets\": [] }", ":1: psets: \"psets\" must be an object" },
    { "{ \"psets\": {},\n\"more\": 1 }", ":2: more: this key is not known; allowed are psets" },
    { "{ \"psets\": {\n\"ocean\": {\"ranks\": 0} } }", ":2: psets/ocean: \"ocean\" is not a process set name" },
    { "{ \"psets\": {\n\"a://b c\": {\"ranks\": 0} } }", "character" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": 0},\n\"A://X\": {\"ranks\": 0} } }",
      ":2: psets/A:~1~1X: the file already has this set, as \"a://x\"" },
    { "{ \"psets\": { \"mpi://WORLD\": {\"ranks\": 0} } }", "the name belongs to the provider builtin" },
    { "{ \"psets\": { \"mpi://new\": {\"ranks\": 0} } }", "the name belongs to the provider builtin" },
    { "{ \"psets\": { \"hwloc://PU/0\": {\"ranks\": 0} } }", "the name belongs to the provider hwloc" },
    { "{ \"psets\": { \"plenum://x\": {\"ranks\": 0} } }", "the name belongs to the provider node" },
    { "{ \"psets\": { \"a://x\": 3 } }", ":1: psets/a:~1~1x: a set must be the name of another one, or {}" },
    { "{ \"psets\": { \"a://x\": {} } }", "this one has 0" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": 0, \"hosts\": \"h\"} } }", "this one has 2" },
    { "{ \"psets\": { \"a://x\": {\"rank\": 0} } }", "a:~1~1x/rank: this key is not known" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": [0,\n1,\n8]} } }",
      ":3: psets/a:~1~1x/ranks/2: rank 8 is not in the job: it has 8 processes, 0 to 7" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": -1} } }", "rank -1 is not in the job" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": 4294967296} } }", "rank 4294967296 is not in the job" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": 9223372036854775807} } }", "is not in the job" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": 1.5} } }", "ranks must be a number" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": \"3-1\"} } }", "3-1 runs backwards" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": \"9-\"} } }", "rank 9 is not in the job: it has 8 processes, 0 to 7" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": \"0,8-\"} } }", "rank 8 is not in the job: it has 8 processes, 0 to 7" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": \"\"} } }", "is not a list of ranks" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": \"1,\"} } }", "is not a list of ranks" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": \"1-2-3\"} } }", "is not a list of ranks" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": \" 1\"} } }", "is not a list of ranks" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": \"99999999999999999999\"} } }", "is not a list of ranks" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": [[0]]} } }", "a list of ranks must not contain lists" },
    { "{ \"psets\": { \"a://x\": {\"hosts\": [1]} } }", "a host must be a string" },
    { "{ \"psets\": { \"a://x\": {\"hwloc\": 1} } }", "\"hwloc\" must be a string such as" },
    { "{ \"psets\": { \"a://x\": {\"hwloc\": \"a b\"} } }", "character" },
    { "{ \"psets\": { \"a://x\": {\"union\": []} } }", "this must be a list of sets" },
    { "{ \"psets\": { \"a://x\": {\"union\": \"a://y\"} } }", "this must be a list of sets" },
    { "{ \"psets\": { \"a://x\": {\"union\": [\"y\"]} } }", "\"y\" is not a process set name" },
    { "{ \"psets\": { \"a://x\": {\"union\": [\"a://y\", {\"ranks\": 0}, 4]} } }",
      "a:~1~1x/union/2: a set must be the name" },
    { "{ \"psets\": { \"a://x\": \"a://x\" } }", ":1: psets/a:~1~1x: a cycle: \"a://x\" refers to itself" },
    { "{ \"psets\": { \"a://x\": \"a://y\",\n\"a://y\": {\"union\": [{\"ranks\": 0}, \"A://z\"]},\n\"a://z\": "
      "{\"difference\": [\"a://x\"]} } }",
      ":3: psets/a:~1~1z/difference/0: a cycle: \"a://x\" refers to itself" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": 0, \"info\": []} } }", "info must be an object of strings" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": 0, \"info\": {\"k\": 1}} } }", "info/k: info must have strings" },
    { "{ \"psets\": { \"a://x\": {\"ranks\": 0, \"info\": {\"mpi_size\": \"9\"}} } }",
      "info/mpi_size: keys that begin with mpi_" },
};

/* Only a query for these sets fails, each time, and the session works on. */
START_TEST(wrong_files)
{
    char place[256];
    int count;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin(wrong[i].text);
        snprintf(place, sizeof place, "%s:", getenv("PLENUM_PSETS"));
        expect("mpi://WORLD", "01234567");
        expect("mpi://self", "2");
        for (int again = 0; again < 2; again++) {
            ck_assert_msg(pl_psets_count(session, &count) == MPI_ERR_ARG, "taken: %s", wrong[i].text);
            ck_assert_msg(strncmp(pl_error_detail(NULL), place, strlen(place)) == 0, "%s", pl_error_detail(NULL));
            ck_assert_msg(strstr(pl_error_detail(NULL), wrong[i].said), "%s: %s", wrong[i].text, pl_error_detail(NULL));
            expect_error("a://x", MPI_ERR_ARG, wrong[i].said);
        }
        expect("mpi://WORLD", "01234567");
        end();
    }
}
END_TEST

START_TEST(no_such_file)
{
    int count;
    setenv("PLENUM_PSETS", "/nonexistent/psets.json", 1);
    ck_assert_int_eq(pl_session_open(NULL, NULL, &session), MPI_SUCCESS);
    ck_assert_int_eq(pl_psets_count(session, &count), MPI_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "/nonexistent/psets.json: cannot be opened"));
    pl_session_close(session);
}
END_TEST

/* Deep nesting, long chains, and sets that double at every step end in an error, not in a full stack or never. */
START_TEST(hostile_files)
{
    char *text = malloc(1 << 20), *at = text;
    int count;
    at += sprintf(at, "{ \"psets\": { \"a://x\": ");
    for (int i = 0; i < 600; i++)
        at += sprintf(at, "{\"union\": [");
    at += sprintf(at, "\"mpi://SELF\"");
    for (int i = 0; i < 600; i++)
        at += sprintf(at, "]}");
    sprintf(at, "}}");
    begin(text);
    ck_assert_int_eq(pl_psets_count(session, &count), MPI_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(pl_error_detail(NULL), "deeper than"));
    end();

    at = text + sprintf(text, "{ \"psets\": { \"a://0\": \"mpi://SELF\"");
    for (int i = 1; i < 5000; i++)
        at += sprintf(at, ",\n\"a://%d\": \"a://%d\"", i, i - 1);
    sprintf(at, "}}");
    begin(text);
    ck_assert_int_eq(pl_psets_count(session, &count),
                     MPI_SUCCESS); /* each is followed by the next, so none is deep to check */
    expect("a://20", "2");
    expect_error("a://4999", MPI_ERR_ARG, "deeper than");
    end();

    at = text + sprintf(text, "{ \"psets\": { \"a://0\": \"mpi://SELF\"");
    for (int i = 1; i < 15; i++)
        at += sprintf(at, ",\n\"a://%d\": {\"union\": [\"a://%d\", \"a://%d\", \"a://%d\", \"a://%d\"]}", i, i - 1,
                      i - 1, i - 1, i - 1);
    sprintf(at, "}}");
    begin(text);
    expect("a://5", "2");
    expect_error("a://14", MPI_ERR_ARG, "steps");
    end();
    free(text);
}
END_TEST

START_TEST(numbers_stay)
{
    const char *name;
    int before, after;
    struct pl_group *self;
    begin(NULL);
    ck_assert_int_eq(pl_psets_group(session, "mpi://SELF", &self), MPI_SUCCESS);
    pl_handle_drop(self);
    self = pl_instance_group_range(session, 1, PL_PROC(0, 0), 1);
    ck_assert_int_eq(pl_psets_count(session, &before), MPI_SUCCESS);
    ck_assert_int_eq(pl_psets_publish(session, "app://one", self), MPI_SUCCESS);
    ck_assert_int_eq(pl_psets_publish(session, "app://two", self), MPI_SUCCESS);
    ck_assert_int_eq(pl_psets_count(session, &after), MPI_SUCCESS);
    ck_assert_int_eq(after, before + 2);
    ck_assert_int_eq(pl_psets_publish(session, "app://one", NULL), MPI_SUCCESS);
    ck_assert_int_eq(pl_psets_count(session, &after), MPI_SUCCESS);
    ck_assert_int_eq(after, before + 2);
    ck_assert_int_eq(pl_psets_name(session, before, &name), MPI_SUCCESS);
    ck_assert_str_eq(name, "app://one");
    ck_assert_int_eq(pl_psets_name(session, before + 1, &name), MPI_SUCCESS);
    ck_assert_str_eq(name, "app://two");
    expect_error("app://one", MPI_ERR_ARG, "no process set");
    ck_assert_int_eq(pl_psets_name(session, -1, &name), MPI_ERR_ARG);
    ck_assert_int_eq(pl_psets_name(session, after, &name), MPI_ERR_ARG);
    ck_assert_int_eq(pl_psets_publish(session, "app://two", NULL), MPI_SUCCESS);
    pl_handle_drop(self);
    end();
}
END_TEST

START_TEST(short_of_memory)
{
    static const char text[] =
        "{ \"psets\": { \"a://x\": {\"union\": [{\"ranks\": \"0-3\"}, \"mpi://SELF\"], \"info\": {\"k\": \"v\"}} } }";
    bool failed = true;
    for (long n = 1; failed; n++) {
        struct pl_info *info = NULL;
        struct pl_group *group = NULL;
        int count;
        begin(text);
        pl_memory_fail_at(n);
        int first = pl_psets_info(session, "a://x", &info), second = pl_psets_group(session, "a://x", &group);
        int third = pl_psets_count(session, &count);
        failed = pl_memory_failed();
        pl_memory_fail_at(0);
        ck_assert(failed || (first == MPI_SUCCESS && second == MPI_SUCCESS && third == MPI_SUCCESS));
        if (first == MPI_SUCCESS)
            pl_handle_drop(info);
        if (second == MPI_SUCCESS)
            pl_handle_drop(group);
        end();
    }
}
END_TEST

UNIT_MAIN("psets", without_a_file, expressions, wrong_files, no_such_file, hostile_files, numbers_stay, short_of_memory)
