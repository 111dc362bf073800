/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of pools: ranks that are held, deaths and the processes that they concern, what is left behind, and files
 * that are not pools. The members are children of the test, which a byte in a pipe tells what to do.
 */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/job/attach.h"
#include "core/job/attach_file.h"
#include "core/job/card.h"

enum { SIZE = 3 };

static char path[192];
static const char *directory;

static void start(void)
{
    directory = unit_directory();
    snprintf(path, sizeof path, "%s/" PL_ATTACH_FILE, directory);
}

static void end(void)
{
    ck_assert_int_eq(rmdir(directory), 0); /* the last process has removed everything */
}

/* A process that takes a rank, and detaches when its input ends. */
struct member {
    pid_t pid;
    int orders;
};

static struct member member(int rank)
{
    int orders[2], said[2];
    char byte = 0;
    ck_assert_int_eq(pipe(orders) | pipe(said), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct pl_seat seat;
        close(orders[1]);
        byte = pl_seat_in_directory(directory, rank, SIZE, &seat) == MPI_SUCCESS ? 'y' : 'n';
        if (write(said[1], &byte, 1) != 1 || byte == 'n')
            _exit(1);
        while (read(orders[0], &byte, 1) > 0)
            continue;
        pl_seat_leave(&seat);
        _exit(0);
    }
    close(orders[0]);
    close(said[1]);
    ck_assert_int_eq(read(said[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'y');
    close(said[0]);
    return (struct member){ pid, orders[1] };
}

static void leave(struct member member)
{
    int status;
    close(member.orders);
    waitpid(member.pid, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void die(struct member member)
{
    kill(member.pid, SIGKILL);
    waitpid(member.pid, NULL, 0);
    close(member.orders);
}

static int words(const char *text)
{
    return strstr(pl_error_detail(NULL), text) != NULL;
}

START_TEST(ranks)
{
    struct pl_seat seat, second;
    struct stat st;
    start();
    struct member one = member(1);
    ck_assert_int_eq(pl_seat_in_directory(directory, 1, SIZE, &seat), MPI_ERR_OTHER);
    ck_assert_msg(words("rank 1") && words(directory), "%s", pl_error_detail(NULL));
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE + 1, &seat), MPI_ERR_ARG);
    ck_assert_msg(words("has 3 ranks"), "%s", pl_error_detail(NULL));
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_SUCCESS);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
    for (int r = 0; r < SIZE; r++)
        ck_assert_int_eq(pl_seat_alive(&seat, r), MPI_SUCCESS);
    leave(one);
    ck_assert_int_eq(pl_seat_alive(&seat, 1), MPI_SUCCESS); /* gone, and not dead */
    ck_assert_int_eq(stat(path, &st), 0);
    pl_seat_leave(&seat);
    ck_assert_int_ne(stat(path, &st), 0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 2, 7, &second), MPI_SUCCESS); /* another pool, of another size */
    ck_assert_int_eq(second.job->size, 7);
    pl_seat_leave(&second);
    end();
}
END_TEST

START_TEST(deaths)
{
    struct pl_seat seat;
    unsigned char card[PL_CARD_MAX];
    size_t length;
    start();
    struct member one = member(1), two = member(2);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_card(&seat, 1, PL_CARD_LISTENER, card, &length), PL_AGAIN);
    die(one);
    ck_assert_int_eq(pl_seat_alive(&seat, 1), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(pl_seat_alive(&seat, 2), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_card(&seat, 1, PL_CARD_LISTENER, card, &length), MPI_ERR_PROC_ABORTED);
    ck_assert_msg(words("rank 1"), "%s", pl_error_detail(NULL));
    ck_assert_uint_eq(pl_seat_deaths(&seat, 1), 0);
    one = member(1);
    ck_assert_int_eq(pl_seat_alive(&seat, 1), MPI_SUCCESS);
    ck_assert_uint_eq(pl_seat_deaths(&seat, 1), 1);
    die(one);
    ck_assert_int_eq(pl_seat_alive(&seat, 1), MPI_ERR_PROC_ABORTED);
    pl_seat_leave(&seat); /* a process that comes now waits for another */
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_alive(&seat, 1), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_card(&seat, 1, PL_CARD_LISTENER, card, &length), PL_AGAIN);
    uint32_t before = pl_seat_deaths(&seat, 1);
    one = member(1);
    ck_assert_uint_eq(pl_seat_deaths(&seat, 1), before);
    die(one);
    ck_assert_int_eq(pl_seat_alive(&seat, 1), MPI_ERR_PROC_ABORTED);
    pl_seat_leave(&seat);
    die(two); /* the last: its file stays, and is used again */
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, 5, &seat), MPI_SUCCESS);
    ck_assert_int_eq(seat.job->size, 5);
    pl_seat_leave(&seat);
    end();
}
END_TEST

