/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An embedder whose threads close what other threads use, and whose children touch what their parent opened. Also what
 * events promise of order and usage. Arguments as in runtime_user.c.
 */
#include "embedder.h"

#include <stdatomic.h>
#include <sys/syscall.h>

/* --- waiting while another thread closes ------------------------------------------------------------------- */

struct waiter {
    pthread_t thread;
    struct plenum_job *job;
    _Atomic pid_t tid;
    int err;
};

static void *waiter_run(void *arg)
{
    struct waiter *w = arg;
    atomic_store(&w->tid, (pid_t)syscall(SYS_gettid));
    w->err = plenum_job_wait(w->job, -1, NULL);
    EXPECT(w->err != PLENUM_ERR_CLOSED || strstr(plenum_error(), "is closed"));
    return NULL;
}

static bool thread_sleeps(pid_t tid)
{
    char name[64], state = 0;
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", (int)tid);
    FILE *file = fopen(name, "r");
    EXPECT(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
    fclose(file);
    return state == 'S';
}

/* Returns when all sleep inside plenum_job_wait(), the only place where they sleep for long. */
static void waiters_start(struct waiter *w, int count, struct plenum_job *job)
{
    for (int i = 0; i < count; i++) {
        w[i] = (struct waiter){ .job = job };
        EXPECT(pthread_create(&w[i].thread, NULL, waiter_run, &w[i]) == 0);
    }
    for (int i = 0; i < count; i++)
        for (int seen = 0; seen < 3; usleep(2000))
            seen = atomic_load(&w[i].tid) && thread_sleeps(w[i].tid) ? seen + 1 : 0;
}

static void waiters_join(struct waiter *w, int count, int err)
{
    for (int i = 0; i < count; i++) {
        pthread_join(w[i].thread, NULL);
        EXPECT(w[i].err == err, "waiter %d: %d", i, w[i].err);
    }
}

enum { WAITERS = 3 };

static struct plenum_job *sleeping_job(struct plenum_runtime *rt)
{
    struct plenum_job *job = new_job(rt, 2, "exec sleep 1000");
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    return job;
}

static void part_close_waited(void)
{
    struct waiter w[WAITERS];
    for (int i = 0; i < 10; i++) {
        struct plenum_runtime *rt;
        EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
        struct plenum_job *queued = new_job(rt, 1, "exit 0");
        EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 2) == PLENUM_OK);
        struct plenum_job *job = sleeping_job(rt);
        EXPECT(plenum_job_launch(queued) == PLENUM_OK);
        waiters_start(w, WAITERS, i % 2 ? queued : job);
        plenum_runtime_close(rt);
        waiters_join(w, WAITERS, PLENUM_ERR_CLOSED);
    }
}

/* A stopped runtime refuses everything, and its descriptor says so to a thread that polls. */
static void part_stop(void)
{
    struct waiter w[WAITERS];
    struct plenum_runtime *rt;
    struct plenum_event *event;
    struct plenum_job *fresh;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = sleeping_job(rt);
    waiters_start(w, WAITERS, job);
    plenum_runtime_stop(rt);
    plenum_runtime_stop(rt);
    waiters_join(w, WAITERS, PLENUM_ERR_CLOSED);
    struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
    EXPECT(poll(&p, 1, 0) == 1);
    EXPECT(plenum_runtime_next_event(rt, &event) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_create(rt, &fresh) == PLENUM_ERR_CLOSED && plenum_job_launch(job) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_cancel(job) == PLENUM_ERR_CLOSED && plenum_job_wait(job, 0, NULL) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_size(job) == 0 && !plenum_job_json(job));
    plenum_job_close(job);
    plenum_runtime_close(rt);
}

static void *poller_run(void *arg)
{
    struct plenum_runtime *rt = arg;
    struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
    struct plenum_event *event;
    for (;;) {
        EXPECT(poll(&p, 1, 60000) == 1, "the descriptor says nothing");
        int err = plenum_runtime_next_event(rt, &event);
        if (err == PLENUM_ERR_CLOSED)
            return NULL;
        EXPECT(err == PLENUM_OK);
        plenum_event_free(event);
    }
}

