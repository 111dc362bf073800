/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host of runtimes, for the launcher's tests: the queue, jobs from JSON, streams from and to files, bindings,
 * signals. Arguments as in runtime_user.c.
 */
#include "embedder.h"

/* --- the queue --------------------------------------------------------------------------------------------- */

/* A job that lasts until its pipe is closed. */
struct held {
    struct plenum_job *job;
    int pipe;
};

static struct held hold_with(struct plenum_runtime *rt, int ranks, enum plenum_bind bind)
{
    int ends[2];
    struct held h = { new_job(rt, ranks, "read x"), -1 };
    EXPECT(pipe2(ends, O_CLOEXEC) == 0);
    EXPECT(plenum_job_redirect(h.job, PLENUM_ALL, 0, ends[0]) == PLENUM_OK);
    close(ends[0]);
    h.pipe = ends[1];
    EXPECT(plenum_job_set(h.job, PLENUM_JOB_KEEP_GOING, 1) == PLENUM_OK);
    EXPECT(plenum_job_set(h.job, PLENUM_JOB_BIND, bind) == PLENUM_OK);
    EXPECT(plenum_job_launch(h.job) == PLENUM_OK);
    return h;
}

static struct held hold(struct plenum_runtime *rt, int ranks)
{
    return hold_with(rt, ranks, PLENUM_BIND_NONE);
}

static void let_go(struct held *h)
{
    close(h->pipe);
    EXPECT(plenum_job_wait(h->job, 60000, NULL) == PLENUM_OK);
    plenum_job_close(h->job);
}

static struct plenum_event *next(struct plenum_runtime *rt)
{
    struct plenum_event *e;
    for (;;) {
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        EXPECT(plenum_runtime_next_event(rt, &e) == PLENUM_OK);
        if (e)
            return e;
        EXPECT(poll(&p, 1, 60000) == 1, "nothing happens");
    }
}

/* Takes events until one of the kind comes, which must be the job's, and returns its code. */
static int await(struct plenum_runtime *rt, enum plenum_event_kind kind, const struct plenum_job *job, unsigned flags)
{
    for (;;) {
        struct plenum_event *e = next(rt);
        bool it = e->kind == kind;
        int code = e->code;
        EXPECT(!it || e->job_id == plenum_job_id(job), "job %d", (int)e->job_id);
        EXPECT(!it || e->flags == flags, "flags %u", e->flags);
        plenum_event_free(e);
        if (it)
            return code;
    }
}

/* The order is kept, the slots are not exceeded, a job that is too big runs alone. */
static void part_queue(void)
{
    struct plenum_runtime *rt;
    struct plenum_job *job[4];
    static const int ranks[4] = { 1, 5, 1, 1 };
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 2) == PLENUM_OK);
    struct held first = hold(rt, 2);
    setenv("QUEUE_TEST", "at the launch", 1);
    for (int i = 0; i < 4; i++) {
        job[i] = new_job(rt, ranks[i], "[ \"$QUEUE_TEST\" = 'at the launch' ]");
        EXPECT(plenum_job_launch(job[i]) == PLENUM_OK);
        EXPECT(await(rt, PLENUM_EVENT_QUEUED, job[i], 0) == i);
        EXPECT(plenum_job_signal(job[i], 0, SIGTERM) == PLENUM_ERR_STATE);
        EXPECT(plenum_job_launch(job[i]) == PLENUM_ERR_STATE);
    }
    unsetenv("QUEUE_TEST");
    EXPECT(plenum_job_wait(job[0], 20, NULL) == PLENUM_ERR_TIMEOUT);
    close(first.pipe);
    EXPECT(await(rt, PLENUM_EVENT_FINISHED, first.job, 0) == 1); /* read found no line */
    for (int i = 0; i < 2; i++) { /* one after the other: the second takes more than there is */
        EXPECT(await(rt, PLENUM_EVENT_STARTED, job[i], 0) == ranks[i]);
        EXPECT(await(rt, PLENUM_EVENT_FINISHED, job[i], 0) == 0);
    }
    for (int i = 2; i < 4; i++)
        EXPECT(plenum_job_wait(job[i], 60000, NULL) == PLENUM_OK);
    plenum_runtime_close(rt);
}

