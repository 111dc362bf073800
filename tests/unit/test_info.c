/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects and MPI_INFO_ENV, through the public functions, before anything is initialized. */
#include "fakes.h"

#include <limits.h>
#include <pthread.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/job/process.h"
#include "core/object/info.h"

static MPI_Info make(int pairs)
{
    MPI_Info info;
    char key[32], value[32];
    ck_assert_int_eq(MPI_Info_create(&info), MPI_SUCCESS);
    for (int i = 0; i < pairs; i++) {
        snprintf(key, sizeof key, "key%d", i);
        snprintf(value, sizeof value, "value %d", i);
        ck_assert_int_eq(MPI_Info_set(info, key, value), MPI_SUCCESS);
    }
    return info;
}

static void drop(MPI_Info *info)
{
    ck_assert_int_eq(MPI_Info_free(info), MPI_SUCCESS);
    ck_assert_ptr_eq(*info, MPI_INFO_NULL);
}

/* The value of a key, NULL if it is not set; both ways of getting it agree. */
static const char *value_of(MPI_Info info, const char *key)
{
    static char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag, flag_too, length_too;
    ck_assert_int_eq(MPI_Info_get_string(info, key, &length, value, &flag), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Info_get_valuelen(info, key, &length_too, &flag_too), MPI_SUCCESS);
    ck_assert_int_eq(flag, flag_too);
    if (!flag)
        return NULL;
    ck_assert_int_eq(length, (int)strlen(value) + 1);
    ck_assert_int_eq(length_too, (int)strlen(value));
    return value;
}

START_TEST(set_get_delete)
{
    fake_returning_errors();
    MPI_Info info = make(5);
    int count;
    char key[MPI_MAX_INFO_KEY];
    ck_assert_str_eq(value_of(info, "key3"), "value 3");
    ck_assert_ptr_null(value_of(info, "key9"));
    ck_assert_ptr_null(value_of(info, "KEY3"));
    ck_assert_int_eq(MPI_Info_set(info, "key1", "other"), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Info_delete(info, "key2"), MPI_SUCCESS);
    FAKE_EXPECT(MPI_Info_delete(info, "key2"), MPI_ERR_INFO_NOKEY,
                "MPI_Info_delete: info has no key \"key2\" (MPI_ERR_INFO_NOKEY)");
    ck_assert_int_eq(MPI_Info_set(info, "key2", ""), MPI_SUCCESS);
    ck_assert_str_eq(value_of(info, "key2"), "");
    ck_assert_int_eq(MPI_Info_get_nkeys(info, &count), MPI_SUCCESS);
    ck_assert_int_eq(count, 5);
    const char *order[] = { "key0", "key1", "key3", "key4", "key2" };
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(MPI_Info_get_nthkey(info, i, key), MPI_SUCCESS);
        ck_assert_str_eq(key, order[i]);
    }
    ck_assert_str_eq(value_of(info, "key1"), "other");
    drop(&info);
    ck_assert_int_eq(pl_object_count(PL_INFO), 0);
}
END_TEST

START_TEST(short_buffers)
{
    fake_returning_errors();
    MPI_Info info = make(0);
    char value[16];
    int length, flag;
    MPI_Info_set(info, "fish", "salmon");

    length = 0;
    ck_assert_int_eq(MPI_Info_get_string(info, "fish", &length, NULL, &flag), MPI_SUCCESS);
    ck_assert(flag && length == 7);
    strcpy(value, "unchanged");
    length = 4;
    ck_assert_int_eq(MPI_Info_get_string(info, "fish", &length, value, &flag), MPI_SUCCESS);
    ck_assert(flag && length == 7);
    ck_assert_str_eq(value, "sal");
    ck_assert_str_eq(value + 4, "anged");
    length = 1;
    MPI_Info_get_string(info, "fish", &length, value, &flag);
    ck_assert_str_eq(value, "");
    length = 5;
    strcpy(value, "unchanged");
    ck_assert_int_eq(MPI_Info_get_string(info, "fowl", &length, value, &flag), MPI_SUCCESS);
    ck_assert(!flag && length == 5);
    ck_assert_str_eq(value, "unchanged");
    ck_assert_int_eq(MPI_Info_get(info, "fish", 3, value, &flag), MPI_SUCCESS);
    ck_assert(flag);
    ck_assert_str_eq(value, "sal");
    ck_assert_int_eq(MPI_Info_get(info, "fish", 6, value, &flag), MPI_SUCCESS);
    ck_assert_str_eq(value, "salmon");
    ck_assert_int_eq(MPI_Info_get(info, "fowl", 6, value, &flag), MPI_SUCCESS);
    ck_assert(!flag);
    drop(&info);
}
END_TEST