/* A pool that cannot be made is an error, not SIGXFSZ, and leaves no file. */
START_TEST(file_size_limit)
{
    struct pl_seat seat;
    struct rlimit before, few;
    start();
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = (struct rlimit){ 16384, before.rlim_max };
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_ERR_OTHER);
    ck_assert_msg(words("ulimit -f"), "%s", pl_error_detail(NULL));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_int_eq(pl_seat_make(SIZE, 17, &seat), MPI_ERR_OTHER);
    ck_assert_msg(words("ulimit -f"), "%s", pl_error_detail(NULL));
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_SUCCESS);
    pl_seat_leave(&seat);
    end();
}
END_TEST

/* What a process publishes goes with it, whether it leaves or dies: the next holder of the rank has no card before it
 * publishes its own. */
START_TEST(cards)
{
    struct pl_seat seat, other;
    unsigned char card[PL_CARD_MAX];
    size_t length = 0;
    start();
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_in_directory(directory, 1, SIZE, &other), MPI_SUCCESS);
    pl_job_card_write(&other.shared->ranks[1].card[PL_CARD_LISTENER], 1, "card", 4);
    ck_assert_int_eq(pl_seat_card(&seat, 1, PL_CARD_LISTENER, card, &length), MPI_SUCCESS);
    ck_assert(length == 4 && memcmp(card, "card", 4) == 0);
    for (int slot = 0; slot < PL_CARD_SLOTS; slot++)
        pl_job_card_write(&other.shared->ranks[1].card[slot], 2, "others", 6);
    pl_seat_leave(&other);
    for (int slot = 0; slot < PL_CARD_SLOTS; slot++)
        ck_assert_int_eq(pl_seat_card(&seat, 1, (enum pl_card_slot)slot, card, &length), PL_AGAIN);
    struct member one = member(1);
    for (int slot = 0; slot < PL_CARD_SLOTS; slot++)
        pl_job_card_write(&seat.shared->ranks[1].card[slot], 3, "of the dead", 11);
    die(one);
    one = member(1);
    for (int slot = 0; slot < PL_CARD_SLOTS; slot++)
        ck_assert_int_eq(pl_seat_card(&seat, 1, (enum pl_card_slot)slot, card, &length), PL_AGAIN);
    leave(one);
    pl_seat_leave(&seat);
    end();
}
END_TEST

/* Its path leads to the new pool of others when the last process leaves the old one. */
START_TEST(file_removed_by_others)
{
    struct pl_seat seat;
    start();
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_SUCCESS);
    ck_assert_int_eq(unlink(path), 0);
    struct member one = member(1);
    pl_seat_leave(&seat);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_SUCCESS);
    die(one);
    ck_assert_int_eq(pl_seat_alive(&seat, 1), MPI_ERR_PROC_ABORTED); /* they are in one pool */
    ck_assert_int_eq(unlink(path), 0);
    pl_seat_leave(&seat); /* there is no file to remove */
    end();
}
END_TEST

static void write_file(const void *data, size_t bytes, mode_t mode)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
    fchmod(fd, mode);
    close(fd);
}

/* An unused file is used again, whatever is in it; one that others can write, or that is not a file, never is. */
/* The kernel releases a process's record locks on a file when that closes any descriptor of it. */
static void lose_locks(void)
{
    close(open(path, O_RDONLY));
}

static void ck_taken(int rank)
{
    struct pl_seat seat;
    ck_assert_int_eq(pl_seat_in_directory(directory, rank, SIZE, &seat), MPI_ERR_OTHER);
    ck_assert_msg(words("belongs to process"), "%s", pl_error_detail(NULL));
}

