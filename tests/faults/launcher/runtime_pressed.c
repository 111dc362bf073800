/* SPDX-License-Identifier: BSD-3-Clause */
/* A host of runtimes, for the launcher's tests: a keeper that can take nothing and has much to say, a pipe of notes
 * into which a process writes nonsense without end. Output is held back, on this machine and on hosts. Arguments as in
 * runtime_user.c. */
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

/* --- output that is held ------------------------------------------------------------------------------------- */

enum { HELD = 2 }; /* ranks; one on each host */

/* What each rank has printed, as the events tell it. */
struct heard {
    char text[HELD][64];
    int finished;
};

static void hear(struct plenum_runtime *rt, struct heard *heard)
{
    struct plenum_event *e;
    struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
    poll(&p, 1, 5);
    while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e) {
        if (e->kind == PLENUM_EVENT_OUTPUT)
            strncat(heard->text[e->rank], e->text, sizeof heard->text[0] - 1 - strlen(heard->text[e->rank]));
        heard->finished += e->kind == PLENUM_EVENT_FINISHED;
        plenum_event_free(e);
    }
}

static void expect_heard(const struct heard *heard, const char *wanted)
{
    for (int r = 0; r < HELD; r++)
        EXPECT(strcmp(heard->text[r], wanted) == 0, "\"%s\" of rank %d", heard->text[r], r);
}

/* Until each rank has made its file of this name. */
static void await_files(struct plenum_runtime *rt, const char *name, struct heard *heard)
{
    for (int r = 0; r < HELD; r++) {
        char file[32];
        snprintf(file, sizeof file, "%s.%d", name, r);
        while (access(file, F_OK) != 0)
            hear(rt, heard);
        EXPECT(unlink(file) == 0);
    }
}

static void await_text(struct plenum_runtime *rt, const char *wanted, struct heard *heard)
{
    for (int r = 0; r < HELD; r++)
        while (strlen(heard->text[r]) < strlen(wanted))
            hear(rt, heard);
    expect_heard(heard, wanted);
}

static void make_file(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    EXPECT(fd >= 0);
    close(fd);
}

/* Held before the launch, let go, held again: what comes then is told once the ranks have ended. */
static void hold(struct plenum_runtime *rt)
{
    struct heard heard = { .finished = 0 };
    struct plenum_job *job = new_job(rt, HELD,
                                     "echo a; : >a.$PLENUM_RANK; while ! [ -e go ]; do sleep 0.01; done;"
                                     "echo b; : >b.$PLENUM_RANK; while [ -e go ]; do sleep 0.01; done; echo c");
    EXPECT(plenum_job_hold_output(job, 1) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    await_files(rt, "a", &heard);
    for (int round = 0; round < 20; round++)
        hear(rt, &heard);
    expect_heard(&heard, "");
    EXPECT(plenum_job_hold_output(job, 0) == PLENUM_OK);
    await_text(rt, "a\n", &heard);
    EXPECT(plenum_job_hold_output(job, 1) == PLENUM_OK);
    for (int round = 0; round < 20; round++) /* an agent has heard of it, too */
        hear(rt, &heard);
    make_file("go");
    await_files(rt, "b", &heard);
    for (int round = 0; round < 20; round++)
        hear(rt, &heard);
    expect_heard(&heard, "a\n");
    EXPECT(unlink("go") == 0);
    while (!heard.finished)
        hear(rt, &heard);
    expect_heard(&heard, "a\nb\nc\n");
    plenum_job_close(job);
}

static void part_hold(void)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    hold(rt);
    EXPECT(plenum_runtime_host_add(rt, "alpha", 1, "") == PLENUM_OK);
    EXPECT(plenum_runtime_host_add(rt, "beta", 1, "") == PLENUM_OK);
    hold(rt);
    plenum_runtime_close(rt);
}

PARTS_MAIN({ "full", part_full }, { "flood", part_flood }, { "hold", part_hold })