START_TEST(limits)
{
    fake_returning_errors();
    MPI_Info info = make(0);
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1], got[MPI_MAX_INFO_KEY];
    memset(key, 'k', sizeof key);
    memset(value, 'v', sizeof value);
    key[MPI_MAX_INFO_KEY] = value[MPI_MAX_INFO_VAL] = '\0';
    ck_assert_int_eq(MPI_Info_set(info, key, "v"), MPI_ERR_INFO_KEY);
    ck_assert_int_eq(MPI_Info_delete(info, key), MPI_ERR_INFO_KEY);
    FAKE_EXPECT(
        MPI_Info_set(info, "k", value), MPI_ERR_INFO_VALUE,
        "MPI_Info_set: the value of key \"k\" has 1024 characters; at most 1023 are allowed (MPI_ERR_INFO_VALUE)");
    key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = '\0';
    ck_assert_int_eq(MPI_Info_set(info, key, value), MPI_SUCCESS);
    ck_assert_str_eq(value_of(info, key), value);
    ck_assert_int_eq(MPI_Info_get_nthkey(info, 0, got), MPI_SUCCESS);
    ck_assert_str_eq(got, key);
    drop(&info);
}
END_TEST

START_TEST(mistakes)
{
    fake_returning_errors();
    MPI_Info info = make(2), gone = make(1), stale = gone, null = MPI_INFO_NULL;
    char text[MPI_MAX_INFO_KEY];
    int n, flag, negative = -1;
    drop(&gone);
    FAKE_EXPECT(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY, "MPI_Info_set: key is empty (MPI_ERR_INFO_KEY)");
    FAKE_EXPECT(MPI_Info_set(info, NULL, "x"), MPI_ERR_INFO_KEY, "MPI_Info_set: key is NULL (MPI_ERR_INFO_KEY)");
    ck_assert_int_eq(MPI_Info_set(info, "x", NULL), MPI_ERR_INFO_VALUE);
    FAKE_EXPECT(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO,
                "MPI_Info_set: info is MPI_INFO_NULL (MPI_ERR_INFO)");
    ck_assert_int_eq(MPI_Info_set(stale, "a", "b"), MPI_ERR_INFO);
    ck_assert_int_eq(MPI_Info_free(&stale), MPI_ERR_INFO);
    ck_assert_int_eq(MPI_Info_free(&null), MPI_ERR_INFO);
    ck_assert_int_eq(MPI_Info_free(NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_create(NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_dup(info, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_dup((MPI_Info)&n, &gone), MPI_ERR_INFO);
    ck_assert_int_eq(MPI_Info_get_nkeys(info, NULL), MPI_ERR_ARG);
    FAKE_EXPECT(MPI_Info_get_nthkey(info, 2, text), MPI_ERR_ARG,
                "MPI_Info_get_nthkey: n is 2; info has 2 keys, counted from 0 (MPI_ERR_ARG)");
    ck_assert_int_eq(MPI_Info_get_nthkey(info, -1, text), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_get_nthkey(info, 0, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_get_string(info, "a", &negative, text, &flag), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_get_string(info, "a", NULL, text, &flag), MPI_ERR_ARG);
    n = 5;
    ck_assert_int_eq(MPI_Info_get_string(info, "a", &n, NULL, &flag), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_get(info, "a", -1, text, &flag), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_get(info, "a", 1, text, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Info_get_valuelen(info, "", &n, &flag), MPI_ERR_INFO_KEY);
    drop(&info);
}
END_TEST

START_TEST(duplicate)
{
    fake_returning_errors();
    MPI_Info info = make(20), copy;
    char key[MPI_MAX_INFO_KEY], key_too[MPI_MAX_INFO_KEY];
    ck_assert_int_eq(MPI_Info_dup(info, &copy), MPI_SUCCESS);
    MPI_Info_set(info, "key3", "changed");
    MPI_Info_delete(copy, "key19");
    for (int i = 0; i < 19; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_nthkey(copy, i, key_too);
        ck_assert_str_eq(key, key_too);
    }
    ck_assert_str_eq(value_of(copy, "key3"), "value 3");
    drop(&info);
    ck_assert_str_eq(value_of(copy, "key18"), "value 18");
    drop(&copy);
}
END_TEST

/* Wherever memory runs out, the call fails, nothing has changed and nothing leaks. */
START_TEST(out_of_memory)
{
    fake_returning_errors();
    MPI_Info info = make(3), copy;
    for (int n = 1;; n++) {
        pl_memory_fail_at(n);
        int err = MPI_Info_dup(info, &copy);
        bool failed = pl_memory_failed();
        pl_memory_fail_at(0);
        ck_assert_int_eq(err, failed ? MPI_ERR_NO_MEM : MPI_SUCCESS);
        if (!failed)
            break;
        ck_assert_int_eq(pl_object_count(PL_INFO), 1);
    }
    for (int n = 1; n <= 2; n++) {
        pl_memory_fail_at(n);
        ck_assert_int_eq(MPI_Info_set(info, "key1", "new"), MPI_ERR_NO_MEM);
        ck_assert_str_eq(value_of(info, "key1"), "value 1");
    }
    drop(&info);
    drop(&copy);
}
END_TEST

START_TEST(environment)
{
    fake_returning_errors();
    MPI_Info env = MPI_INFO_ENV, copy;
    struct utsname host;
    char directory[PATH_MAX];
    uname(&host);
    ck_assert_ptr_nonnull(getcwd(directory, sizeof directory));
    ck_assert_str_eq(value_of(env, "host"), host.nodename);
    ck_assert_str_eq(value_of(env, "arch"), host.machine);
    ck_assert_str_eq(value_of(env, "wdir"), directory);
    ck_assert_ptr_nonnull(strstr(value_of(env, "command"), "test_info"));
    ck_assert_ptr_null(value_of(env, "argv")); /* this test has no arguments */
    ck_assert_ptr_null(value_of(env, "maxprocs"));
    ck_assert_ptr_null(value_of(env, "soft"));

    FAKE_EXPECT(MPI_Info_set(env, "host", "x"), MPI_ERR_INFO,
                "MPI_Info_set: info is MPI_INFO_ENV, which cannot be changed (MPI_ERR_INFO)");
    ck_assert_int_eq(MPI_Info_delete(env, "host"), MPI_ERR_INFO);
    ck_assert_int_eq(MPI_Info_free(&env), MPI_ERR_INFO);
    ck_assert_ptr_eq(env, MPI_INFO_ENV);
    ck_assert_int_eq(MPI_Info_dup(env, &copy), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Info_set(copy, "host", "x"), MPI_SUCCESS);
    ck_assert_str_eq(value_of(env, "host"), host.nodename);
    drop(&copy);
}
END_TEST

START_TEST(create_env)
{
    fake_returning_errors();
    char *words[] = { "prog", "-n", "a b", NULL };
    char *silly = NULL;
    MPI_Info info;
    ck_assert_int_eq(MPI_Info_create_env(3, words, &info), MPI_SUCCESS);
    ck_assert_str_eq(value_of(info, "command"), "prog");
    ck_assert_str_eq(value_of(info, "argv"), "-n a b");
    ck_assert_int_eq(MPI_Info_set(info, "command", "mine"), MPI_SUCCESS);
    drop(&info);
    ck_assert_int_eq(MPI_Info_create_env(0, NULL, &info), MPI_SUCCESS);
    ck_assert_ptr_nonnull(strstr(value_of(info, "command"), "test_info"));
    drop(&info);
    ck_assert_int_eq(MPI_Info_create_env(5, &silly, &info), MPI_SUCCESS);
    drop(&info);
    ck_assert_int_eq(MPI_Info_create_env(0, NULL, NULL), MPI_ERR_ARG);
    /* Too long for a value: not set, rather than cut. */
    static char text[5000];
    memset(text, 'z', sizeof text - 1);
    char *long_words[] = { "prog", text, NULL };
    ck_assert_int_eq(MPI_Info_create_env(2, long_words, &info), MPI_SUCCESS);
    ck_assert_str_eq(value_of(info, "command"), "prog");
    ck_assert_ptr_null(value_of(info, "argv"));
    drop(&info);
}
END_TEST

/* With a launched World, MPI_INFO_ENV has the arguments of the launcher. */
START_TEST(environment_of_job)
{
    fake_returning_errors();
    static struct {
        struct pl_job_segment job;
        struct pl_job_app apps[2];
        char texts[64];
    } segment = { .texts = "\0solver\0-v in.mtx\0/data" };
    uint32_t text = offsetof(__typeof__(segment), texts);
    segment.job.apps = offsetof(__typeof__(segment), apps);
    segment.job.app_count = 2;
    segment.apps[0] = (struct pl_job_app){ .command = text + 8, .first = 0, .count = 2 };
    segment.apps[1] =
        (struct pl_job_app){ .command = text + 1, .argv = text + 8, .wdir = text + 18, .first = 2, .count = 3 };
    ck_assert_ptr_nonnull(value_of(MPI_INFO_ENV, "wdir"));

    pl_process.identity = (struct pl_identity){ .rank = 4, .size = 5, .job = &segment.job };
    pl_process.instances = 1; /* it is open */
    pl_world_state = PL_WORLD_INITIALIZED;
    ck_assert_str_eq(value_of(MPI_INFO_ENV, "command"), "solver");
    ck_assert_str_eq(value_of(MPI_INFO_ENV, "argv"), "-v in.mtx");
    ck_assert_str_eq(value_of(MPI_INFO_ENV, "wdir"), "/data");
    ck_assert_str_eq(value_of(MPI_INFO_ENV, "maxprocs"), "3");
    pl_world_state = PL_WORLD_FINALIZED;
    ck_assert_str_eq(value_of(MPI_INFO_ENV, "maxprocs"), "3");
}
END_TEST

/* --- seconds -------------------------------------------------------------------------------------------------- */

START_TEST(seconds)
{
    static const struct {
        const char *text;
        long milliseconds; /* -1: not a number */
    } texts[] = {
        { "0", 0 },           { "0.5", 500 },
        { "7", 7000 },        { "3.", 3000 },
        { "0.0001", 1 },      { "1.0010", 1001 },
        { "1.0011", 1002 },   { "1073741824", 1073741824000 },
        { "1073741825", -1 }, { "99999999999999999999999", -1 },
        { "", -1 },           { "-1", -1 },
        { ".5", -1 },         { "0,5", -1 },
        { "1e3", -1 },        { "5 ", -1 },
        { "nan", -1 },        { "1.5.", -1 },
    };
    struct pl_info *info = pl_info_create();
    long milliseconds = 17;
    ck_assert_int_eq(pl_info_seconds(NULL, "limit", &milliseconds), MPI_SUCCESS);
    ck_assert_int_eq(pl_info_seconds(info, "limit", &milliseconds), MPI_SUCCESS);
    ck_assert_int_eq(milliseconds, 17);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        milliseconds = -1;
        ck_assert_int_eq(pl_info_set(info, "limit", texts[i].text), MPI_SUCCESS);
        int rc = pl_info_seconds(info, "limit", &milliseconds);
        ck_assert_msg(milliseconds == texts[i].milliseconds, "\"%s\" is %ld", texts[i].text, milliseconds);
        ck_assert_int_eq(rc, milliseconds < 0 ? MPI_ERR_INFO_VALUE : MPI_SUCCESS);
    }
    pl_handle_drop(info);
}
END_TEST

/* --- threads ------------------------------------------------------------------------------------------------- */

static MPI_Info common;

static void *change(void *argument)
{
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    char key[16], value[64];
    for (int i = 0; i < 5000; i++) {
        int length = sizeof value, flag;
        snprintf(key, sizeof key, "k%d", unit_below(&seed, 8));
        snprintf(value, sizeof value, "%d", i);
        if (unit_below(&seed, 3) == 0)
            MPI_Info_delete(common, key);
        else
            MPI_Info_set(common, key, value);
        MPI_Info_get_string(common, key, &length, value, &flag);
        MPI_Info_get_string(MPI_INFO_ENV, "host", &length, value, &flag);
        MPI_Info copy;
        if (MPI_Info_dup(common, &copy) == MPI_SUCCESS)
            MPI_Info_free(&copy);
    }
    return NULL;
}

START_TEST(threads)
{
    fake_returning_errors();
    pthread_t thread[3];
    common = make(0);
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, change, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    int count, counted = 0;
    MPI_Info_get_nkeys(common, &count);
    for (int i = 0; i < 8; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        counted += value_of(common, key) != NULL;
    }
    ck_assert_int_eq(count, counted);
    drop(&common);
    ck_assert_int_eq(pl_object_count(PL_INFO), 0);
}
END_TEST

UNIT_MAIN("info", set_get_delete, short_buffers, limits, mistakes, duplicate, out_of_memory, environment, create_env,
          environment_of_job, seconds, threads)
