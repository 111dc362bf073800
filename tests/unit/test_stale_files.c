/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories for files of UCX: kept as long as somebody holds them, gone afterwards, with those that sweep beside. */
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

static void drop_file(const struct pl_litter *litter)
{
    char path[PL_LITTER_NAME + 16];
    snprintf(path, sizeof path, "%s/some-file", litter->name);
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static bool is_there(const struct pl_litter *litter)
{
    return access(litter->name, F_OK) == 0;
}

START_TEST(test_held)
{
    struct pl_litter litter, other;
    pl_litter_open(&litter);
    pl_litter_open(&other);
    ck_assert_int_ge(litter.fd, 0);
    ck_assert_int_ge(other.fd, 0);
    ck_assert_str_ne(litter.name, other.name);
    drop_file(&litter);
    pl_litter_sweep();
    ck_assert(is_there(&litter) && is_there(&other));
    uint64_t number = litter.number;
    ck_assert(pl_litter_is_held(number) && pl_litter_is_held(other.number));
    pl_litter_close(&litter);
    ck_assert(!is_there(&litter) && is_there(&other));
    ck_assert(!pl_litter_is_held(number) && pl_litter_is_held(other.number));
    pl_litter_close(&other);
    ck_assert(!is_there(&other));
    pl_litter_close(&other);
}
END_TEST

/* Its maker is killed; a child that it had forked holds on a while longer. */
START_TEST(test_killed)
{
    struct pl_litter litter;
    int ready[2], held[2];
    char byte;
    ck_assert_int_eq(pipe(ready) | pipe(held), 0);
    pid_t maker = fork();
    if (maker == 0) {
        pl_litter_open(&litter);
        drop_file(&litter);
        if (fork() == 0) {
            close(held[1]);
            close(ready[0]);
            close(ready[1]);
            _exit(read(held[0], &byte, 1) != 0);
        }
        _exit(write(ready[1], &litter, sizeof litter) != sizeof litter || pause());
    }
    close(held[0]);
    ck_assert_int_eq(read(ready[0], &litter, sizeof litter), sizeof litter);
    ck_assert_int_ge(litter.fd, 0);
    kill(maker, SIGKILL);
    ck_assert_int_eq(waitpid(maker, NULL, 0), maker);
    pl_litter_sweep();
    ck_assert(is_there(&litter) && pl_litter_is_held(litter.number));
    close(held[1]); /* the child ends */
    while (pl_litter_is_held(litter.number))
        usleep(1000);
    ck_assert(is_there(&litter)); /* asking removes nothing */
    while (is_there(&litter)) {
        usleep(1000);
        pl_litter_sweep();
    }
    close(ready[0]);
    close(ready[1]);
}
END_TEST

START_TEST(test_sweepers)
{
    pid_t sweeper[SWEEPERS];
    struct pl_litter litter;
    for (int i = 0; i < SWEEPERS; i++)
        if ((sweeper[i] = fork()) == 0)
            for (prctl(PR_SET_PDEATHSIG, SIGKILL);;)
                pl_litter_sweep();
    for (int round = 0; round < ROUNDS; round++) {
        pl_litter_open(&litter);
        ck_assert_int_ge(litter.fd, 0);
        drop_file(&litter);
        ck_assert(is_there(&litter));
        pl_litter_close(&litter);
        ck_assert(!is_there(&litter));
    }
    for (int i = 0; i < SWEEPERS; i++) {
        kill(sweeper[i], SIGKILL);
        waitpid(sweeper[i], NULL, 0);
    }
}
END_TEST

UNIT_MAIN("litter", test_held, test_killed, test_sweepers)
