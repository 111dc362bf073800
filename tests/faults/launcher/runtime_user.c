/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that embeds libplenum. Each argument names a part to run. The program prints an error and exits with 1, or
 * prints nothing and exits with 0.
 */
#include "embedder.h"

/* --- parts ------------------------------------------------------------------------------------------------- */

static void cycle(bool pmix)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 2, "echo hello");
    EXPECT(plenum_job_set(job, PLENUM_JOB_PMIX, pmix) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    struct totals t = follow(rt, 1);
    EXPECT(t.started == 1 && t.exited == 2 && t.bytes == 12 && t.code == 0);
    plenum_job_close(job);
    plenum_runtime_close(rt);
}

static void cycles(bool pmix, int count, int slack)
{
    for (int i = 0; i < 5; i++)
        cycle(pmix);
    struct size before = measure();
    for (int i = 0; i < count; i++)
        cycle(pmix);
    struct size after = measure();
    EXPECT(after.descriptors == before.descriptors, "%d, then %d", before.descriptors, after.descriptors);
    EXPECT(after.threads == before.threads, "%d, then %d", before.threads, after.threads);
    EXPECT(after.mappings <= before.mappings + slack, "%d, then %d", before.mappings, after.mappings);
}

static void part_cycles(void)
{
    cycles(false, 100, 2);
}

static void part_cycles_pmix(void)
{
    cycles(true, 20, 20); /* the PMIx library's own heap may grow */
}

/* Many jobs at once on one runtime, then many one after the other. */
static void part_many(void)
{
    enum { JOBS = 60 };
    struct plenum_runtime *rt;
    struct plenum_job *job[JOBS];
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *first = new_job(rt, 1, "exit 0");
    EXPECT(plenum_job_launch(first) == PLENUM_OK);
    follow(rt, 1);
    plenum_job_close(first);
    struct size before = measure();
    for (int i = 0; i < JOBS; i++) {
        job[i] = new_job(rt, 1 + i % 3, "echo hello");
        EXPECT(plenum_job_launch(job[i]) == PLENUM_OK);
        if (i % 2)
            plenum_job_close(job[i]); /* it goes on */
    }
    struct totals t = follow(rt, JOBS);
    EXPECT(t.started == JOBS && t.exited == 2 * JOBS && t.bytes == 12 * JOBS && t.code == 0);
    for (int i = 0; i < JOBS; i += 2) {
        EXPECT(plenum_job_wait(job[i], 0, NULL) == PLENUM_OK);
        plenum_job_close(job[i]);
    }
    for (int i = 0; i < 100; i++) {
        struct plenum_job *one = new_job(rt, 1, "exit 3");
        int code = -1;
        EXPECT(plenum_job_launch(one) == PLENUM_OK);
        EXPECT(plenum_job_wait(one, -1, &code) == PLENUM_OK && code == 3);
        plenum_job_close(one);
    }
    t = follow(rt, 100);
    EXPECT(t.exited == 100);
    EXPECT(measure().descriptors == before.descriptors);
    plenum_runtime_close(rt);
}

/* Threads share one runtime: some wait for their jobs, one takes the events. */
static _Atomic bool enough;

static void *take_events(void *arg)
{
    struct plenum_runtime *rt = arg;
    while (!enough) {
        struct plenum_event *e;
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        poll(&p, 1, 20);
        while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e)
            plenum_event_free(e);
    }
    return NULL;
}

static void *run_jobs(void *arg)
{
    struct plenum_runtime *rt = arg;
    for (int i = 0; i < 15; i++) {
        int code = -1;
        struct plenum_job *job = new_job(rt, 2, i % 3 ? "echo x; exit 0" : "sleep 100");
        EXPECT(plenum_job_launch(job) == PLENUM_OK);
        if (i % 3 == 0)
            EXPECT(plenum_job_cancel(job) == PLENUM_OK);
        EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK);
        EXPECT(code == (i % 3 ? 0 : 128 + SIGTERM), "code %d", code);
        plenum_job_close(job);
    }
    return NULL;
}

static void *own_runtime(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++)
        cycle(false);
    return NULL;
}

