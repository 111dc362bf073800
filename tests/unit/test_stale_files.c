/* SPDX-License-Identifier: BSD-3-Clause */
/* Scratch directories for files of UCX: kept while a process holds them, then removed, also by several at once. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/job/stale_files.h"
#include "unit.h"

enum { SWEEPERS = 2, ROUNDS = 500 };

static void drop_file(const struct pl_scratch_dir *scratch_dir)
{
    char path[PL_SCRATCH_DIR_NAME + 16];
    snprintf(path, sizeof path, "%s/some-file", scratch_dir->name);
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static bool is_there(const struct pl_scratch_dir *scratch_dir)
{
    return access(scratch_dir->name, F_OK) == 0;
}

/* As a process sees it that has not mapped the mark. */
static enum pl_scratch_state state_of(uint64_t number)
{
    return pl_scratch_dir_state(number, NULL);
}

/* Its holder has closed it or has ended: another process that sweeps may hold it for a moment. */
static enum pl_scratch_state later_state_of(uint64_t number, const pl_scratch_mark *mark)
{
    enum pl_scratch_state state;
    while ((state = pl_scratch_dir_state(number, mark)) == PL_SCRATCH_HELD)
        usleep(1000);
    return state;
}

START_TEST(test_held)
{
    static struct pl_scratch_dir scratch_dir, other;
    pl_scratch_dir_open(&scratch_dir, 0);
    pl_scratch_dir_open(&other, 0);
    ck_assert_int_ge(scratch_dir.fd, 0);
    ck_assert_int_ge(other.fd, 0);
    ck_assert_str_ne(scratch_dir.name, other.name);
    drop_file(&scratch_dir);
    pl_stale_files_sweep(0);
    ck_assert(is_there(&scratch_dir) && is_there(&other));
    uint64_t number = scratch_dir.number;
    ck_assert(state_of(number) == PL_SCRATCH_HELD && state_of(other.number) == PL_SCRATCH_HELD);
    pl_scratch_dir_close(&scratch_dir);
    ck_assert(!is_there(&scratch_dir) && is_there(&other));
    ck_assert(state_of(number) != PL_SCRATCH_HELD && state_of(other.number) == PL_SCRATCH_HELD);
    pl_scratch_dir_close(&other);
    ck_assert(!is_there(&other));
    pl_scratch_dir_close(&other);
}
END_TEST

