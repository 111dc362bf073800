/* SPDX-License-Identifier: BSD-3-Clause */
/* See describe_job.h. */
#include "api/mpiexec/describe_job.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/mpiexec/hosts.h"
#include "api/mpiexec/machine.h"
#include "api/mpiexec/rankfile.h"
#include "api/mpiexec/word.h"
#include "core/base/file_limit.h"
#include "core/base/memory_libc.h"

/* --- the programs ------------------------------------------------------------------------------------------ */

static int describe_set_variables(struct plenum_job *job, int program, const struct settings *settings)
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
    return err ? err : describe_set_variables(job, program, &s->env);
}

static int describe_create_from_file(struct run *run, const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(name, "re");
    ssize_t length = file ? pl_getdelim(&text, &size, '\0', file) : -1;
    int err = DESCRIBE_PRINTED;
    if (!file || ferror(file))
        run_say(run, "cannot read \"%s\": %s", name, strerror(errno));
    else
        err = plenum_job_create_json(run->runtime, length > 0 ? text : "", &run->job);
    if (err > 0) {
        run_say(run, "%s: %s", name, plenum_error());
        err = DESCRIBE_PRINTED;
    }
    if (file)
        fclose(file);
    free(text);
    return err;
}

static int describe_create(struct run *run)
{
    const struct options *o = run->options;
    if (o->job)
        return describe_create_from_file(run, o->job);
    int err = plenum_job_create(run->runtime, &run->job);
    for (int i = 0; !err && i < o->sections; i++)
        err = describe_section(run->job, &o->section[i]);
    return err;
}

/* --- options of the job ------------------------------------------------------------------------------------ */

/* Options that were not given keep the value of the job's file, or the library's default. */
static int describe_set_options(struct run *run)
{
    const struct options *o = run->options;
    const struct {
        bool given;
        enum plenum_job_option option;
        long value;
    } all[] = {
        { o->timeout > 0, PLENUM_JOB_TIME_LIMIT, o->timeout },
        { o->grace_given, PLENUM_JOB_GRACE, o->grace },
        { o->keep_going, PLENUM_JOB_KEEP_GOING, 1 },
        { o->bind_given, PLENUM_JOB_BIND, o->bind },
        { o->bind_count > 0, PLENUM_JOB_BIND_COUNT, o->bind_count },
        { o->map_given, PLENUM_JOB_MAP, o->map },
        { o->rank_by != PLENUM_RANK_MAPPED, PLENUM_JOB_RANK, o->rank_by },
        { o->universe > 0, PLENUM_JOB_UNIVERSE, o->universe },
        { o->pmix_given || !o->job, PLENUM_JOB_PMIX, o->pmix },
        { true, PLENUM_JOB_TERMINAL, !o->buffered },
    };
    int err = PLENUM_OK;
    for (size_t i = 0; !err && i < sizeof all / sizeof *all; i++)
        if (all[i].given)
            err = plenum_job_set(run->job, all[i].option, all[i].value);
    return err;
}

/* The agents count the GPUs of other machines. */
static int describe_ask_gpus(struct run *run)
{
    const struct options *o = run->options;
    long gpus = (long)o->gpus * plenum_job_size(run->job);
    if (!run->on_hosts && gpus > machine_gpus()) {
        run_say(run, "--gpus-per-task %d: %d processes need %ld GPUs, and this machine has %d%s", o->gpus,
                plenum_job_size(run->job), gpus, machine_gpus(),
                machine_gpus() > 0 ? "" : ", by CUDA_VISIBLE_DEVICES and the like, and by its device files");
        return DESCRIBE_PRINTED;
    }
    int err = o->gpus > 0 ? plenum_job_resource(run->job, "gpu", o->gpus, PLENUM_EACH_RANK) : PLENUM_OK;
    return err || run->on_hosts ? err : plenum_runtime_resource(run->runtime, "gpu", machine_gpus());
}

int describe_job(struct run *run)
{
    const struct options *o = run->options;
    int err = describe_create(run);
    if (!err && o->env_clear)
        err = plenum_job_env_clear(run->job);
    if (!err)
        err = describe_set_variables(run->job, PLENUM_ALL, &o->env);
    for (int i = 0; !err && i < o->psets; i++)
        err = plenum_job_pset(run->job, o->pset[i].name, (const int(*)[2])o->pset[i].ranges, o->pset[i].count);
    if (!err)
        err = describe_ask_gpus(run);
    if (!err && run->on_hosts)
        err = hosts_put_ranks(run->job, o);
    if (!err)
        err = rankfile_describe(run->job, o, run->on_hosts);
    return err ? err : describe_set_options(run);
}

/* --- standard streams -------------------------------------------------------------------------------------- */