/* Cancelled, closed and freed while they wait; slots taken away and given. */
static void part_queue_cancel(void)
{
    struct plenum_runtime *rt;
    int code = -1;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, -1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_set(rt, (enum plenum_runtime_option)9, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 1) == PLENUM_OK);
    struct held first = hold(rt, 1);
    struct plenum_job *wide = new_job(rt, 3, "exit 4"), *narrow = new_job(rt, 1, "exit 5");
    struct plenum_job *closed = new_job(rt, 1, "echo closed");
    EXPECT(plenum_job_launch(wide) == PLENUM_OK && plenum_job_launch(narrow) == PLENUM_OK);
    EXPECT(plenum_job_launch(closed) == PLENUM_OK);
    plenum_job_close(closed); /* it stays in the queue */
    EXPECT(plenum_job_cancel(wide) == PLENUM_OK);
    EXPECT(plenum_job_wait(wide, 0, &code) == PLENUM_OK && code == 128 + SIGTERM); /* as if it had run */
    EXPECT(plenum_job_cancel(wide) == PLENUM_OK);
    EXPECT(await(rt, PLENUM_EVENT_FINISHED, wide, PLENUM_EVENT_CANCELLED) == 128 + SIGTERM);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 0) == PLENUM_OK); /* no limit: beside the first */
    EXPECT(plenum_job_wait(narrow, 60000, &code) == PLENUM_OK && code == 5);
    let_go(&first);
    struct totals t = follow(rt, 3);
    EXPECT(t.started == 3 && t.bytes == strlen("closed\n"), "%d started", t.started);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 1) == PLENUM_OK);
    first = hold(rt, 1);
    struct plenum_job *left = new_job(rt, 1, "exit 0");
    EXPECT(plenum_job_launch(left) == PLENUM_OK);
    close(first.pipe);
    plenum_runtime_close(rt); /* with one that runs and one that waits */
}

/* What cannot be started when its turn comes says so and makes room. */
static void part_queue_fails(void)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 1) == PLENUM_OK);
    struct held first = hold(rt, 1);
    struct plenum_job *bad = new_job(rt, 1, "exit 0"), *good = new_job(rt, 1, "exit 0");
    const char *const missing[] = { "no-such-program", NULL };
    EXPECT(plenum_job_redirect_file(bad, 0, 1, "/no/such/directory/%r") == PLENUM_OK);
    EXPECT(plenum_job_launch(bad) == PLENUM_OK && plenum_job_launch(good) == PLENUM_OK);
    struct plenum_job *wrong;
    EXPECT(plenum_job_create(rt, &wrong) == PLENUM_OK);
    EXPECT(plenum_job_add_program(wrong, 1, missing, NULL) == PLENUM_OK);
    EXPECT(plenum_job_launch(wrong) == PLENUM_ERR_NOT_FOUND); /* known at once */
    close(first.pipe);
    EXPECT(await(rt, PLENUM_EVENT_FINISHED, first.job, 0) == 1);
    EXPECT(await(rt, PLENUM_EVENT_UNSTARTED, bad, 0) == ENOENT);
    EXPECT(await(rt, PLENUM_EVENT_FINISHED, bad, 0) == 1);
    EXPECT(await(rt, PLENUM_EVENT_FINISHED, good, 0) == 0);
    plenum_runtime_close(rt);
}

/* The keeper is killed: what ran is lost, what waited runs under a new one. */
static void part_queue_keeper(void)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 1) == PLENUM_OK);
    struct plenum_job *first = new_job(rt, 1, "echo $PPID; exec sleep 1000"), *second = new_job(rt, 1, "exit 0");
    EXPECT(plenum_job_launch(first) == PLENUM_OK && plenum_job_launch(second) == PLENUM_OK);
    for (bool killed = false; !killed;) {
        struct plenum_event *e = next(rt);
        if (e->kind == PLENUM_EVENT_OUTPUT)
            killed = kill(atoi(e->text), SIGKILL) == 0;
        plenum_event_free(e);
    }
    EXPECT(await(rt, PLENUM_EVENT_LOST, first, 0) == 128 + SIGKILL);
    EXPECT(await(rt, PLENUM_EVENT_FINISHED, first, 0) == 128 + SIGKILL);
    EXPECT(await(rt, PLENUM_EVENT_STARTED, second, 0) == 1);
    EXPECT(await(rt, PLENUM_EVENT_FINISHED, second, 0) == 0);
    plenum_runtime_close(rt);
}

