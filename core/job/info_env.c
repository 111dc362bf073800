/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_INFO_ENV: how this process was started. Not changed by the user; filled in when it is first used, and once more
 * when the World has come, which knows what the launcher was asked for.
 *
 * Locking: that of the info, and the process's around it while what the launcher said is read; two threads that fill it
 * at the same time write the same values.
 */
#include "core/job/info_env.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/job/process.h"
#include "core/object/alloc_kinds.h"
#include "core/object/info.h"

static struct pl_info env = {
    .obj = PL_OBJECT_PREDEFINED(PL_INFO, (int32_t)(uintptr_t)MPI_INFO_ENV),
    .lock = PL_LOCK_INIT(PL_RANK_OBJECT),
    .pairs = { &env.pairs, &env.pairs },
};

/* Values are limited in length; what does not fit is not known rather than wrong. */
static int info_env_set(struct pl_info *info, const char *key, const char *value)
{
    return *value && strlen(value) < MPI_MAX_INFO_VAL ? pl_info_set(info, key, value) : MPI_SUCCESS;
}

static int set_words(struct pl_info *info, const char *key, int count, char **words)
{
    char text[MPI_MAX_INFO_VAL];
    size_t used = 0;
    for (int i = 0; i < count && words[i]; i++) {
        int length = snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", words[i]);
        if (length < 0 || (size_t)length >= sizeof text - used)
            return MPI_SUCCESS;
        used += (size_t)length;
    }
    return used ? info_env_set(info, key, text) : MPI_SUCCESS;
}

/* The words of the command line, as the kernel tells them. `line` holds them. */
static int read_command_line(char *line, size_t capacity, char **words, int most)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), count = 0;
    ssize_t length = fd < 0 ? 0 : read(fd, line, capacity - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0 || (size_t)length == capacity - 1)
        return 0; /* not known, or too long to be a value */
    line[length] = '\0';
    for (char *at = line; at < line + length && count < most; at += strlen(at) + 1)
        words[count++] = at;
    return count;
}

static int fill_from_job(struct pl_info *info, const struct pl_job_segment *job, int rank)
{
    const struct pl_job_app *apps = (const void *)((const char *)job + job->apps);
    int err = MPI_SUCCESS;
    for (uint32_t i = 0; i < job->app_count && !err; i++) {
        const struct pl_job_app *app = &apps[i];
        if ((uint32_t)rank < app->first || (uint32_t)rank - app->first >= app->count)
            continue;
        char count[16];
        snprintf(count, sizeof count, "%u", app->count);
        if (app->command)
            err = info_env_set(info, "command", (const char *)job + app->command);
        if (!err && app->argv)
            err = info_env_set(info, "argv", (const char *)job + app->argv);
        if (!err && app->wdir)
            err = info_env_set(info, "wdir", (const char *)job + app->wdir);
        if (!err)
            err = info_env_set(info, "maxprocs", count);
    }
    return err;
}

static int fill_from_process(struct pl_info *info, int argc, char **argv)
{
    enum { WORDS = 256 };
    char line[2 * MPI_MAX_INFO_VAL], directory[PATH_MAX], *words[WORDS];
    struct utsname host;
    if (argc <= 0 || !argv) {
        argc = read_command_line(line, sizeof line, words, WORDS);
        argv = words;
    }
    int err = argc > 0 && argv[0] ? info_env_set(info, "command", argv[0]) : MPI_SUCCESS;
    if (!err && argc > 1 && argv[0])
        err = set_words(info, "argv", argc - 1, argv + 1);
    if (!err && getcwd(directory, sizeof directory))
        err = info_env_set(info, "wdir", directory);
    if (!err && uname(&host) == 0) {
        err = info_env_set(info, "host", host.nodename);
        if (!err)
            err = info_env_set(info, "arch", host.machine);
    }
    return err;
}

/* What the launcher said. The process stays open meanwhile, whatever other threads do. */
static int fill_from_launcher_locked(struct pl_info *info)
{
    char size[16];
    if (pl_process.instances == 0)
        return MPI_SUCCESS;
    snprintf(size, sizeof size, "%d", pl_process.identity.size);
    int err = info_env_set(info, "maxprocs", size);
    if (!err && strcmp(pl_config_origin("memory_alloc_kinds"), "default") != 0) /* what was asked for */
        err = info_env_set(info, PL_ALLOC_KINDS_KEY, pl_config_text("memory_alloc_kinds"));
    if (!err && strcmp(pl_config_origin("initial_errhandler"), "default") != 0)
        err = info_env_set(info, "mpi_initial_errhandler", pl_config_text("initial_errhandler"));
    if (!err && pl_process.identity.job)
        err = fill_from_job(info, pl_process.identity.job, pl_process.identity.rank);
    return err;
}

static int info_env_fill(struct pl_info *info, int argc, char **argv)
{
    int err = fill_from_process(info, argc, argv);
    pl_lock_take(&pl_process.lock);
    if (!err)
        err = fill_from_launcher_locked(info);
    pl_lock_drop(&pl_process.lock);
    return err;
}

/* The keys are those of MPI_INFO_ENV once the World has come, so the process asks how it was launched if it has not
 * done so yet. Where that fails, as initialization would, those keys are missing. */
int pl_info_create_env(int argc, char **argv, struct pl_info **info)
{
    bool open = pl_process_open() == MPI_SUCCESS;
    struct pl_info *made = pl_info_create();
    int err = made ? info_env_fill(made, argc, argv) : MPI_ERR_NO_MEM;
    if (open)
        pl_process_close();
    if (err && made)
        pl_handle_drop(made);
    *info = err ? NULL : made;
    return err;
}

void *pl_info_predefined(uintptr_t constant)
{
    enum { EMPTY, PROVISIONAL, FINAL };
    static _Atomic int stage = EMPTY;
    if (constant != (uintptr_t)MPI_INFO_ENV)
        return NULL;
    int wanted = pl_world_state == PL_WORLD_INITIALIZED ? FINAL : PROVISIONAL;
    if (stage < wanted && info_env_fill(&env, 0, NULL) == MPI_SUCCESS)
        stage = wanted;
    return &env;
}