/* Makes a directory, unless it is there, and those above it. Returns 0 or an errno. */
static int describe_make_directory(const char *name)
{
    if (mkdir(name, 0777) == 0 || errno == EEXIST)
        return 0;
    char *above = errno == ENOENT ? pl_strdup(name) : NULL;
    if (!above)
        return errno;
    for (char *at = strchr(above + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(above, 0777); /* an error shows in the last one */
        *at = '/';
    }
    free(above);
    return mkdir(name, 0777) == 0 || errno == EEXIST ? 0 : errno;
}

/* DIR/rank.N.out and DIR/rank.N.err, or one file for both when its name contains %r. */
static int describe_output_files(struct run *run, const char *name)
{
    static const char *const kind[] = { "out", "err" };
    int err = PLENUM_OK;
    bool pattern = strstr(name, "%r") != NULL;
    for (int i = 0; !err && i < 2; i++) {
        char *file;
        if (pl_asprintf(&file, pattern ? "%s" : "%s/rank.%%r.%s", name, kind[i]) < 0)
            return PLENUM_ERR_MEMORY;
        err = plenum_job_redirect_file(run->job, PLENUM_ALL, 1 + i, file);
        free(file);
    }
    int why = err || pattern || run->options->dry_run ? 0 : describe_make_directory(name);
    if (why)
        run_say(run, "cannot create the directory \"%s\": %s", name, strerror(why));
    return why ? DESCRIBE_PRINTED : err;
}

/* Reads a part of standard input into a file. False: the end, or an error (errno); or a signal has come (EINTR). */
static bool describe_copy_stdin(const struct run *run, int file)
{
    char data[65536];
    struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = run->signals, .events = POLLIN } };
    poll(p, 2, -1);
    errno = EINTR;
    ssize_t got = p[1].revents ? -1 : read(STDIN_FILENO, data, sizeof data);
    if (got == 0)
        errno = 0;
    off_t there = lseek(file, 0, SEEK_CUR);
    if (got > 0 && !pl_file_may_have((uint64_t)there + (uint64_t)got))
        return false;
    for (ssize_t done = 0, put; got > 0 && done < got; done += put)
        if ((put = write(file, data + done, (size_t)(got - done))) < 0)
            return false;
    return got > 0;
}

/* Every rank gets a copy of all that standard input has, at the beginning. Each opens the file for itself. */
static int describe_stdin_for_all(struct run *run)
{
    char name[64];
    int file = memfd_create("plenum-stdin", MFD_CLOEXEC); /* open until mpiexec ends */
    while (file >= 0 && describe_copy_stdin(run, file))
        continue;
    if (file < 0 || errno) {
        run_say(run, "cannot read standard input for all ranks: %s", strerror(errno));
        return DESCRIBE_PRINTED;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    return plenum_job_redirect_file(run->job, PLENUM_ALL, 0, name);
}

int describe_streams(struct run *run)
{
    const struct options *o = run->options;
    int err = o->output ? describe_output_files(run, o->output) : PLENUM_OK;
    if (!err && o->out_pattern)
        err = plenum_job_redirect_file(run->job, PLENUM_ALL, 1, o->out_pattern);
    if (!err && o->err_pattern)
        err = plenum_job_redirect_file(run->job, PLENUM_ALL, 2, o->err_pattern);
    if (!err && !o->dry_run && o->stdin_rank == STDIN_ALL)
        return describe_stdin_for_all(run);
    if (err || o->dry_run || o->stdin_rank < 0 || (o->job && !o->stdin_given))
        return err;
    int input = terminal_open(&run->input);
    err = plenum_job_redirect(run->job, o->stdin_rank, 0, input);
    if (input > 0)
        close(input);
    return err;
}

/* --- in words ---------------------------------------------------------------------------------------------- */

void describe_bindings(const struct plenum_job *job, FILE *out)
{
    char cpus[512];
    for (int r = 0; r < plenum_job_size(job); r++)
        if (plenum_job_cpus(job, r, cpus, sizeof cpus) > 0)
            fprintf(out, "rank %d: processors %s\n", r, cpus);
}

static void describe_gpus(const struct plenum_job *job)
{
    char gpus[512];
    for (int r = 0; r < plenum_job_size(job); r++)
        if (plenum_job_numbers(job, r, "gpu", gpus, sizeof gpus) > 0)
            printf("rank %d: GPUs %s\n", r, gpus);
}

static void describe_print_range(int first, int last)
{
    if (first == last)
        printf("%d", first);
    else
        printf("%d-%d", first, last);
}

static void describe_print_variables(const struct settings *env)
{
    for (int i = 0; i < env->count; i++)
        printf("  with %s=%s\n", env->item[i].name, env->item[i].value);
}

static void describe_print_sections(const struct options *o)
{
    int first = 0;
    for (int i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        fputs(s->ranks == 1 ? "rank " : "ranks ", stdout);
        describe_print_range(first, first + s->ranks - 1);
        putchar(':');
        for (int a = 0; a < s->argc; a++) {
            putchar(' ');
            print_word(s->argv[a], stdout);
        }
        putchar('\n');
        if (s->wdir)
            printf("  in %s\n", s->wdir);
        describe_print_variables(&o->env);
        describe_print_variables(&s->env);
        first += s->ranks;
    }
}

static void describe_print_psets(const struct options *o)
{
    for (int i = 0; i < o->psets; i++) {
        printf("process set %s:", o->pset[i].name);
        for (int r = 0; r < o->pset[i].count; r++) {
            putchar(' ');
            describe_print_range(o->pset[i].ranges[r][0], o->pset[i].ranges[r][1]);
        }
        putchar('\n');
    }
}

bool describe_dry_run(const struct run *run)
{
    const struct options *o = run->options;
    if (o->dry_run == DRY_RUN_JSON || o->job) {
        char *text = plenum_job_json(run->job);
        bool good = text && puts(text) >= 0;
        free(text);
        if (!good) {
            print_message("%s", plenum_error());
            return false;
        }
    } else {
        if (run->on_hosts)
            hosts_print(o);
        describe_print_sections(o);
        describe_print_psets(o);
        if (run->on_hosts)
            rankfile_print(o);
        else
            describe_bindings(run->job, stdout);
        describe_gpus(run->job);
    }
    return fflush(stdout) == 0;
}
