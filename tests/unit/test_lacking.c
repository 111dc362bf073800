/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes without shared memory are found by those of their job, as long as they live. */
#include "core/job/lacking.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char job[64], other[64];

static void name_jobs(void)
{
    snprintf(job, sizeof job, "unit test %d", (int)getpid());
    snprintf(other, sizeof other, "another %d", (int)getpid());
}

/* A process that tells, and lives until lacking_end(). */
static pid_t lacking_child(const char *name)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        pl_lacking_tell(name);
        ck_assert_int_eq(write(ready[1], "", 1), 1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void lacking_end(pid_t child)
{
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(test_found)
{
    name_jobs();
    ck_assert(!pl_lacking_ask(job, true));
    pid_t one = lacking_child(job);
    ck_assert(!pl_lacking_ask(other, true));
    ck_assert(pl_lacking_ask(job, true));
    lacking_end(one);
    ck_assert(pl_lacking_ask(job, false)); /* it is kept */
    pl_lacking_forget();
    ck_assert(!pl_lacking_ask(job, true));

    one = lacking_child(job);
    pid_t two = lacking_child(job);
    lacking_end(one);
    ck_assert(pl_lacking_ask(job, true));
    pl_lacking_forget();
    lacking_end(two);
    ck_assert(!pl_lacking_ask(job, true));
}
END_TEST

START_TEST(test_own)
{
    name_jobs();
    pl_lacking_tell(job);
    pl_lacking_tell(job);
    ck_assert(pl_lacking_ask(job, false));
    pl_lacking_forget();
    pl_lacking_forget();
    ck_assert(!pl_lacking_ask(job, true));
}
END_TEST

UNIT_MAIN("lacking", test_found, test_own)