/* A crowd of jobs, of which some run, until the test kills this process. For tests/hard/launcher_kills. */
static void part_crowd(void)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, 4) == PLENUM_OK);
    for (int i = 0; i < 8; i++) {
        struct plenum_job *job = new_job(rt, 1 + i % 3, "setsid sleep 1000 & sleep 1000");
        EXPECT(plenum_job_set(job, PLENUM_JOB_KEEP_GOING, 1) == PLENUM_OK);
        EXPECT(plenum_job_launch(job) == PLENUM_OK);
    }
    puts("up");
    fflush(stdout);
    for (int finished = 0; finished < 8;) {
        struct plenum_event *e = next(rt);
        finished += e->kind == PLENUM_EVENT_FINISHED;
        plenum_event_free(e);
    }
}

/* Threads launch into one queue. */
enum { THREADS = 4, EACH = 25, SLOTS = 3 };

static void *launch_many(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        struct plenum_job *job = new_job(arg, 1 + i % 2, "exit 0");
        EXPECT(plenum_job_launch(job) == PLENUM_OK);
        if (i % 5 == 4)
            EXPECT(plenum_job_cancel(job) == PLENUM_OK);
        if (i % 3 == 0)
            EXPECT(plenum_job_wait(job, 60000, NULL) == PLENUM_OK);
        plenum_job_close(job);
    }
    return NULL;
}

static void part_queue_threads(void)
{
    struct plenum_runtime *rt;
    pthread_t thread[THREADS];
    int busy = 0, finished = 0;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, SLOTS) == PLENUM_OK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, launch_many, rt);
    while (finished < THREADS * EACH) {
        struct plenum_event *e = next(rt);
        busy += e->kind == PLENUM_EVENT_STARTED ? e->code : 0;
        busy -= e->kind == PLENUM_EVENT_EXITED || (e->kind == PLENUM_EVENT_LOST);
        finished += e->kind == PLENUM_EVENT_FINISHED;
        EXPECT(busy <= SLOTS, "%d processes", busy);
        plenum_event_free(e);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    plenum_runtime_close(rt);
}

/* --- JSON -------------------------------------------------------------------------------------------------- */

static void expect_file(const char *name, const char *wanted)
{
    char text[256] = "";
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    EXPECT(fd >= 0 && read(fd, text, sizeof text - 1) >= 0, "%s", name);
    EXPECT(strcmp(text, wanted) == 0, "%s: \"%s\"", name, text);
    close(fd);
    unlink(name);
}

static void part_json(void)
{
    static const char text[] =
        "{\"programs\": ["
        "  {\"argv\": [\"sh\", \"-c\", \"cat; echo $A$B $(pwd); echo e$PLENUM_RANK >&2\"], \"ranks\": 2, \"env\": "
        "{\"B\": \"two\"}},"
        "  {\"argv\": [\"/bin/sh\", \"-c\", \"echo $A$B $(pwd) ${HOME-none}\"], \"wdir\": \"/usr\", \"path\": "
        "\"/bin\"}],"
        " \"env\": {\"A\": \"one\", \"HOME\": null}, \"clear_env\": true, \"wdir\": \"/\","
        " \"stdin\": \"json%%in\", \"stdout\": \"json%%out.%r\", \"stderr\": \"json-err\","
        " \"psets\": {\"app://x\": \"0-1,2\", \"app://y\": [0, [1, 2]]},"
        " \"time_limit\": 60.5, \"grace\": 0.25, \"keep_going\": true, \"pmix\": false, \"slots\": 2, \"universe\": 9,"
        " \"bind\": \"core\", \"map\": \"socket\"}";
    struct plenum_runtime *rt;
    struct plenum_job *job, *again;
    int code = -1, in = open("json%in", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    EXPECT(in >= 0 && write(in, "input\n", 6) == 6 && close(in) == 0);
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_job_create_json(rt, text, &job) == PLENUM_OK);
    EXPECT(plenum_job_size(job) == 3);
    char *one = plenum_job_json(job);
    EXPECT(one && plenum_job_create_json(rt, one, &again) == PLENUM_OK, "%s", one);
    char *two = plenum_job_json(again);
    EXPECT(two && strcmp(one, two) == 0, "%s and %s", one, two);
    free(one);
    free(two);
    plenum_job_close(again);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 0, "code %d", code);
    expect_file("json%out.0", "input\nonetwo /\n");
    expect_file("json%out.1", "onetwo /\n");
    expect_file("json%out.2", "one /usr none\n");
    struct stat st;
    EXPECT(stat("json-err", &st) == 0 && st.st_size == 6); /* both lines, in some order */
    unlink("json-err");
    unlink("json%in");
    plenum_job_close(job);
    EXPECT(plenum_job_create_json(rt, "{\"argv\": [\"true\"]}", &job) == PLENUM_OK && plenum_job_size(job) == 1);
    plenum_runtime_close(rt);
}

