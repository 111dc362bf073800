/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: a command line for plenum.h. Describes the job that the options ask for, launches it and follows it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/mpiexec/options.h"
#include "api/mpiexec/run.h"
#include "api/plenum.h"

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static int exit_code_of(int error)
{
    switch (error) {
    case PLENUM_ERR_NOT_FOUND: return EXIT_NOT_FOUND;
    case PLENUM_ERR_NOT_EXECUTABLE: return EXIT_NOT_EXECUTABLE;
    case PLENUM_ERR_ARGUMENT:
    case PLENUM_ERR_WDIR: return EXIT_USAGE;
    default: return EXIT_FAILURE;
    }
}

/* --- the job ----------------------------------------------------------------------------------------------- */

static int set_variables(struct plenum_job *job, int program, const struct settings *settings)
{
    int err = PLENUM_OK;
    for (int i = 0; !err && i < settings->count; i++)
        err = plenum_job_env(job, program, settings->item[i].name, settings->item[i].value);
    return err;
}

static int describe_section(struct plenum_job *job, const struct section *s)
{
    int program, err = plenum_job_add_program(job, s->ranks, s->argv, &program);
    if (!err && s->wdir)
        err = plenum_job_wdir(job, program, s->wdir);
    if (!err && s->path)
        err = plenum_job_path(job, program, s->path);
    return err ? err : set_variables(job, program, &s->env);
}

/* PREFIX.<rank>.out and PREFIX.<rank>.err */
static int redirect_to_files(struct plenum_job *job, const char *prefix, int ranks)
{
    int err = PLENUM_OK;
    for (int i = 0; !err && i < 2 * ranks; i++) {
        char *name;
        if (asprintf(&name, "%s.%d.%s", prefix, i / 2, i % 2 ? "err" : "out") < 0)
            return PLENUM_ERR_MEMORY;
        int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0) {
            fprintf(stderr, "mpiexec: cannot write \"%s\": %s\n", name, strerror(errno));
            exit(EXIT_FAILURE);
        }
        err = plenum_job_redirect(job, i / 2, 1 + i % 2, fd);
        close(fd);
        free(name);
    }
    return err;
}

/* By default a server that cannot be had is no reason not to run: MPI programs do without. */
static bool wants_pmix(const struct run *run)
{
    const struct options *o = run->options;
    if (o->pmix != PMIX_AUTO)
        return o->pmix == PMIX_ON;
    if (plenum_runtime_want_pmix(run->runtime) == PLENUM_OK)
        return true;
    if (o->verbose)
        fprintf(stderr, "mpiexec: no PMIx server: %s\n", plenum_error());
    return false;
}

static int describe(struct run *run)
{
    const struct options *o = run->options;
    struct plenum_job *job = run->job;
    int err = set_variables(job, PLENUM_ALL, &o->env);
    for (int i = 0; !err && i < o->sections; i++)
        err = describe_section(job, &o->section[i]);
    for (int i = 0; !err && i < o->psets; i++)
        err = plenum_job_pset(job, o->pset[i].name, (const int(*)[2])o->pset[i].ranges, o->pset[i].count);
    if (!err)
        err = plenum_job_set(job, PLENUM_JOB_TIME_LIMIT, o->timeout);
    if (!err)
        err = plenum_job_set(job, PLENUM_JOB_BIND, o->bind);
    if (!err)
        err = plenum_job_set(job, PLENUM_JOB_KEEP_GOING, o->keep_going);
    if (!err)
        err = plenum_job_set(job, PLENUM_JOB_PMIX, wants_pmix(run));
    if (!err && o->output_prefix)
        err = redirect_to_files(job, o->output_prefix, plenum_job_size(job));
    if (err)
        return err;
    int input = terminal_open(&run->input);
    err = plenum_job_redirect(job, 0, 0, input);
    if (input > 0)
        close(input);
    return err;
}

/* The output of many ranks needs many descriptors: as many as we may have. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* --- what to do -------------------------------------------------------------------------------------------- */

static int dry_run(const struct options *o)
{
    int first = 0;
    for (int i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        printf("ranks %d-%d:", first, first + s->ranks - 1);
        for (int a = 0; a < s->argc; a++)
            printf(" %s", s->argv[a]);
        putchar('\n');
        if (s->wdir)
            printf("  in %s\n", s->wdir);
        for (int v = 0; v < o->env.count; v++)
            printf("  with %s=%s\n", o->env.item[v].name, o->env.item[v].value);
        for (int v = 0; v < s->env.count; v++)
            printf("  with %s=%s\n", s->env.item[v].name, s->env.item[v].value);
        first += s->ranks;
    }
    for (int i = 0; i < o->psets; i++) {
        printf("process set %s:", o->pset[i].name);
        for (int r = 0; r < o->pset[i].count; r++)
            printf(" %d-%d", o->pset[i].ranges[r][0], o->pset[i].ranges[r][1]);
        putchar('\n');
    }
    return fflush(stdout) == 0 ? 0 : EXIT_FAILURE;
}

static int complain(struct run *run, int err)
{
    run_say(run, "%s", plenum_error());
    return exit_code_of(err);
}

static int run_job(struct run *run)
{
    int code, err = plenum_runtime_open(&run->runtime);
    if (err)
        return complain(run, err);
    err = plenum_job_create(run->runtime, &run->job);
    if (!err)
        err = describe(run);
    if (!err)
        err = plenum_job_launch(run->job);
    code = err ? complain(run, err) : run_follow(run);
    plenum_runtime_close(run->runtime);
    return code;
}

static int execute(const struct options *o)
{
    struct run run = { .options = o, .input.pipe = -1 };
    int code = EXIT_FAILURE;

    sink_init(&run.out, STDOUT_FILENO);
    sink_init(&run.err, STDERR_FILENO);
    if (!run_catch_signals(&run)) {
        run_say(&run, "cannot receive signals: %s", strerror(errno));
        goto drop_sinks;
    }
    if (o->json_events) {
        run.json = fopen(o->json_events, "we");
        if (!run.json) {
            run_say(&run, "cannot write \"%s\": %s", o->json_events, strerror(errno));
            code = EXIT_USAGE;
            goto drop_sinks;
        }
    }
    raise_descriptor_limit();
    code = run_job(&run);
    if (run.json)
        fclose(run.json);
drop_sinks:
    sink_drop(&run.out);
    sink_drop(&run.err);
    return code;
}

/* Descriptors 0, 1 and 2 are what they stand for, or nothing; never something that we open later. */
static void keep_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char *argv[])
{
    keep_standard_streams();
    struct options options = { 0 };
    char error[512];
    int code = 0;
    if (!options_parse(&options, argc, argv, error, sizeof(error))) {
        fprintf(stderr, "mpiexec: %s\n", error);
        code = EXIT_USAGE;
    } else if (options.help) {
        options_help();
    } else if (options.version) {
        puts("mpiexec (Plenum) " PLENUM_VERSION);
    } else {
        code = options.dry_run ? dry_run(&options) : execute(&options);
    }
    options_free(&options);
    return code;
}