static void part_threads(void)
{
    struct plenum_runtime *rt;
    pthread_t thread[6];
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, run_jobs, rt);
    for (int i = 3; i < 5; i++)
        pthread_create(&thread[i], NULL, own_runtime, NULL);
    pthread_create(&thread[5], NULL, take_events, rt);
    for (int i = 0; i < 5; i++)
        pthread_join(thread[i], NULL);
    enough = true;
    pthread_join(thread[5], NULL);
    plenum_runtime_close(rt);
}

/* Two runtimes share the PMIx server, and the one that opened it goes first. */
static void part_two(void)
{
    struct plenum_runtime *first, *second;
    struct plenum_job *job[2];
    EXPECT(plenum_runtime_open(&first) == PLENUM_OK && plenum_runtime_open(&second) == PLENUM_OK);
    job[0] = new_job(first, 2, "exit 0");
    job[1] = new_job(second, 2, "sleep 0.3; exit 5");
    for (int i = 0; i < 2; i++) {
        EXPECT(plenum_job_set(job[i], PLENUM_JOB_PMIX, 1) == PLENUM_OK);
        EXPECT(plenum_job_launch(job[i]) == PLENUM_OK);
    }
    EXPECT(follow(first, 1).code == 0);
    plenum_runtime_close(first);
    EXPECT(follow(second, 1).code == 5);
    plenum_runtime_close(second);
}

