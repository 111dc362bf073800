/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec's own output: everything arrives in order, and no write blocks, into a pipe, a terminal or a file. */
#include "api/mpiexec/sink.c"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/socket.h>
#include <termios.h>

#include "unit.h"

enum { TOTAL = 3000000 };

static char byte_at(size_t at)
{
    return (char)('a' + at % 23 + (at / 4096) % 3);
}

/* Reads what is there and compares. */
static size_t take(int fd, size_t taken)
{
    char data[70000];
    ssize_t got = read(fd, data, sizeof data);
    ssize_t same = 0;
    while (same < got && data[same] == byte_at(taken + (size_t)same))
        same++;
    if (same < got)
        ck_abort_msg("byte %zu differs", taken + (size_t)same);
    return taken + (got > 0 ? (size_t)got : 0);
}

/* Puts `total` bytes in chunks of `chunk` into the write end; the other end is read only when nothing fits any more. */
static void pass(int to, int from, size_t total, size_t chunk, bool polled)
{
    struct sink sink;
    size_t put = 0, taken = 0;
    char *data = malloc(chunk);
    sink_init(&sink, to);
    sink.polled = polled;
    fcntl(from, F_SETFL, O_NONBLOCK);
    while (taken < total) {
        size_t length = total - put < chunk ? total - put : chunk;
        for (size_t i = 0; i < length; i++)
            data[i] = byte_at(put + i);
        if (sink_waiting(&sink) < SINK_FULL) {
            sink_put(&sink, data, length);
            put += length;
        }
        sink_flush(&sink);
        if (sink.closed)
            ck_abort_msg("closed: %s", strerror(sink.error));
        if (put == total || sink_waiting(&sink) >= SINK_FULL)
            taken = take(from, taken);
    }
    ck_assert_int_eq(put, total);
    ck_assert_int_eq(sink_waiting(&sink), 0);
    sink_drop(&sink);
    free(data);
}

START_TEST(pipes)
{
    static const size_t chunks[] = { 1000, PIPE_BUF, PIPE_BUF + 1, SINK_LARGE, 65536, 1000003 };
    for (size_t i = 0; i < 2 * (sizeof chunks / sizeof *chunks); i++) {
        int end[2];
        ck_assert_int_eq(pipe(end), 0);
        pass(end[1], end[0], TOTAL, chunks[i / 2], i % 2 == 1);
        close(end[0]);
        close(end[1]);
    }
}
END_TEST

START_TEST(sockets)
{
    int end[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, end), 0);
    pass(end[1], end[0], TOTAL, 65536, false);
    close(end[0]);
    close(end[1]);
}
END_TEST

START_TEST(terminals)
{
    int master, slave;
    struct termios raw;
    ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    pass(slave, master, 1000, 1000, false); /* more may block: poll() promises no room for a whole write */
    close(master);
    close(slave);
}
END_TEST

START_TEST(files)
{
    char name[256];
    snprintf(name, sizeof name, "%s/file", unit_directory());
    int to = open(name, O_WRONLY | O_CREAT, 0600), from = open(name, O_RDONLY);
    ck_assert(to >= 0 && from >= 0);
    pass(to, from, TOTAL, 65536, false);
    close(to);
    close(from);
}
END_TEST

/* A reader that has gone is an error, once, and what follows is dropped; large chunks do not go through the buffer. */
START_TEST(no_reader)
{
    static char data[SINK_LARGE];
    signal(SIGPIPE, SIG_IGN);
    for (size_t length = 1; length <= SINK_LARGE; length += SINK_LARGE - 1) {
        int end[2];
        struct sink sink;
        ck_assert_int_eq(pipe(end), 0);
        close(end[0]);
        sink_init(&sink, end[1]);
        sink_put(&sink, data, length);
        sink_flush(&sink);
        ck_assert(sink.closed && sink.error == EPIPE && sink_waiting(&sink) == 0);
        sink_put(&sink, data, length);
        ck_assert_int_eq(sink_waiting(&sink), 0);
        close(end[1]);
    }
}
END_TEST

UNIT_MAIN("mpiexec's output", pipes, sockets, terminals, files, no_reader)