static void round_trip(struct plenum_runtime *rt, struct plenum_job *job, const char *has)
{
    struct plenum_job *again;
    char *one = plenum_job_json(job);
    EXPECT(one && strstr(one, has), "%s lacks %s", one, has);
    EXPECT(plenum_job_create_json(rt, one, &again) == PLENUM_OK, "%s", one);
    char *two = plenum_job_json(again);
    EXPECT(two && strcmp(one, two) == 0, "%s and %s", one, two);
    free(one);
    free(two);
    plenum_job_close(again);
}

/* What a description can have is written and read back; what JSON cannot hold is said, and nothing is left out. */
static void part_json_whole(void)
{
    const char *const argv[] = { "sh", "-c", "echo $PLENUM_RANK; echo e >&2", NULL };
    const char *const latin[] = { "true", "gr\xfc\xdf", NULL };
    struct plenum_runtime *rt;
    struct plenum_job *job;
    int code;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK && plenum_job_create(rt, &job) == PLENUM_OK);
    round_trip(rt, job, "\"programs\": []");
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_add_program(job, 2, argv, NULL) == PLENUM_OK);
    EXPECT(plenum_job_pset(job, "app://none", NULL, 0) == PLENUM_OK);
    round_trip(rt, job, "\"app://none\": []");
    EXPECT(plenum_job_redirect_file(job, PLENUM_ALL, 1, "whole.all") == PLENUM_OK);
    EXPECT(plenum_job_redirect(job, PLENUM_ALL, 2, -1) == PLENUM_OK);
    round_trip(rt, job, "\"stderr\": null");
    EXPECT(plenum_job_redirect_file(job, 1, 1, "whole.one") == PLENUM_OK);
    EXPECT(plenum_job_redirect(job, 1, 0, -1) == PLENUM_OK);
    round_trip(rt, job, "\"redirects\"");
    char *text = plenum_job_json(job);
    plenum_job_close(job);
    EXPECT(plenum_job_create_json(rt, text, &job) == PLENUM_OK && plenum_job_launch(job) == PLENUM_OK);
    free(text);
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 0, "code %d", code);
    expect_file("whole.all", "0\n");
    expect_file("whole.one", "1\n");
    plenum_job_close(job);

    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK && plenum_job_add_program(job, 1, latin, NULL) == PLENUM_OK);
    EXPECT(!plenum_job_json(job) && strstr(plenum_error(), "gr\\xfc\\xdf"));
    plenum_job_close(job);
    EXPECT(plenum_job_create_json(rt, "{\"argv\": [\"sh\"]}", &job) == PLENUM_OK);
    EXPECT(plenum_job_env(job, 0, "N\xff", "x") == PLENUM_OK && !plenum_job_json(job));
    plenum_runtime_close(rt);
}

/* A FIFO without its other end does not stop the runtime. */
static void part_fifos(void)
{
    const char *const argv[] = { "sh", "-c", "cat; echo out", NULL };
    struct plenum_runtime *rt;
    struct plenum_job *job;
    char got[64] = "";
    int code;
    EXPECT(mkfifo("fifo", 0600) == 0 && plenum_runtime_open(&rt) == PLENUM_OK);
    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK && plenum_job_add_program(job, 1, argv, NULL) == PLENUM_OK);
    EXPECT(plenum_job_redirect_file(job, 0, 1, "fifo") == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_SYSTEM && strstr(plenum_error(), "no process reads"));
    int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 0, "code %d", code);
    EXPECT(read(reader, got, sizeof got - 1) == 4 && strcmp(got, "out\n") == 0, "%s", got);
    close(reader);
    plenum_job_close(job);
    EXPECT(plenum_job_create(rt, &job) == PLENUM_OK && plenum_job_add_program(job, 1, argv, NULL) == PLENUM_OK);
    EXPECT(plenum_job_redirect_file(job, 0, 0, "fifo") == PLENUM_OK && plenum_job_launch(job) == PLENUM_OK);
    EXPECT(plenum_job_wait(job, 60000, &code) == PLENUM_OK && code == 0, "code %d", code);
    unlink("fifo");
    plenum_runtime_close(rt);
}