/* Its maker is killed; a child that it had forked holds on a while longer. */
START_TEST(test_killed)
{
    static struct pl_scratch_dir scratch_dir;
    int ready[2], held[2];
    char byte;
    ck_assert_int_eq(pipe(ready) | pipe(held), 0);
    pid_t maker = fork();
    if (maker == 0) {
        pl_scratch_dir_open(&scratch_dir, 0);
        drop_file(&scratch_dir);
        if (fork() == 0) {
            close(held[1]);
            close(ready[0]);
            close(ready[1]);
            _exit(read(held[0], &byte, 1) != 0);
        }
        _exit(write(ready[1], &scratch_dir, sizeof scratch_dir) != sizeof scratch_dir || pause());
    }
    close(held[0]);
    ck_assert_int_eq(read(ready[0], &scratch_dir, sizeof scratch_dir), sizeof scratch_dir);
    ck_assert_int_ge(scratch_dir.fd, 0);
    kill(maker, SIGKILL);
    ck_assert_int_eq(waitpid(maker, NULL, 0), maker);
    pl_stale_files_sweep(0);
    ck_assert(is_there(&scratch_dir) && state_of(scratch_dir.number) == PL_SCRATCH_HELD);
    ck_assert(state_of(scratch_dir.number) != PL_SCRATCH_ABANDONED);
    close(held[1]); /* the child ends */
    later_state_of(scratch_dir.number, NULL);
    while (is_there(&scratch_dir)) {
        ck_assert(state_of(scratch_dir.number) == PL_SCRATCH_ABANDONED ||
                  !is_there(&scratch_dir)); /* others sweep, too */
        usleep(1000);
        pl_stale_files_sweep(0);
    }
    ck_assert(state_of(scratch_dir.number) != PL_SCRATCH_ABANDONED);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

/* A process that was killed: its directory, with a file. */
static void leave_behind(struct pl_scratch_dir *scratch_dir, pid_t runtime)
{
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t maker = fork();
    if (maker == 0) {
        pl_scratch_dir_open(scratch_dir, (uint32_t)runtime);
        drop_file(scratch_dir);
        _exit(write(ready[1], scratch_dir, sizeof *scratch_dir) != sizeof *scratch_dir);
    }
    ck_assert_int_eq(read(ready[0], scratch_dir, sizeof *scratch_dir), sizeof *scratch_dir);
    ck_assert_int_ge(scratch_dir->fd, 0);
    ck_assert_int_eq(waitpid(maker, NULL, 0), maker);
    close(ready[0]);
    close(ready[1]);
}

/* While the runtime lives, a sweep empties the directory and leaves it for the peers to see. */
START_TEST(test_marked)
{
    static struct pl_scratch_dir scratch_dir, held;
    char path[PL_SCRATCH_DIR_NAME + 16];
    leave_behind(&scratch_dir, getpid());
    pl_scratch_dir_open(&held, (uint32_t)getpid());
    for (int sweeps = 0; sweeps < 3; sweeps++) {
        pl_stale_files_sweep(sweeps == 1 ? (uint32_t)getppid() : 0);
        ck_assert(later_state_of(scratch_dir.number, NULL) == PL_SCRATCH_ABANDONED);
    }
    snprintf(path, sizeof path, "%s/some-file", scratch_dir.name);
    ck_assert_int_ne(access(path, F_OK), 0);
    pl_stale_files_sweep((uint32_t)getpid());
    ck_assert(!is_there(&scratch_dir) && is_there(&held));
    drop_file(&held);
    pl_scratch_dir_close(&held);
    ck_assert(!is_there(&held));
}
END_TEST

START_TEST(test_runtime_gone)
{
    static struct pl_scratch_dir scratch_dir;
    pid_t runtime = fork();
    if (runtime == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(runtime, NULL, 0), runtime);
    leave_behind(&scratch_dir, runtime);
    pl_stale_files_sweep(0);
    ck_assert(!is_there(&scratch_dir));
}
END_TEST

/* Peers that have mapped the mark know how the holder ended, also when the directory has gone. */
START_TEST(test_mark)
{
    static struct pl_scratch_dir scratch_dir;
    int ready[2], go[2];
    char byte;
    for (int kills = 0; kills < 2; kills++) {
        int descriptors = unit_entries("/proc/self/fd");
        ck_assert_int_eq(pipe(ready) | pipe(go), 0);
        pid_t holder = fork();
        if (holder == 0) {
            pl_scratch_dir_open(&scratch_dir, 0);
            if (write(ready[1], &scratch_dir, sizeof scratch_dir) != sizeof scratch_dir || read(go[0], &byte, 1) != 1)
                _exit(1);
            if (!kills)
                pl_scratch_dir_close(&scratch_dir);
            _exit(0);
        }
        ck_assert_int_eq(read(ready[0], &scratch_dir, sizeof scratch_dir), sizeof scratch_dir);
        close(ready[0]);
        close(ready[1]);
        const pl_scratch_mark *mark = pl_scratch_mark_open(scratch_dir.number);
        ck_assert_ptr_nonnull(mark);
        ck_assert_int_eq(unit_entries("/proc/self/fd"), descriptors + 2);
        ck_assert(pl_scratch_dir_state(scratch_dir.number, mark) == PL_SCRATCH_HELD);
        ck_assert_int_eq(write(go[1], "g", 1), 1);
        ck_assert_int_eq(waitpid(holder, NULL, 0), holder);
        close(go[0]);
        close(go[1]);
        pl_stale_files_sweep(0);
        while (is_there(&scratch_dir)) { /* another one sweeps */
            usleep(1000);
            pl_stale_files_sweep(0);
        }
        ck_assert(pl_scratch_dir_state(scratch_dir.number, mark) == (kills ? PL_SCRATCH_ABANDONED : PL_SCRATCH_CLOSED));
        ck_assert(state_of(scratch_dir.number) == PL_SCRATCH_CLOSED);
        ck_assert_ptr_null(pl_scratch_mark_open(scratch_dir.number));
        pl_scratch_mark_close(mark);
        ck_assert_int_eq(unit_entries("/proc/self/fd"), descriptors);
    }
}
END_TEST

/* It has closed, and keeps the directory until it ends. */
START_TEST(test_marked_and_kept)
{
    static struct pl_scratch_dir scratch_dir;
    pl_scratch_dir_open(&scratch_dir, (uint32_t)getpid());
    const pl_scratch_mark *mark = pl_scratch_mark_open(scratch_dir.number);
    ck_assert_ptr_nonnull(mark);
    pl_scratch_dir_mark(&scratch_dir);
    ck_assert(pl_scratch_dir_state(scratch_dir.number, mark) == PL_SCRATCH_HELD);
    close(scratch_dir.fd);
    ck_assert(later_state_of(scratch_dir.number, mark) == PL_SCRATCH_CLOSED);
    scratch_dir.fd = open(scratch_dir.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(scratch_dir.fd, 0);
    pl_scratch_dir_close(&scratch_dir);
    ck_assert(!is_there(&scratch_dir));
    ck_assert(pl_scratch_dir_state(scratch_dir.number, mark) == PL_SCRATCH_CLOSED);
    pl_scratch_mark_close(mark);
}
END_TEST

START_TEST(test_sweepers)
{
    pid_t sweeper[SWEEPERS];
    static struct pl_scratch_dir scratch_dir;
    for (int i = 0; i < SWEEPERS; i++)
        if ((sweeper[i] = fork()) == 0)
            for (prctl(PR_SET_PDEATHSIG, SIGKILL);;)
                pl_stale_files_sweep(0);
    for (int round = 0; round < ROUNDS; round++) {
        pl_scratch_dir_open(&scratch_dir, 0);
        ck_assert_int_ge(scratch_dir.fd, 0);
        drop_file(&scratch_dir);
        ck_assert(is_there(&scratch_dir));
        pl_scratch_dir_close(&scratch_dir);
        ck_assert(!is_there(&scratch_dir));
    }
    for (int i = 0; i < SWEEPERS; i++) {
        kill(sweeper[i], SIGKILL);
        waitpid(sweeper[i], NULL, 0);
    }
}
END_TEST

UNIT_MAIN("stale files", test_held, test_killed, test_marked, test_runtime_gone, test_mark, test_marked_and_kept,
          test_sweepers)