/* Wrong calls are refused with a reason and change nothing. */
static void part_wrong(void)
{
    struct plenum_runtime *rt;
    struct plenum_job *job;
    int code, program;
    const char *const none[] = { NULL }, *const missing[] = { "no-such-program", NULL };
    const char *const ok[] = { "true", NULL };
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_wait(job, 0, &code) == PLENUM_ERR_STATE);
    EXPECT(plenum_job_cancel(job) == PLENUM_ERR_STATE);
    EXPECT(plenum_job_signal(job, 0, SIGTERM) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_add_program(job, 0, ok, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_add_program(job, 1 << 30, ok, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_add_program(job, 1, none, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_add_program(job, 2, ok, &program) == PLENUM_OK && program == 0);
    EXPECT(plenum_job_env(job, 1, "A", "b") == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_env(job, 0, "A=", "b") == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset(job, "app://x", (const int[][2]){ { 1, 0 } }, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset(job, "app://x", NULL, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset(job, "MPI://self", (const int[][2]){ { 0, 0 } }, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_redirect(job, 0, 3, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_redirect(job, 0, 1, 12345) == PLENUM_ERR_SYSTEM);
    EXPECT(plenum_job_set(job, (enum plenum_job_option)99, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_set(job, PLENUM_JOB_GRACE, -1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_set(job, PLENUM_JOB_KEEP_GOING, 2) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_wdir(job, 0, "/no/such/directory") == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_WDIR && strstr(plenum_error(), "/no/such/directory"));
    EXPECT(plenum_job_wdir(job, 0, "/") == PLENUM_OK); /* mended */
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_STATE);
    EXPECT(plenum_job_env(job, 0, "A", "b") == PLENUM_ERR_STATE);
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 0);
    EXPECT(plenum_job_signal(job, 0, SIGTERM) == PLENUM_ERR_STATE);
    EXPECT(plenum_job_cancel(job) == PLENUM_OK);
    plenum_job_close(job);
    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK);
    EXPECT(plenum_job_add_program(job, 2, missing, NULL) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_NOT_FOUND);
    plenum_job_close(job);
    plenum_job_close(NULL);
    plenum_event_free(NULL);
    plenum_runtime_close(NULL);
    plenum_runtime_close(rt);
}

/* NULL where something is needed is an argument like others that are wrong. */
static void part_null(void)
{
    struct plenum_runtime *rt;
    struct plenum_job *job;
    EXPECT(plenum_runtime_open(NULL) == PLENUM_ERR_ARGUMENT && plenum_runtime_fd(NULL) == -1);
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_job_create(NULL, &job) == PLENUM_ERR_ARGUMENT && strstr(plenum_error(), "the runtime is NULL"));
    EXPECT(plenum_job_create(rt, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_create_json(NULL, "{\"argv\": [\"true\"]}", &job) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_create_json(rt, NULL, &job) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_create_json(rt, "{}", NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_next_event(NULL, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_next_event(rt, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_set(NULL, PLENUM_RUNTIME_SLOTS, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_add_program(NULL, 1, NULL, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_env(NULL, 0, "A", "b") == PLENUM_ERR_ARGUMENT &&
           plenum_job_env_clear(NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_launch(NULL) == PLENUM_ERR_ARGUMENT && plenum_job_wait(NULL, 0, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_cancel(NULL) == PLENUM_ERR_ARGUMENT && plenum_job_report(NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_signal(NULL, 0, SIGTERM) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(NULL, "app://x", NULL, 0) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_withdraw(NULL, "app://x") == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK);
    EXPECT(plenum_job_add_program(job, 1, NULL, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_add_program(job, 1, (const char *const[]){ "true", NULL }, NULL) == PLENUM_OK);
    EXPECT(plenum_job_wdir(job, 0, NULL) == PLENUM_ERR_ARGUMENT && plenum_job_wdir(job, 0, "") == PLENUM_ERR_ARGUMENT &&
           plenum_job_path(job, 0, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_redirect_file(job, 0, 1, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset(job, NULL, NULL, 0) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_launch(job) == PLENUM_OK && plenum_job_wait(job, 60000, NULL) == PLENUM_OK);
    plenum_job_close(job);
    plenum_runtime_close(rt);
}

/* Waiting with a time limit; ending what does not want to end. */
static void part_wait(void)
{
    struct plenum_runtime *rt;
    int code;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 2, "trap '' TERM; while :; do sleep 1; done");
    EXPECT(plenum_job_set(job, PLENUM_JOB_GRACE, 50) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    EXPECT(plenum_job_wait(job, 30, &code) == PLENUM_ERR_TIMEOUT);
    EXPECT(plenum_job_cancel(job) == PLENUM_OK);
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 128 + SIGKILL);
    struct totals t = follow(rt, 1);
    EXPECT(t.lost == 2 && t.finished == 1);
    plenum_job_close(job);
    job = new_job(rt, 1, "sleep 100");
    EXPECT(plenum_job_set(job, PLENUM_JOB_TIME_LIMIT, 50) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 124);
    plenum_job_close(job);
    plenum_runtime_close(rt); /* with events that were not taken */
}

/* Output to files of the embedding program, input from them. */
static void part_redirect(void)
{
    struct plenum_runtime *rt;
    char text[32] = "";
    FILE *in = tmpfile(), *out = tmpfile();
    EXPECT(in && out);
    fputs("question\n", in);
    fflush(in);
    rewind(in);
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 2, "cat; echo seen >&2");
    EXPECT(plenum_job_redirect(job, 0, 0, fileno(in)) == PLENUM_OK);
    EXPECT(plenum_job_redirect(job, PLENUM_ALL, 1, fileno(out)) == PLENUM_OK);
    EXPECT(plenum_job_redirect(job, 1, 2, -1) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    struct totals t = follow(rt, 1);
    EXPECT(t.bytes == strlen("seen\n"));
    EXPECT(pread(fileno(out), text, sizeof text - 1, 0) == (ssize_t)strlen("question\n"));
    EXPECT(strcmp(text, "question\n") == 0);
    plenum_job_close(job);
    plenum_runtime_close(rt);
    fclose(in);
    fclose(out);
}

/* The pointer of plenum_job_set_user() comes with every event of its job, also after the job was closed. */
static void part_user(void)
{
    enum { JOBS = 3 };
    struct plenum_runtime *rt;
    struct plenum_event *e;
    int finished = 0, events[JOBS] = { 0 };
    uint64_t id[JOBS];
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    for (int i = 0; i < JOBS; i++) {
        struct plenum_job *job = new_job(rt, 1, "echo x");
        id[i] = plenum_job_id(job);
        if (i > 0) /* that of the first job stays NULL */
            plenum_job_set_user(job, &events[i]);
        EXPECT(plenum_job_launch(job) == PLENUM_OK);
        if (i % 2)
            plenum_job_close(job);
    }
    while (finished < JOBS) {
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        poll(&p, 1, -1);
        while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e) {
            for (int i = 0; i < JOBS; i++)
                if (e->job_id == id[i]) {
                    EXPECT(e->user == (i > 0 ? &events[i] : NULL), "job %d", i);
                    events[i]++;
                }
            finished += e->kind == PLENUM_EVENT_FINISHED;
            plenum_event_free(e);
        }
    }
    for (int i = 0; i < JOBS; i++)
        EXPECT(events[i] >= 4, "job %d: %d events", i, events[i]); /* started, output, exited, finished */
    plenum_runtime_close(rt);
}

/* Closing a runtime whose jobs run, with and without events that wait. */
static void part_close(void)
{
    for (int i = 0; i < 10; i++) {
        struct plenum_runtime *rt;
        EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
        struct plenum_job *job = new_job(rt, 4, "setsid sleep 1000 & echo x; sleep 1000");
        EXPECT(plenum_job_launch(job) == PLENUM_OK);
        if (i % 2)
            plenum_job_wait(job, 20, NULL);
        if (i % 3)
            plenum_job_close(job);
        plenum_runtime_close(rt);
    }
}

/* The keeper is killed: the jobs are lost, and the runtime goes on with a new one. */
static void part_keeper(void)
{
    struct plenum_runtime *rt;
    struct plenum_event *e;
    int code;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    for (int i = 0; i < 3; i++) {
        struct plenum_job *job = new_job(rt, 2, "echo $PPID; setsid sleep 1000 & sleep 1000");
        EXPECT(plenum_job_launch(job) == PLENUM_OK);
        int keeper = 0;
        while (!keeper) {
            struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
            EXPECT(poll(&p, 1, 60000) == 1);
            while (plenum_runtime_next_event(rt, &e) == PLENUM_OK && e) {
                if (e->kind == PLENUM_EVENT_OUTPUT && e->job == job)
                    keeper = atoi(e->text);
                plenum_event_free(e);
            }
        }
        kill(keeper, SIGKILL);
        EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 137, "code %d", code);
        plenum_job_close(job);
    }
    plenum_runtime_close(rt);
}

/* A child that the host forks and that lives on, with copies of all descriptors, holds up nothing. */
static void part_fork(void)
{
    struct plenum_runtime *rt;
    int code, hold[2];
    char byte;
    EXPECT(pipe(hold) == 0);
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 2, "echo hello");
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    pid_t child = fork();
    if (child == 0) {
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) != 0);
    }
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 0);
    EXPECT(follow(rt, 1).bytes == 12);
    plenum_job_close(job);
    plenum_runtime_close(rt);
    close(hold[0]);
    close(hold[1]);
    EXPECT(waitpid(child, &code, 0) == child && code == 0);
}

/* --- the host is left alone -------------------------------------------------------------------------------- */

static _Atomic int children_heard;

static void hear(int signo)
{
    (void)signo;
    children_heard++;
}

static void part_embedder(void)
{
    struct sigaction before[NSIG], after;
    sigset_t mask_before, mask_after;
    char here[4096], there[4096], **environment = environ;
    int variables = 0, now = 0;
    signal(SIGCHLD, hear);
    signal(SIGUSR1, SIG_IGN);
    umask(027);
    for (int s = 1; s < NSIG; s++)
        sigaction(s, NULL, &before[s]);
    sigprocmask(SIG_BLOCK, NULL, &mask_before);
    EXPECT(getcwd(here, sizeof here));
    while (environ[variables])
        variables++;

    struct size size_before = measure();
    cycle(false);
    struct size size_after = measure();
    EXPECT(size_after.descriptors == size_before.descriptors && size_after.threads == size_before.threads);
    EXPECT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    EXPECT(children_heard == 0, "%d", children_heard);
    cycle(true);

    for (int s = 1; s < NSIG; s++) {
        if (sigaction(s, NULL, &after) != 0)
            continue; /* the C library's own */
        EXPECT(after.sa_handler == before[s].sa_handler && after.sa_flags == before[s].sa_flags, "signal %d", s);
    }
    sigprocmask(SIG_BLOCK, NULL, &mask_after);
    EXPECT(memcmp(&mask_before, &mask_after, sizeof(unsigned long)) == 0);
    EXPECT(umask(022) == 027);
    EXPECT(getcwd(there, sizeof there) && strcmp(here, there) == 0);
    while (environ[now])
        now++;
    EXPECT(environ == environment && now == variables, "%d variables, then %d", variables, now);
}

PARTS_MAIN({ "cycles", part_cycles }, { "cycles_pmix", part_cycles_pmix }, { "many", part_many },
           { "threads", part_threads }, { "two", part_two }, { "wrong", part_wrong }, { "null", part_null },
           { "wait", part_wait }, { "close", part_close }, { "redirect", part_redirect }, { "fork", part_fork },
           { "keeper", part_keeper }, { "embedder", part_embedder }, { "user", part_user })
