/* SPDX-License-Identifier: BSD-3-Clause */
/* A host of runtimes, for the launcher's tests: a keeper that can take nothing and has much to say, a pipe of notes
 * into which a process writes nonsense without end. Arguments as in runtime_user.c. */
#include "embedder.h"

#include <sys/resource.h>

enum { JOBS = 600 /* more than the keeper's socket takes reports of */ };

static struct plenum_job *launch_quiet(struct plenum_runtime *rt, const char *script, int null)
{
    struct plenum_job *job = new_job(rt, 1, script);
    EXPECT(plenum_job_redirect(job, PLENUM_ALL, 1, null) == PLENUM_OK);
    EXPECT(plenum_job_redirect(job, PLENUM_ALL, 2, null) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    return job;
}

static pid_t find_keeper(void)
{
    char path[64];
    int keeper = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    EXPECT(children && fscanf(children, "%d", &keeper) == 1 && keeper > 0);
    fclose(children);
    return keeper;
}

/* Each of them fails, since the keeper can have no more descriptors. Each is reported, though no thread listens yet. */
static void part_full(void)
{
    struct plenum_runtime *rt;
    struct rlimit before, none;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), code;
    EXPECT(null >= 0 && plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *first = launch_quiet(rt, "exit 0", null); /* when it has ended the keeper is all there */
    EXPECT(plenum_job_wait(first, 60000, &code) == PLENUM_OK && code == 0);
    pid_t keeper = find_keeper();
    EXPECT(prlimit(keeper, RLIMIT_NOFILE, NULL, &before) == 0);
    none = (struct rlimit){ 4, before.rlim_max };
    EXPECT(prlimit(keeper, RLIMIT_NOFILE, &none, NULL) == 0);
    for (int i = 0; i < JOBS; i++)
        plenum_job_close(launch_quiet(rt, "exit 0", null));
    struct totals all = follow(rt, JOBS + 1);
    EXPECT(all.exited == 1 && all.code == 1, "%d ran, code %d", all.exited, all.code);
    EXPECT(prlimit(keeper, RLIMIT_NOFILE, &before, NULL) == 0);
    struct plenum_job *last = launch_quiet(rt, "exit 3", null);
    EXPECT(plenum_job_wait(last, 60000, &code) == PLENUM_OK && code == 3, "code %d", code);
    plenum_job_close(first);
    plenum_job_close(last);
    plenum_runtime_close(rt);
    close(null);
}

static _Atomic int notes = -1; /* what the flood goes into */

static void *flood(void *arg)
{
    static const char nonsense[65536];
    while (notes >= 0)
        EXPECT(write(notes, nonsense, sizeof nonsense) != 0);
    return arg;
}

/* The write end of the one pipe whose both ends this process has. */
static int find_notes(void)
{
    for (int fd = 0; fd < 256; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY && fd > 2)
            return fd;
    }
    return -1;
}

static void part_flood(void)
{
    struct plenum_runtime *rt;
    pthread_t thread;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), code;
    EXPECT(null >= 0 && plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 1, "sleep 1000");
    EXPECT(plenum_job_redirect(job, PLENUM_ALL, 1, null) == PLENUM_OK);
    EXPECT(plenum_job_redirect(job, PLENUM_ALL, 2, null) == PLENUM_OK);
    EXPECT(plenum_job_set(job, PLENUM_JOB_TIME_LIMIT, 100) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    notes = find_notes();
    EXPECT(notes >= 0);
    EXPECT(pthread_create(&thread, NULL, flood, NULL) == 0);
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 124, "code %d", code);
    notes = -1;
    pthread_join(thread, NULL);
    plenum_job_close(job);
    plenum_runtime_close(rt);
    close(null);
}

PARTS_MAIN({ "full", part_full }, { "flood", part_flood })
