/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: a command line for plenum.h. Describes the job that the options ask for, launches it and follows it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/mpiexec/chatter.h"
#include "api/mpiexec/debugger.h"
#include "api/mpiexec/describe_job.h"
#include "api/mpiexec/foreign.h"
#include "api/mpiexec/handover.h"
#include "api/mpiexec/hosts.h"
#include "api/mpiexec/preflight.h"
#include "api/mpiexec/rankfile.h"
#include "api/mpiexec/run.h"
#include "api/mpiexec/word.h"
#include "api/plenum.h"
#include "core/base/descriptors.h"
#include "core/base/memory_libc.h"
#include "core/base/proc_stat.h"

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static int mpiexec_exit_code_of(int error)
{
    switch (error) {
    case PLENUM_ERR_NOT_FOUND: return EXIT_NOT_FOUND;
    case PLENUM_ERR_NOT_EXECUTABLE: return EXIT_NOT_EXECUTABLE;
    case PLENUM_ERR_ARGUMENT:
    case PLENUM_ERR_WDIR: return EXIT_USAGE;
    default: return EXIT_FAILURE;
    }
}

/* An mpi4py that is built for several ABIs takes the one, and the library, that these name. The user's choice stays. */
static void mpiexec_name_library(void)
{
    char file[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", file, sizeof file - 1);
    if (length < 0 || getenv("MPI4PY_MPIABI") || getenv("MPI4PY_LIBMPI"))
        return;
    file[length] = '\0';
    for (int up = 0; up < 2 && strrchr(file, '/'); up++) /* bin/mpiexec */
        *strrchr(file, '/') = '\0';
    length = (ssize_t)strlen(file);
    snprintf(file + length, sizeof file - (size_t)length, "/lib/libmpi_abi.so.1");
    if (access(file, R_OK) != 0 || strpbrk(file, ":$")) /* mpi4py takes a list of files, and expands variables */
        return;
    setenv("MPI4PY_MPIABI", "mpiabi", 1);
    setenv("MPI4PY_LIBMPI", file, 1);
}

/* The processes inherit this, and --bind-to chooses among these. */
static bool mpiexec_keep_to(const char *list)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (const char *at = list; *at;) {
        int first, last, used = 0;
        if (sscanf(at, "%d-%d%n", &first, &last, &used) != 2 || used == 0) {
            if (sscanf(at, "%d%n", &first, &used) != 1)
                break;
            last = first;
        }
        if (first < 0 || last >= CPU_SETSIZE || last < first || (at[used] && at[used] != ','))
            break;
        for (int i = first; i <= last; i++)
            CPU_SET(i, &cpus);
        at += used + (at[used] == ',');
        if (!*at && sched_setaffinity(0, sizeof cpus, &cpus) == 0)
            return true;
    }
    print_message("--cpu-set expects processors that may be used here, such as 0-3,8, not \"%s\"", list);
    return false;
}

/* The ranks of programs with --map-by ppr:N: N for each core or the like. Other machines count their own. */
static bool mpiexec_count_ranks(struct options *o)
{
    for (int i = 0; i < o->sections; i++) {
        struct section *s = &o->section[i];
        int places;
        if (s->per_place == 0 || s->counted || o->elsewhere)
            continue;
        if (plenum_place_count(s->place, &places) != PLENUM_OK) {
            print_message("--map-by ppr: %s", plenum_error());
            return false;
        }
        s->ranks = s->per_place * places;
    }
    return true;
}

/* --- running a job ----------------------------------------------------------------------------------------- */

static int mpiexec_fail(struct run *run, int err)
{
    if (err == DESCRIBE_PRINTED)
        return EXIT_USAGE;
    run_say(run, "%s", plenum_error());
    return mpiexec_exit_code_of(err);
}

static int mpiexec_launch(struct run *run)
{
    const struct options *o = run->options;
    if (!foreign_prepare(run))
        return EXIT_USAGE;
    for (int i = 0; i < o->notes; i++)
        run_say(run, "note: %s", o->note[i]);
    if (o->display_map && !describe_dry_run(run))
        return EXIT_FAILURE;
    chatter_catch(run);
    int err = debugger_prepare(run);
    if (!err)
        err = plenum_job_launch(run->job);
    if (err)
        return mpiexec_fail(run, err);
    if (o->verbose && plenum_error()[0]) /* the PMIx server could not be opened, and the job does not insist */
        run_say(run, "note: %s; continuing without it", plenum_error());
    if (!run->on_hosts)
        run_say_bindings(run);
    return run_follow(run);
}