static void part_stop_polled(void)
{
    for (int i = 0; i < 10; i++) {
        struct plenum_runtime *rt;
        pthread_t poller;
        EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
        pthread_create(&poller, NULL, poller_run, rt);
        if (i % 2)
            sleeping_job(rt);
        plenum_runtime_stop(rt);
        pthread_join(poller, NULL);
        plenum_runtime_close(rt);
    }
}

/* The handle goes, the job goes on. */
static void part_close_job(void)
{
    struct waiter w[WAITERS];
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    for (int i = 0; i < 5; i++) {
        int ends[2];
        EXPECT(pipe2(ends, O_CLOEXEC) == 0);
        struct plenum_job *job = new_job(rt, 1, "read x; exit 7");
        EXPECT(plenum_job_redirect(job, 0, 0, ends[0]) == PLENUM_OK && plenum_job_launch(job) == PLENUM_OK);
        close(ends[0]);
        waiters_start(w, WAITERS, job);
        plenum_job_close(job);
        waiters_join(w, WAITERS, PLENUM_ERR_CLOSED);
        close(ends[1]);
        EXPECT(follow(rt, 1).code == 7);
    }
    plenum_runtime_close(rt);
}

/* --- every function from several threads, until one of them stops the runtime ------------------------------- */

enum { STORM_THREADS = 4, STORM_JOBS = 6, STORM_ROUNDS = 12 };

struct storm {
    struct plenum_runtime *rt;
    struct plenum_job *job[STORM_JOBS];
    _Atomic int calls;
};

static void storm_describe(struct plenum_job *job, int n)
{
    const char *const argv[] = { "sh", "-c", n % 3 ? "echo x" : "sleep 1000", NULL };
    const int ranges[][2] = { { 0, 0 } };
    char name[32];
    snprintf(name, sizeof name, "app://set%d", n % 1000);
    switch (n % 9) {
    case 0: plenum_job_add_program(job, 1 + n % 2, argv, NULL); break;
    case 1: plenum_job_env(job, PLENUM_ALL, "STORM", n % 2 ? "1" : NULL); break;
    case 2: plenum_job_wdir(job, 0, "/"); break;
    case 3: plenum_job_path(job, 0, "/bin:/usr/bin"); break;
    case 4: plenum_job_pset(job, name, ranges, 1); break;
    case 5: plenum_job_redirect(job, 0, 2, -1); break;
    case 6: plenum_job_redirect_file(job, 0, 0, "/dev/null"); break;
    case 7: plenum_job_set(job, PLENUM_JOB_GRACE, n % 10); break;
    case 8: plenum_job_set_user(job, job); break;
    }
}

static void storm_use(struct plenum_job *job, int n)
{
    const int ranges[][2] = { { 0, 0 } };
    char text[64];
    switch (n % 10) {
    case 0: plenum_job_launch(job); break;
    case 1: plenum_job_signal(job, PLENUM_ALL, SIGCONT); break;
    case 2: plenum_job_pset_publish(job, "app://now", ranges, 1); break;
    case 3: plenum_job_pset_withdraw(job, "app://now"); break;
    case 4: plenum_job_cancel(job); break;
    case 5: plenum_job_report(job); break;
    case 6: plenum_job_wait(job, n % 3, NULL); break;
    case 7: plenum_job_size(job), plenum_job_id(job); break;
    case 8: free(plenum_job_json(job)); break;
    case 9: plenum_job_cpus(job, 0, text, sizeof text); break;
    }
}