static void part_nothing(void)
{
    char text[32] = "x";
    struct plenum_event *event;
    struct plenum_job *job;
    EXPECT(plenum_job_size(NULL) == 0 && plenum_job_id(NULL) == 0);
    EXPECT(plenum_job_cpus(NULL, 0, text, sizeof text) == 0 && text[0] == '\0' &&
           plenum_job_cpus(NULL, 0, NULL, 0) == 0);
    EXPECT(!plenum_job_json(NULL) && !plenum_event_json(NULL));
    EXPECT(plenum_event_describe(NULL, text, sizeof text) == 8 && strcmp(text, "no event") == 0);
    plenum_job_set_user(NULL, text);
    plenum_job_close(NULL);
    plenum_event_free(NULL);
    plenum_runtime_close(NULL);
    EXPECT(plenum_runtime_fd(NULL) == -1);
    EXPECT(plenum_runtime_open(NULL) == PLENUM_ERR_ARGUMENT && plenum_job_create(NULL, &job) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_set(NULL, PLENUM_RUNTIME_SLOTS, 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_runtime_next_event(NULL, &event) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_launch(NULL) == PLENUM_ERR_ARGUMENT && plenum_job_cancel(NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_signal(NULL, 0, 1) == PLENUM_ERR_ARGUMENT && plenum_job_report(NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_wait(NULL, 0, NULL) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_publish(NULL, "a://b", NULL, 0) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_pset_withdraw(NULL, "a://b") == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_redirect(NULL, 0, 0, -1) == PLENUM_ERR_ARGUMENT);
}

/* Every mistake names its place. */
static void part_json_wrong(void)
{
    static const struct {
        const char *text, *said, *too;
    } all[] = {
        { "", "line 1", "" },
        { "{\"argv\": [\"x\"], \"argv\": []}", "line 1", "duplicate" },
        { "[1]", "JSON object", "" },
        { "{}", "\"argv\" is missing", "a list of strings" },
        { "{\"argv\": []}", "\"argv\" is []", "a list of strings" },
        { "{\"argv\": [\"x\", 1]}", "\"argv\" is [\"x\",1]", "" },
        { "{\"argv\": [\"\"]}", "\"argv\"", "" },
        { "{\"argv\": \"x\"}", "\"argv\" is \"x\"", "" },
        { "{\"argv\": [\"x\"], \"ranks\": 0}", "\"ranks\" is 0", "1 to 65536" },
        { "{\"argv\": [\"x\"], \"ranks\": 1.5}", "\"ranks\" is 1.5", "it must be an integer" },
        { "{\"argv\": [\"x\"], \"ranks\": 99999999999}", "\"ranks\" is 99999999999", "" },
        { "{\"argv\": [\"x\"], \"rank\": 2}", "\"rank\" is unknown; did you mean \"ranks\"?", "known keys: programs" },
        { "{\"argv\": [\"x\"], \"\": 2}", "\"\" is unknown", "" },
        { "{\"programs\": {}}", "\"programs\" is {}", "" },
        { "{\"programs\": [1]}", "\"programs[0]\" is 1", "an object" },
        { "{\"programs\": [{\"argv\": [\"x\"]}], \"ranks\": 2}", "\"ranks\" belongs in \"programs\"", "" },
        { "{\"programs\": [{\"argv\": [\"x\"]}, {\"ranks\": 2}]}", "\"programs[1].argv\" is missing", "" },
        { "{\"programs\": [{\"argv\": [\"x\"], \"wdirr\": 2}]}",
          "\"programs[0].wdirr\" is unknown; did you mean \"wdir\"?", "" },
        { "{\"programs\": [{\"argv\": [\"x\"], \"env\": {\"A\": 1}}]}", "\"programs[0].env.A\"", "null to unset" },
        { "{\"argv\": [\"x\"], \"env\": {\"A=\": \"b\"}}", "\"env\": \"A=\"", "" },
        { "{\"argv\": [\"x\"], \"env\": []}", "\"env\" is []", "" },
        { "{\"argv\": [\"x\"], \"clear_env\": 1}", "\"clear_env\" is 1", "true or false" },
        { "{\"argv\": [\"x\"], \"psets\": {\"a\": \"0-\"}}", "\"psets.a\"", "0-3,7" },
        { "{\"argv\": [\"x\"], \"psets\": {\"a\": [[2, 1]]}}", "\"psets.a\"", "" },
        { "{\"argv\": [\"x\"], \"psets\": {\"a\": [-1]}}", "\"psets.a\"", "" },
        { "{\"argv\": [\"x\"], \"psets\": {\"\": [0]}}", "\"psets\": \"\" is not a valid name of a process set", "" },
        { "{\"argv\": [\"x\"], \"time_limit\": -1}", "\"time_limit\" is -1", "seconds" },
        { "{\"argv\": [\"x\"], \"grace\": \"2\"}", "\"grace\" is \"2\"", "seconds" },
        { "{\"argv\": [\"x\"], \"keep_going\": 1}", "\"keep_going\" is 1", "true or false" },
        { "{\"argv\": [\"x\"], \"pmix\": \"maybe\"}", "\"pmix\" is \"maybe\"", "auto" },
        { "{\"argv\": [\"x\"], \"bind\": \"cores\"}", "\"bind\" is \"cores\"", "\"core\"" },
        { "{\"argv\": [\"x\"], \"cores\": {\"-1\": \"0\"}}", "\"cores.-1\"", "lists of cores" },
        { "{\"argv\": [\"x\"], \"cores\": {\"0\": 1}}", "\"cores.0\"", "" },
        { "{\"argv\": [\"x\"], \"cores\": {\"0\": \"0-\"}}", "\"cores\": \"0-\" is not a list of cores", "" },
        { "{\"argv\": [\"x\"], \"map\": 1}", "\"map\" is 1", "\"slot\"" },
        { "{\"argv\": [\"x\"], \"slots\": -2}", "\"slots\" is -2", "" },
        { "{\"argv\": [\"x\"], \"slots\": 9999999999}", "\"slots\"", "" },
        { "{\"argv\": [\"x\"], \"stdout\": \"%x\"}", "\"stdout\": ", "only r" },
        { "{\"argv\": [\"x\"], \"stdin\": \"\"}", "\"stdin\" is \"\"", "a file name" },
        { "{\"argv\": [\"x\"], \"wdir\": \"\"}", "\"wdir\" is \"\"", "a directory" },
    };
    struct plenum_runtime *rt;
    struct plenum_job *job = NULL;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        EXPECT(plenum_job_create_json(rt, all[i].text, &job) == PLENUM_ERR_ARGUMENT, "%s was taken", all[i].text);
        EXPECT(strstr(plenum_error(), all[i].said) && strstr(plenum_error(), all[i].too), "%s", all[i].text);
        EXPECT(!strchr(plenum_error(), '\n'));
    }
    plenum_runtime_close(rt);
}

/* --- bindings and signals ---------------------------------------------------------------------------------- */

/* What the library says of a binding is what the kernel says. */
static void part_bind(void)
{
    struct plenum_runtime *rt;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    for (long kind = PLENUM_BIND_NONE; kind <= PLENUM_BIND_L3CACHE; kind++)
        for (long map = PLENUM_MAP_SLOT; map <= PLENUM_MAP_L3CACHE; map++) {
            struct plenum_job *job = new_job(rt, 3, "sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status");
            int lines = 0;
            EXPECT(plenum_job_set(job, PLENUM_JOB_BIND, kind) == PLENUM_OK);
            EXPECT(plenum_job_set(job, PLENUM_JOB_MAP, map) == PLENUM_OK);
            EXPECT(plenum_job_launch(job) == PLENUM_OK);
            for (bool over = false; !over;) {
                struct plenum_event *e = next(rt);
                char cpus[512];
                over = e->kind == PLENUM_EVENT_FINISHED;
                if (e->kind == PLENUM_EVENT_OUTPUT) {
                    int length = plenum_job_cpus(job, e->rank, cpus, sizeof cpus);
                    EXPECT(kind ? (size_t)length + 1 == e->length && memcmp(cpus, e->text, (size_t)length) == 0
                                : !length,
                           "rank %d: said %s, is %s", e->rank, cpus, e->text);
                    lines++;
                }
                plenum_event_free(e);
            }
            EXPECT(lines == 3);
            plenum_job_close(job);
        }
    struct plenum_job *job = new_job(rt, 1, "true");
    EXPECT(plenum_job_set(job, PLENUM_JOB_BIND, PLENUM_BIND_L3CACHE + 1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_cpus(job, 7, NULL, 0) == 0);
    plenum_runtime_close(rt);
}

/* Ranks with cores of their own, by a call and by JSON; the others are as PLENUM_JOB_BIND says. */
static void part_place(void)
{
    static const char *const wrong[] = { "", "x", "1-0", "0:", "p" };
    struct plenum_runtime *rt;
    char cpus[64], first[64], text[64];
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 3, "sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status");
    EXPECT(plenum_job_set(job, PLENUM_JOB_BIND, PLENUM_BIND_THREAD) == PLENUM_OK);
    plenum_job_cpus(job, 0, first, sizeof first);
    EXPECT(plenum_job_set(job, PLENUM_JOB_BIND, PLENUM_BIND_NONE) == PLENUM_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT(plenum_job_place(job, 0, wrong[i]) == PLENUM_ERR_ARGUMENT, "%s", wrong[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT(plenum_job_place(job, PLENUM_ALL, wrong[i]) == PLENUM_ERR_ARGUMENT, "%s", wrong[i]);
    EXPECT(plenum_job_place(job, PLENUM_ALL, "0 x") == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_place(job, -2, "0") == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_host(job, -1, "here") == PLENUM_ERR_ARGUMENT &&
           plenum_job_host(job, 0, "") == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_host(job, 1, "alpha") == PLENUM_OK && plenum_job_launch(job) == PLENUM_ERR_ARGUMENT);
    EXPECT(strstr(plenum_error(), "rank 1 is to run on the host \"alpha\", which the runtime does not have"), "%s",
           plenum_error());
    EXPECT(plenum_job_host(job, 1, NULL) == PLENUM_OK && plenum_job_host(job, 3, "alpha") == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_ARGUMENT && strstr(plenum_error(), "the host \"alpha\" is for rank 3"),
           "%s", plenum_error());
    EXPECT(plenum_job_host(job, 3, NULL) == PLENUM_OK);
    EXPECT(plenum_job_place(job, 65536, "0") == PLENUM_ERR_ARGUMENT);
    snprintf(text, sizeof text, "p%s", first);
    EXPECT(plenum_job_place(job, 2, "p9999") == PLENUM_OK && plenum_job_launch(job) == PLENUM_ERR_ARGUMENT);
    EXPECT(strstr(plenum_error(), "rank 2 cannot be bound to the cores \"p9999\""), "%s", plenum_error());
    EXPECT(plenum_job_place(job, 2, text) == PLENUM_OK && plenum_job_place(job, 3, "0") == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_ERR_ARGUMENT && strstr(plenum_error(), "rank 3"), "%s", plenum_error());
    EXPECT(plenum_job_place(job, 3, NULL) == PLENUM_OK);
    char lists[2 * sizeof text];
    snprintf(lists, sizeof lists, " %s  p9999", text); /* the ranks take them in turn; rank 2 has cores of its own */
    EXPECT(plenum_job_place(job, PLENUM_ALL, lists) == PLENUM_OK && plenum_job_launch(job) == PLENUM_ERR_ARGUMENT);
    EXPECT(strstr(plenum_error(), "rank 1 cannot be bound to the cores \"p9999\""), "%s", plenum_error());
    EXPECT(plenum_job_place(job, PLENUM_ALL, NULL) == PLENUM_OK);
    char *json = plenum_job_json(job);
    plenum_job_close(job);
    EXPECT(json && plenum_job_create_json(rt, json, &job) == PLENUM_OK);
    free(json);
    EXPECT(plenum_job_launch(job) == PLENUM_OK && plenum_job_place(job, 0, "0") == PLENUM_ERR_STATE);
    for (bool over = false; !over;) {
        struct plenum_event *e = next(rt);
        over = e->kind == PLENUM_EVENT_FINISHED;
        if (e->kind == PLENUM_EVENT_OUTPUT) {
            int length = plenum_job_cpus(job, e->rank, cpus, sizeof cpus);
            EXPECT((length > 0) == (e->rank == 2), "rank %d: %s", e->rank, cpus);
            EXPECT(e->rank < 2 || (size_t)length + 1 == e->length, "rank 2: %s", e->text);
            EXPECT(e->rank < 2 || (strncmp(e->text, first, (size_t)length) == 0 && strcmp(cpus, first) == 0));
        }
        plenum_event_free(e);
    }
    plenum_job_close(job);
    plenum_runtime_close(rt);
}

static void await_start(struct plenum_runtime *rt, const struct plenum_job *job)
{
    for (bool started = false; !started;) {
        struct plenum_event *e = next(rt);
        started = e->kind == PLENUM_EVENT_STARTED && e->job_id == plenum_job_id(job);
        plenum_event_free(e);
    }
}

/* Ends one of the jobs that fill the cores: the next takes its core, also if it waited in the queue. */
static void part_bind_free(void)
{
    enum { MOST = 16 };
    struct plenum_runtime *rt;
    struct held job[MOST];
    char cpus[MOST][64];
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    cores = cores < MOST ? cores : MOST;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    for (int i = 0; i < cores; i++) {
        job[i] = hold_with(rt, 1, PLENUM_BIND_THREAD);
        plenum_job_cpus(job[i].job, 0, cpus[i], sizeof cpus[i]);
        for (int other = 0; other < i; other++)
            EXPECT(strcmp(cpus[i], cpus[other]) != 0, "two jobs on %s", cpus[i]);
    }
    EXPECT(plenum_runtime_set(rt, PLENUM_RUNTIME_SLOTS, cores) == PLENUM_OK);
    for (int i = 0; i < 3 * cores; i++) {
        int gone = (i * 5 + i / cores) % cores;
        char now[64];
        struct held next_job = hold_with(rt, 1, PLENUM_BIND_THREAD); /* in the queue */
        let_go(&job[gone]);
        await_start(rt, next_job.job);
        plenum_job_cpus(next_job.job, 0, now, sizeof now);
        EXPECT(strcmp(now, cpus[gone]) == 0, "the free one is %s, not %s", cpus[gone], now);
        job[gone] = next_job;
    }
    for (int i = 0; i < cores; i++)
        let_go(&job[i]);
    plenum_runtime_close(rt);
}

/* A signal to one rank, and to all. */
static void part_signal(void)
{
    struct plenum_runtime *rt;
    int heard = 0, lost[3] = { 0 };
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 3, "trap 'echo heard' USR1; echo up; while :; do sleep 0.01; done");
    EXPECT(plenum_job_set(job, PLENUM_JOB_KEEP_GOING, 1) == PLENUM_OK);
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    for (int up = 0; up < 3;) {
        struct plenum_event *e = next(rt);
        up += e->kind == PLENUM_EVENT_OUTPUT;
        plenum_event_free(e);
    }
    EXPECT(plenum_job_signal(job, 3, SIGUSR1) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_signal(job, 0, 0) == PLENUM_ERR_ARGUMENT);
    EXPECT(plenum_job_signal(job, 1, SIGUSR1) == PLENUM_OK);
    for (bool over = false; !over;) {
        struct plenum_event *e = next(rt);
        over = e->kind == PLENUM_EVENT_FINISHED;
        if (e->kind == PLENUM_EVENT_OUTPUT && e->stream == 1) {
            EXPECT(e->rank == 1 && strcmp(e->text, "heard\n") == 0);
            heard++;
            EXPECT(plenum_job_signal(job, PLENUM_ALL, SIGKILL) == PLENUM_OK);
        }
        if (e->kind == PLENUM_EVENT_LOST)
            lost[e->rank] = e->signal;
        EXPECT(!over || e->code == 128 + SIGKILL);
        plenum_event_free(e);
    }
    EXPECT(heard == 1 && lost[0] == SIGKILL && lost[1] == SIGKILL && lost[2] == SIGKILL);
    plenum_runtime_close(rt);
}

/* The loop of plenum.h that takes all events comes to its end while ranks print without one. */
static void part_flood(void)
{
    struct plenum_runtime *rt;
    struct plenum_event *e;
    EXPECT(plenum_runtime_open(&rt) == PLENUM_OK);
    struct plenum_job *job = new_job(rt, 16, "exec yes");
    EXPECT(plenum_job_launch(job) == PLENUM_OK);
    for (int round = 0; round < 50; round++) {
        struct pollfd p = { .fd = plenum_runtime_fd(rt), .events = POLLIN };
        EXPECT(poll(&p, 1, 60000) == 1, "nothing happens");
        for (int taken = 0; plenum_runtime_next_event(rt, &e) == PLENUM_OK && e; taken++) {
            plenum_event_free(e);
            EXPECT(taken < 1000, "one event comes after the other");
        }
    }
    EXPECT(plenum_job_cancel(job) == PLENUM_OK);
    await(rt, PLENUM_EVENT_FINISHED, job, PLENUM_EVENT_CANCELLED);
    plenum_runtime_close(rt);
}

PARTS_MAIN({ "queue", part_queue }, { "queue_cancel", part_queue_cancel }, { "queue_fails", part_queue_fails },
           { "queue_threads", part_queue_threads }, { "json", part_json }, { "json_wrong", part_json_wrong },
           { "json_whole", part_json_whole }, { "fifos", part_fifos }, { "nothing", part_nothing },
           { "queue_keeper", part_queue_keeper }, { "crowd", part_crowd }, { "bind", part_bind },
           { "place", part_place }, { "bind_free", part_bind_free }, { "signal", part_signal }, { "flood", part_flood })