static int mpiexec_run_job(struct run *run, struct options *o)
{
    int code, err = plenum_runtime_open(&run->runtime);
    struct rlimit before;
    run->oom_kills = pl_proc_oom_kills();
    pl_descriptors_raise(&before); /* the output of each rank needs two; after the fork of the ranks' parent */
    if (!err && run->on_hosts && !o->dry_run)
        err = hosts_add(run);
    if (err)
        return mpiexec_fail(run, err);
    if (o->verbose)
        preflight_say(run);
    int interrupt = run->on_hosts && !o->dry_run ? hosts_count(run, o) : 0;
    if (!interrupt)
        err = describe_job(run);
    if (!err && !interrupt)
        err = describe_streams(run);
    if (!err && o->dry_run == DRY_RUN_TEXT && !run->on_hosts)
        err = rankfile_find_cores(run->job, o);
    if (interrupt)
        code = CODE_SIGNAL + interrupt;
    else if (err)
        code = mpiexec_fail(run, err);
    else if (o->dry_run)
        code = describe_dry_run(run) ? EXIT_SUCCESS : EXIT_FAILURE;
    else
        code = mpiexec_launch(run);
    plenum_runtime_close(run->runtime);
    debugger_forget();
    chatter_release(run);
    return code;
}

static int mpiexec_execute(struct options *o, bool on_hosts)
{
    struct run run = { .options = o, .on_hosts = on_hosts, .input.pipe = -1, .chatter = -1 };
    int code = EXIT_FAILURE;

    sink_init(&run.out, STDOUT_FILENO);
    sink_init(&run.err, STDERR_FILENO);
    if (!run_catch_signals(&run)) {
        run_say(&run, "cannot receive signals: %s", strerror(errno));
        goto drop_sinks;
    }
    if (o->json_events && !o->dry_run) {
        run.json = fopen(o->json_events, "we");
        if (!run.json) {
            run_say(&run, "cannot write \"%s\": %s", o->json_events, strerror(errno));
            code = EXIT_USAGE;
            goto drop_sinks;
        }
    }
    mpiexec_name_library();
    setenv("PLENUM_CRASH_REPORT", "1", 0); /* the processes inherit it; a setting of the user stays */
    if (!o->buffered && !isatty(STDOUT_FILENO))
        setenv("TERM", "dumb", 1); /* what they take for a terminal is a file or a pipe: no colours */
    code = mpiexec_run_job(&run, o);
    if (run.json)
        fclose(run.json);
drop_sinks:
    sink_drop(&run.out);
    sink_drop(&run.err);
    return code;
}

/* Runs the job, or executes another launcher. */
static int mpiexec_start(struct options *o)
{
    struct handover h;
    int code = EXIT_USAGE;
    if (o->cpus && !mpiexec_keep_to(o->cpus))
        return code;
    if (!mpiexec_count_ranks(o))
        return EXIT_FAILURE;
    bool good = handover_make(&h, o), on_hosts = good && h.launcher == LAUNCHER_SSH;
    if (on_hosts)
        good = hosts_prepare(o, h.error, sizeof h.error);
    if (!good)
        print_message("%s", h.error);
    else
        code = on_hosts || h.launcher == LAUNCHER_EMBEDDED ? mpiexec_execute(o, on_hosts) : handover_run(&h);
    handover_free(&h);
    return code;
}

/* Opens /dev/null as any of the descriptors 0, 1 and 2 that is closed, so that no later open() gets their numbers.
 * Writing to standard output fails as before. */
static void mpiexec_keep_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", fcntl(STDOUT_FILENO, F_GETFD) < 0 ? O_RDONLY : O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char *argv[])
{
    mpiexec_keep_standard_streams();
    struct options options = { 0 };
    char error[512];
    int code = 0;
    if (!options_parse(&options, argc, argv, error, sizeof error)) {
        print_message("%s", error);
        code = EXIT_USAGE;
    } else if (options.help) {
        options_help();
    } else if (options.version) {
        puts("mpiexec (Plenum) " PLENUM_VERSION);
    } else {
        code = mpiexec_start(&options);
    }
    options_free(&options);
    bool earlier = ferror(stdout);
    if (fflush(stdout) != 0 || earlier) {
        print_message("cannot write the output%s%s", earlier ? "" : ": ", earlier ? "" : strerror(errno));
        return code ? code : EXIT_FAILURE;
    }
    return code;
}
