/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published names without a server: each once, the most recent of several runtimes, gone with the process that
 * published them, and not from a child that inherits the file.
 */
#include "unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/base/config.h"
#include "core/engine/instance.h"
#include "core/job/process.h"
#include "core/job/services.h"
#include "core/job/services_file.h"

static char name[64];

static struct pl_instance *open_instance(void)
{
    struct pl_instance *instance;
    snprintf(name, sizeof name, "unit test of names %d", (int)getpid());
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
    ck_assert_int_eq(pl_instance_open(false, MPI_THREAD_SINGLE, "", NULL, &instance), MPI_SUCCESS);
    return instance;
}

START_TEST(once)
{
    struct pl_instance *instance = open_instance();
    char value[PL_SERVICE_VALUE_MAX], many[80], longest[PL_SERVICE_NAME_MAX + 1];
    ck_assert_int_eq(pl_services_find(name, false, 0, value), MPI_ERR_NAME);
    ck_assert_int_eq(pl_services_publish(name, "one", false), MPI_SUCCESS);
    ck_assert_int_eq(pl_services_publish(name, "two", false), MPI_ERR_SERVICE);
    ck_assert_int_eq(pl_services_find(name, true, 0, value), MPI_SUCCESS);
    ck_assert_str_eq(value, "one");
    ck_assert_int_eq(pl_services_withdraw(name, "two"), MPI_ERR_SERVICE);
    for (int i = 0; i < 40; i++) {
        snprintf(many, sizeof many, "%s, %d", name, i);
        ck_assert_int_eq(pl_services_publish(many, many, i % 2), MPI_SUCCESS);
    }
    ck_assert_int_eq(pl_services_withdraw(name, "one"), MPI_SUCCESS);
    ck_assert_int_eq(pl_services_withdraw(name, "one"), MPI_ERR_SERVICE);
    ck_assert_int_eq(pl_services_find(name, false, 10, value), MPI_ERR_NAME);
    ck_assert_int_eq(pl_services_find(many, false, 0, value), MPI_SUCCESS);
    ck_assert_str_eq(value, many);
    memset(longest, 'x', PL_SERVICE_NAME_MAX);
    longest[PL_SERVICE_NAME_MAX] = '\0';
    ck_assert_int_eq(pl_services_publish(longest, "one", false), MPI_ERR_SERVICE);
    longest[PL_SERVICE_NAME_MAX - 1] = '\0';
    ck_assert_int_eq(pl_services_publish(longest, "one", false), MPI_SUCCESS);
    ck_assert_int_eq(pl_services_find(longest, false, 0, value), MPI_SUCCESS);
    pl_instance_close(instance);

    instance = open_instance(); /* a new life has none of them */
    ck_assert_int_eq(pl_services_find(many, false, 0, value), MPI_ERR_NAME);
    pl_instance_close(instance);
}
END_TEST

/* A process that does what `act` does, and then waits to be killed; returns when it waits. */
static pid_t another(void (*act)(void))
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        act();
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void publish(void)
{
    char given[sizeof name];
    memcpy(given, name, sizeof name);
    open_instance();
    memcpy(name, given, sizeof name);
    if (pl_services_publish(name, "the other's", false) != MPI_SUCCESS)
        _exit(1);
}

static void nothing(void)
{
}

START_TEST(goes_with_its_process)
{
    char value[PL_SERVICE_VALUE_MAX];
    snprintf(name, sizeof name, "unit test of names %d", (int)getpid());
    pid_t pid = another(publish);
    struct pl_instance *instance = open_instance();
    ck_assert_int_eq(pl_services_find(name, false, 0, value), MPI_SUCCESS);
    ck_assert_str_eq(value, "the other's");
    ck_assert_int_eq(pl_services_publish(name, "mine", false), MPI_ERR_SERVICE);
    end(pid);
    ck_assert_int_eq(pl_services_find(name, false, 0, value), MPI_ERR_NAME);
    ck_assert_int_eq(pl_services_publish(name, "mine", false), MPI_SUCCESS);

    pid = another(nothing); /* has the file */
    pl_instance_close(instance);
    instance = open_instance();
    ck_assert_int_eq(pl_services_find(name, false, 0, value), MPI_ERR_NAME);
    end(pid);
    pl_instance_close(instance);
}
END_TEST

/* As if it were of another runtime. */
static void add(uint64_t runtime, uint64_t ticket, bool restricted, const char *value)
{
    struct pl_service_entry entry = { .state = PL_SERVICE_PUBLISHED,
                                      .owner = (int32_t)getpid(),
                                      .ticket = ticket,
                                      .runtime = runtime,
                                      .restricted = restricted };
    int number;
    snprintf(entry.name, sizeof entry.name, "%s", name);
    snprintf(entry.value, sizeof entry.value, "%s", value);
    ck_assert_int_eq(pl_services_file_add(&entry, &number), MPI_SUCCESS);
}

START_TEST(runtimes)
{
    struct pl_instance *instance = open_instance();
    char value[PL_SERVICE_VALUE_MAX];
    add(77, 5, true, "not for others");
    ck_assert_int_eq(pl_services_find(name, false, 0, value), MPI_ERR_NAME);
    add(77, 20, false, "later");
    add(78, 10, false, "earlier");
    ck_assert_int_eq(pl_services_find(name, true, 0, value), MPI_ERR_NAME);
    ck_assert_int_eq(pl_services_find(name, false, 0, value), MPI_SUCCESS);
    ck_assert_str_eq(value, "later");
    ck_assert_int_eq(pl_services_publish(name, "near", true), MPI_SUCCESS);
    ck_assert_int_eq(pl_services_find(name, false, 0, value), MPI_SUCCESS);
    ck_assert_str_eq(value, "near");
    pl_instance_close(instance);
}
END_TEST

/* A name for which there is no room is an error, not SIGXFSZ, and the others stay. */
START_TEST(file_size_limit)
{
    struct pl_instance *instance = open_instance();
    struct rlimit before, two;
    char value[PL_SERVICE_VALUE_MAX], second[80], third[80];
    snprintf(second, sizeof second, "%s, second", name);
    snprintf(third, sizeof third, "%s, third", name);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    two = (struct rlimit){ 2 * sizeof(struct pl_service_entry), before.rlim_max };
    ck_assert_int_eq(pl_services_publish(name, "one", false), MPI_SUCCESS);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &two), 0);
    int second_result = pl_services_publish(second, "two", false),
        third_result = pl_services_publish(third, "3", false);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_eq(second_result, MPI_SUCCESS);
    ck_assert_int_eq(third_result, MPI_ERR_NO_MEM);
    ck_assert_int_eq(pl_services_find(name, false, 0, value), MPI_SUCCESS);
    ck_assert_int_eq(pl_services_find(second, false, 0, value), MPI_SUCCESS);
    ck_assert_str_eq(value, "two");
    ck_assert_int_eq(pl_services_find(third, false, 0, value), MPI_ERR_NAME);
    pl_instance_close(instance);
}
END_TEST

UNIT_MAIN("services", once, goes_with_its_process, runtimes, file_size_limit)