/* On shared jobs, which stay, and on jobs that the thread closes itself. */
static void storm_call(struct storm *s, int n)
{
    struct plenum_event *event = NULL;
    struct plenum_job *own;
    char text[64];
    switch (n % 6) {
    case 0: storm_describe(s->job[n / 7 % STORM_JOBS], n / 6); break;
    case 1:
    case 2: storm_use(s->job[n / 7 % STORM_JOBS], n / 6); break;
    case 3: plenum_runtime_set(s->rt, PLENUM_RUNTIME_SLOTS, n / 6 % 4); break;
    case 4:
        plenum_runtime_next_event(s->rt, &event);
        if (event) {
            plenum_event_describe(event, text, sizeof text);
            free(plenum_event_json(event));
        }
        plenum_event_free(event);
        break;
    case 5:
        if (plenum_job_create_json(s->rt, "{\"argv\": [\"sh\", \"-c\", \"echo y\"]}", &own) != PLENUM_OK)
            break;
        plenum_job_launch(own);
        plenum_job_close(own);
        break;
    }
}

static void *storm_run(void *arg)
{
    struct storm *s = arg;
    unsigned seed = (unsigned)syscall(SYS_gettid);
    do {
        storm_call(s, rand_r(&seed));
        atomic_fetch_add(&s->calls, 1);
    } while (plenum_runtime_set(s->rt, PLENUM_RUNTIME_SLOTS, 2) != PLENUM_ERR_CLOSED);
    return NULL;
}

static void part_storm(void)
{
    for (int round = 0; round < STORM_ROUNDS; round++) {
        struct storm s = { 0 };
        pthread_t thread[STORM_THREADS];
        EXPECT(plenum_runtime_open(&s.rt) == PLENUM_OK);
        for (int i = 0; i < STORM_JOBS; i++) {
            EXPECT(plenum_job_create(s.rt, &s.job[i]) == PLENUM_OK);
            storm_describe(s.job[i], 9 * i);
        }
        for (int i = 0; i < STORM_THREADS; i++)
            pthread_create(&thread[i], NULL, storm_run, &s);
        while (atomic_load(&s.calls) < 300 + 40 * round)
            usleep(1000);
        plenum_runtime_stop(s.rt);
        for (int i = 0; i < STORM_THREADS; i++)
            pthread_join(thread[i], NULL);
        plenum_runtime_close(s.rt);
    }
}

/* --- a forked child ---------------------------------------------------------------------------------------- */

static int child_run(struct plenum_runtime *rt, struct plenum_job *job)
{
    struct plenum_event *event;
    struct plenum_job *fresh;
    struct plenum_runtime *own;
    int code = -1;
    EXPECT(plenum_runtime_fd(rt) == -1 && plenum_runtime_next_event(rt, &event) == PLENUM_ERR_CLOSED);
    EXPECT(strstr(plenum_error(), "forked"));
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 1) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_create(rt, &fresh) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_create_json(rt, "{\"argv\": [\"true\"]}", &fresh) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_CLOSED && plenum_job_cancel(job) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_wait(job, 0, NULL) == PLENUM_ERR_CLOSED && plenum_job_report(job) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_signal(job, PLENUM_ALL, SIGKILL) == PLENUM_ERR_CLOSED);
    EXPECT(plenum_job_env(job, 0, "A", "b") == PLENUM_ERR_CLOSED && !plenum_job_json(job));
    EXPECT(plenum_job_size(job) == 0 && plenum_job_id(job) == 0);
    plenum_job_close(job);
    plenum_runtime_stop(rt);
    plenum_runtime_close(rt);
    EXPECT(plenum_runtime_open(&own) == PLENUM_OK);
    fresh = new_job(own, 2, "exit 4");
    EXPECT(plenum_job_launch(fresh) == PLENUM_OK && plenum_job_wait(fresh, -1, &code) == PLENUM_OK && code == 4);
    plenum_runtime_close(own);
    return 0;
}