START_TEST(lost_locks)
{
    struct pl_seat own, seat;
    char command;
    int orders[2], said[2];
    start();
    ck_assert_int_eq(pipe(orders) | pipe(said), 0);
    pid_t pid = fork();
    if (pid == 0) {
        command = pl_seat_in_directory(directory, 1, SIZE, &seat) == MPI_SUCCESS ? 'y' : 'n';
        lose_locks();
        if (write(said[1], &command, 1) != 1 || read(orders[0], &command, 1) != 1)
            _exit(1);
        pause();
    }
    ck_assert(read(said[0], &command, 1) == 1 && command == 'y');
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &own), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_alive(&own, 1), MPI_SUCCESS);
    ck_taken(1);
    lose_locks();
    ck_taken(0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE + 1, &seat), MPI_ERR_ARG);
    pl_seat_leave(&own); /* rank 1 keeps the file */
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &own), MPI_SUCCESS);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(pl_seat_alive(&own, 1), MPI_ERR_PROC_ABORTED);
    leave(member(1));
    pl_seat_leave(&own);
    for (int i = 0; i < 2; i++) {
        close(orders[i]);
        close(said[i]);
    }
    end();
}
END_TEST

/* Two copies of the library in one process: neither sees the other's locks, and one that leaves releases them. */
START_TEST(two_in_a_process)
{
    struct pl_seat first, second;
    start();
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &first), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_in_directory(directory, 1, SIZE, &second), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_alive(&first, 1), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_alive(&second, 0), MPI_SUCCESS);
    pl_seat_leave(&second);
    ck_assert_int_eq(access(path, F_OK), 0);
    struct member two = member(2);
    ck_assert_int_eq(pl_seat_alive(&first, 2), MPI_SUCCESS);
    ck_taken(0);
    pl_seat_leave(&first);
    leave(two);
    end();
}
END_TEST

START_TEST(other_files)
{
    struct pl_seat seat;
    static const mode_t open_to_others[] = { 0644, 0620, 0602 };
    struct pl_job_segment head = { .magic = PL_JOB_MAGIC, .version = PL_JOB_VERSION + 1, .size = SIZE };
    start();
    for (size_t bytes = 0; bytes <= sizeof head; bytes += sizeof head / 4) {
        write_file(&head, bytes, 0600);
        ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_SUCCESS);
        pl_seat_leave(&seat);
    }
    for (size_t i = 0; i < sizeof open_to_others / sizeof *open_to_others; i++) {
        write_file(&head, sizeof head, open_to_others[i]);
        ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_ERR_OTHER);
        ck_assert_msg(words("of this user alone"), "%s", pl_error_detail(NULL));
    }
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_ERR_OTHER);
    unlink(path);
    ck_assert_int_eq(symlink("/tmp/elsewhere", path), 0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_ERR_OTHER);
    unlink(path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(pl_seat_in_directory(directory, 0, SIZE, &seat), MPI_ERR_OTHER);
    rmdir(path);
    end();
}
END_TEST

START_TEST(without_a_name)
{
    struct pl_seat made, opened;
    ck_assert_int_eq(pl_seat_make(SIZE, 17, &made), MPI_SUCCESS);
    ck_assert_int_eq(pl_seat_open(getpid(), made.fd, SIZE, 18, &opened), MPI_ERR_OTHER);
    ck_assert_msg(words("another pool"), "%s", pl_error_detail(NULL));
    ck_assert_int_eq(pl_seat_open(getpid(), made.fd, SIZE + 1, 17, &opened), MPI_ERR_OTHER);
    ck_assert_int_eq(pl_seat_open(getpid(), 9999, SIZE, 17, &opened), MPI_ERR_OTHER);
    int null = open("/dev/null", O_RDWR);
    ck_assert_int_eq(pl_seat_open(getpid(), null, SIZE, 17, &opened), MPI_ERR_OTHER);
    close(null);
    ck_assert_int_eq(pl_seat_open(getpid(), made.fd, SIZE, 17, &opened), MPI_SUCCESS);
    pl_seat_leave(&opened);
    ck_assert_int_eq(pl_seat_claim(&made, 0), MPI_SUCCESS);
    pl_seat_leave(&made);
}
END_TEST

/* The file goes also if the process has changed its directory since. */
START_TEST(relative)
{
    char before[4096];
    struct pl_seat seat;
    start();
    ck_assert(getcwd(before, sizeof before) && chdir(directory) == 0 && mkdir("pool", 0700) == 0);
    ck_assert_int_eq(pl_seat_in_directory("pool", 0, SIZE, &seat), MPI_SUCCESS);
    ck_assert(access("pool/" PL_ATTACH_FILE, F_OK) == 0 && chdir("/") == 0);
    pl_seat_leave(&seat);
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert_int_eq(rmdir("pool"), 0);
    ck_assert_int_eq(chdir(before), 0);
    end();
}
END_TEST

UNIT_MAIN("pools", ranks, deaths, file_size_limit, cards, file_removed_by_others, lost_locks, two_in_a_process,
          other_files, without_a_name, relative)
