/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says of processes: this one, children that have ended, with names that look like other fields. And a /proc
 * of other processes. */
#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/proc_stat.h"
#include "core/job/locator.h"
#include "plugins/inherited/rank_claim.h"

START_TEST(own)
{
    struct pl_proc_stat first, again;
    ck_assert_int_eq(pl_proc_stat_read(getpid(), &first), 0);
    ck_assert_int_eq(pl_proc_stat_read(getpid(), &again), 0);
    ck_assert_int_eq(first.state, 'R');
    ck_assert(first.started != 0 && first.started == again.started);
    ck_assert(!pl_proc_stat_is_zombie(&first));
    ck_assert(pl_inherited_process_lives(getpid()));
}
END_TEST

/* The name of a program may have brackets and spaces. */
START_TEST(ended)
{
    static const char *const names[] = { "plain", "a)b", "a) R (b", ") S 1", "(((", "Z" };
    struct pl_proc_stat stat;
    int ends[2];
    char told;
    siginfo_t info;
    ck_assert_int_eq(pipe(ends), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            prctl(PR_SET_NAME, names[i]);
            if (write(ends[1], "", 1) == 1)
                pause();
            _exit(1);
        }
        ck_assert_int_eq(read(ends[0], &told, 1), 1);
        ck_assert_int_eq(pl_proc_stat_read(pid, &stat), 0);
        ck_assert_msg(strchr("RS", stat.state) && stat.started, "%s: %c", names[i], stat.state);
        ck_assert(pl_inherited_process_lives(pid));
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        ck_assert_int_eq(pl_proc_stat_read(pid, &stat), 0);
        ck_assert_msg(pl_proc_stat_is_zombie(&stat), "%s: %c", names[i], stat.state);
        ck_assert_msg(!pl_inherited_process_lives(pid), "%s", names[i]);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        ck_assert(pl_proc_stat_is_absent(pl_proc_stat_read(pid, &stat)));
        ck_assert(!pl_inherited_process_lives(pid));
    }
    close(ends[0]);
    close(ends[1]);
}
END_TEST

static bool enter_pid_namespace(void)
{
    return unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
}

/* What is wrong in the first process of a pid namespace, whose pid is another's in /proc; or NULL. */
static const char *judge_other_proc(void)
{
    struct pl_locator self = pl_locator_self(), known = self;
    known.started = 1;
    if (pl_proc_is_own())
        return "/proc is its own";
    if (self.pid != getpid() || self.started != 0)
        return "a locator with the start of another process";
    return pl_locator_has_ended(&self) || pl_locator_has_ended(&known) ? "it has ended" : NULL;
}

/* A pid namespace with the /proc of another one: nothing is known of processes. Not where users may not make one. */
START_TEST(other_proc)
{
    int status = -1;
    const struct pl_locator here = pl_locator_self();
    ck_assert(pl_proc_is_own() && here.started != 0 && !pl_locator_has_ended(&here));
    pid_t outside = fork();
    if (outside == 0) {
        if (!enter_pid_namespace())
            _exit(0);
        pid_t first = fork();
        const char *wrong = first == 0 ? judge_other_proc() : NULL;
        if (wrong)
            fprintf(stderr, "%s\n", wrong);
        if (first == 0)
            _exit(wrong != NULL);
        _exit(first < 0 || waitpid(first, &status, 0) != first || status != 0);
    }
    ck_assert_int_eq(waitpid(outside, &status, 0), outside);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* Others may come and go. */
START_TEST(runnable)
{
    bool known = access("/proc/loadavg", R_OK) == 0;
    ck_assert_int_ge(pl_proc_runnable(), known);
}
END_TEST

/* The file may be longer than what the kernel gives at once. */
static long counted_oom_kills(void)
{
    char line[128];
    long count = 0;
    FILE *file = fopen("/proc/vmstat", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "oom_kill %ld", &count);
    if (file)
        fclose(file);
    return count;
}

START_TEST(oom_kills)
{
    long before = counted_oom_kills(), count = pl_proc_oom_kills();
    ck_assert_int_ge(count, before);
    ck_assert_int_le(count, counted_oom_kills());
}
END_TEST

UNIT_MAIN("proc_stat", own, ended, other_proc, runnable, oom_kills)