/* Also while another thread holds the lock now and then, which the child never gets back. */
static void part_forked(void)
{
    struct plenum_runtime *rt;
    int ends[2], code;
    pthread_t poller;
    EXPECT(pipe2(ends, O_CLOEXEC) == 0 && plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 2, "read x; exit 0");
    EXPECT(plenum_job_redirect(job, PLENUM_ALL, 0, ends[0]) == PLENUM_OK);
    EXPECT(plenum_job_set(job, PLENUM_JOB_KEEP_GOING, 1) == PLENUM_OK && plenum_job_launch(job) == PLENUM_OK);
    pthread_create(&poller, NULL, poller_run, rt);
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(child_run(rt, job));
        EXPECT(waitpid(child, &code, 0) == child && code == 0, "child: %x", code);
        EXPECT(plenum_job_wait(job, 0, NULL) == PLENUM_ERR_TIMEOUT, "the child has ended the job");
    }
    close(ends[0]);
    EXPECT(write(ends[1], "\n\n", 2) == 2 && close(ends[1]) == 0);
    EXPECT(plenum_job_wait(job, 60000, NULL) == PLENUM_OK);
    plenum_runtime_stop(rt);
    pthread_join(poller, NULL);
    plenum_runtime_close(rt);
}

/* --- events ------------------------------------------------------------------------------------------------ */

static struct plenum_event *event_next(struct plenum_runtime *rt)
{
    struct plenum_event *event;
    for (;;) {
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        EXPECT(plenum_runtime_next_event(rt, &event) == PLENUM_OK);
        if (event)
            return event;
        EXPECT(poll(&p, 1, 60000) == 1, "nothing happens");
    }
}

/* Ranks that end before the last one is started: STARTED comes first all the same. */
static void part_order(void)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    for (int i = 0; i < 10; i++) {
        const char *const argv[] = { "true", NULL };
        struct plenum_job *job;
        EXPECT(plenum_job_create(rt, &job) == PLENUM_OK);
        EXPECT(plenum_job_add_program(job, 50, argv, NULL) == PLENUM_OK && plenum_job_launch(job) == PLENUM_OK);
        int started = 0, exited = 0;
        for (bool finished = false; !finished;) {
            struct plenum_event *e = event_next(rt);
            EXPECT(e->kind != PLENUM_EVENT_EXITED || started == 1, "rank %d ended before the start", e->rank);
            started += e->kind == PLENUM_EVENT_STARTED;
            exited += e->kind == PLENUM_EVENT_EXITED;
            finished = e->kind == PLENUM_EVENT_FINISHED;
            plenum_event_free(e);
        }
        EXPECT(started == 1 && exited == 50);
        plenum_job_close(job);
    }
    plenum_runtime_close(rt);
}

/* Two ranks that each use at least 0.1 s of processor time, as the shell counts it, and some memory. */
static void part_usage(void)
{
    struct plenum_runtime *rt;
    int64_t user = 0, peak = 0, last = 0, longest = 0;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 2,
                                     "exec python3 -c '\nimport time\nx = bytearray(50 << 20)\n"
                                     "while time.process_time() < 0.2: pass'");
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    for (bool finished = false; !finished;) {
        struct plenum_event *e = event_next(rt);
        EXPECT(e->time_us > 1600000000000000 && (e->kind == PLENUM_EVENT_OUTPUT || e->time_us >= last));
        last = e->time_us;
        if (e->kind == PLENUM_EVENT_EXITED) {
            EXPECT(e->code == 0 && e->user_us + e->system_us >= 150000 && e->run_us >= 150000);
            EXPECT(e->peak >= 50 << 20 && e->peak < (int64_t)1 << 40, "%lld", (long long)e->peak);
            user += e->user_us;
            peak = e->peak > peak ? e->peak : peak;
            longest = e->run_us > longest ? e->run_us : longest;
        }
        finished = e->kind == PLENUM_EVENT_FINISHED;
        EXPECT(!finished || (e->user_us == user && e->peak == peak && e->run_us >= longest));
        char *json = plenum_event_json(e);
        EXPECT(json && strstr(json, "\"time\":") && !strstr(json, "\"peak\":0") &&
               (!finished || strstr(json, "\"user\":")));
        free(json);
        plenum_event_free(e);
    }
    plenum_runtime_close(rt);
}

PARTS_MAIN({ "close_waited", part_close_waited }, { "stop", part_stop }, { "stop_polled", part_stop_polled },
           { "close_job", part_close_job }, { "storm", part_storm }, { "forked", part_forked }, { "order", part_order },
           { "usage", part_usage })
