/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See pmi_wire.h. The children of a process inherit the environment and the socket that name its rank. A name in the
 * abstract namespace of sockets marks the rank as taken: the kernel frees it when the process ends or executes another
 * program, and no file stays behind.
 */
#include "plugins/pmi/pmi_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/words.h"
#include "core/engine/transport.h"
#include "plugins/pmi/copies.h"

enum { ANSWER_MS = 60000, ABORT_MS = 5000 };

static struct {
    int fd;    /* of the connection */
    int claim; /* holds the rank's name */
    char data[PL_PMI_LINE];
    size_t used;
    bool in_barrier, barrier_wanted;
    int barriers;
} wire = { .fd = -1, .claim = -1 };

/* --- lines --------------------------------------------------------------------------------------------------- */

static int wire_lost(const char *why)
{
    return pl_fail(MPI_ERR_OTHER,
                   "the launcher's PMI server %s; it serves one MPI program for each process that it has started (to "
                   "run this program alone, set PLENUM_ALONE=1)",
                   why);
}

static int wire_send(const char *line, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(wire.fd, line, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return wire_lost(errno == EPIPE || errno == ECONNRESET ? "has closed the connection" : strerror(errno));
        line += sent;
        length -= (size_t)sent;
    }
    return MPI_SUCCESS;
}

/* Takes a line out of what was read, without its newline. */
static bool wire_take(char line[PL_PMI_LINE])
{
    char *end = memchr(wire.data, '\n', wire.used);
    if (!end)
        return false;
    size_t length = (size_t)(end - wire.data);
    memcpy(line, wire.data, length);
    line[length] = '\0';
    wire.used -= length + 1;
    memmove(wire.data, end + 1, wire.used);
    return true;
}

/* Reads more; PL_AGAIN: nothing has come within this time. */
static int wire_read(int milliseconds)
{
    struct pollfd p = { .fd = wire.fd, .events = POLLIN };
    if (wire.used == sizeof wire.data)
        return wire_lost("sends a line that is too long");
    int ready = poll(&p, 1, milliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR && milliseconds == 0))
        return PL_AGAIN;
    ssize_t got = ready < 0 ? -1 : recv(wire.fd, wire.data + wire.used, sizeof wire.data - wire.used, 0);
    if (got < 0 && errno == EINTR)
        return MPI_SUCCESS;
    if (got < 0)
        return wire_lost(strerror(errno));
    if (got == 0)
        return wire_lost("has closed the connection");
    wire.used += (size_t)got;
    return MPI_SUCCESS;
}

static bool wire_begins(const char *line, const char *command)
{
    char is[64];
    return pl_words_value(line, "cmd", is, sizeof is) && strcmp(is, command) == 0;
}

static int wire_enter_barrier(void)
{
    wire.in_barrier = true;
    wire.barrier_wanted = false;
    return wire_send("cmd=barrier_in\n", 15);
}

/* The next line that is not the end of a barrier; PL_AGAIN: none has come within this time. */
static int wire_next(char line[PL_PMI_LINE], int milliseconds)
{
    int err = MPI_SUCCESS;
    while (!err) {
        if (!wire_take(line)) {
            err = wire_read(milliseconds);
            continue;
        }
        if (!wire_begins(line, "barrier_out"))
            return MPI_SUCCESS;
        wire.in_barrier = false;
        wire.barriers++;
        if (wire.barrier_wanted)
            err = wire_enter_barrier();
    }
    return err;
}

int pl_pmi_wire_ask(const char *expected, char answer[PL_PMI_LINE], const char *format, ...)
{
    char line[PL_PMI_LINE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof line - 1)
        return pl_fail(MPI_ERR_INTERN, "a PMI request is longer than %d bytes", PL_PMI_LINE);
    line[length] = '\n';
    pl_pmi_copies_lock();
    int err = wire_send(line, (size_t)length + 1);
    if (!err)
        err = wire_next(answer, ANSWER_MS);
    pl_pmi_copies_unlock();
    if (err == PL_AGAIN)
        return wire_lost("does not answer");
    if (!err && !wire_begins(answer, expected))
        return pl_fail(MPI_ERR_OTHER, "the launcher's PMI server answers \"%.200s\" instead of cmd=%s", answer,
                       expected);
    return err;
}

void pl_pmi_wire_abort(int code)
{
    char line[64];
    if (wire_send(line, (size_t)snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code)) != MPI_SUCCESS)
        return;
    int64_t end = pl_clock_ms() + ABORT_MS;
    for (int64_t left = ABORT_MS; left > 0; left = end - pl_clock_ms()) {
        struct pollfd p = { .fd = wire.fd, .events = POLLRDHUP };
        if (poll(&p, 1, (int)left) > 0)
            break;
    }
}

void pl_pmi_wire_close(void)
{
    char answer[PL_PMI_LINE];
    if (wire.claim < 0)
        return; /* another copy of the library has made the connection */
    pl_pmi_wire_ask("finalize_ack", answer, "cmd=finalize");
    close(wire.claim);
    wire.claim = -1;
}

void pl_pmi_wire_forget(void)
{
    /* A socket that the launcher left open stays open. */
    if (wire.fd >= 0 && !secure_getenv("PMI_FD"))
        close(wire.fd);
    if (wire.claim >= 0)
        close(wire.claim);
    wire.fd = wire.claim = -1;
    wire.used = 0;
    wire.in_barrier = wire.barrier_wanted = false;
}

bool pl_pmi_wire_number(const char *answer, const char *key, long *number)
{
    char text[32], *end;
    if (!pl_words_value(answer, key, text, sizeof text))
        return false;
    *number = strtol(text, &end, 10);
    return end != text && *end == '\0';
}

/* MPICH's server says rc, Slurm's says info for names. */
bool pl_pmi_wire_refused(const char *answer)
{
    long rc;
    char info[32];
    return (pl_pmi_wire_number(answer, "rc", &rc) && rc != 0) ||
           (pl_words_value(answer, "info", info, sizeof info) && strcmp(info, "ok") != 0);
}

int pl_pmi_wire_barrier(void)
{
    if (!wire.in_barrier)
        return wire_enter_barrier();
    wire.barrier_wanted = true;
    return MPI_SUCCESS;
}

int pl_pmi_wire_barriers(void)
{
    char line[PL_PMI_LINE];
    if (wire.in_barrier)
        wire_next(line, 0); /* an error shows at the next request */
    return wire.barriers;
}

/* --- opening ------------------------------------------------------------------------------------------------- */

/* Marks the rank as this process's until it ends. False: it is another process's. */
static bool wire_claim(const char *rank)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "plenum-pmi.%u.%s", (unsigned)geteuid(), rank);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, size) != 0) {
        bool taken = errno == EADDRINUSE;
        close(fd);
        return !taken;
    }
    wire.claim = fd;
    return true;
}

/* The socket that the launcher left open. */
static int wire_inherit(const char *text)
{
    struct stat st;
    char *end, rank[64];
    long fd = strtol(text, &end, 10);
    if (end == text || *end || fd < 0 || fd > INT32_MAX || fstat((int)fd, &st) != 0 || !S_ISSOCK(st.st_mode))
        return pl_fail(MPI_ERR_OTHER,
                       "PMI_FD=%.40s is not an open socket, so this process cannot join its launcher's job: a program "
                       "between the launcher and this one closes it (to run alone, set PLENUM_ALONE=1)",
                       text);
    snprintf(rank, sizeof rank, "%llu", (unsigned long long)st.st_ino);
    bool first = wire_claim(rank);
    if (!pl_pmi_copies_open(first) && !first)
        return PL_UNREACHABLE;
    /* The application's own MPI may have the same connection, and closes its descriptor when it has finished. */
    wire.fd = fcntl((int)fd, F_DUPFD_CLOEXEC, 0);
    return wire.fd >= 0 ? MPI_SUCCESS : wire_lost(strerror(errno));
}

/* -1: *why tells the reason. */
static int wire_dial(const char *host, const char *port, const char **why)
{
    struct addrinfo *all, want = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    int err = getaddrinfo(host, port, &want, &all), fd = -1;
    *why = err ? gai_strerror(err) : "it has no address";
    if (err)
        return -1;
    for (struct addrinfo *one = all; one && fd < 0; one = one->ai_next) {
        fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, one->ai_addr, one->ai_addrlen) != 0) {
            *why = strerror(errno);
            if (fd >= 0)
                close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(all);
    return fd;
}

/* -1: it is neither a rank nor a size. */
static int wire_int(long number)
{
    return number >= 0 && number <= INT32_MAX ? (int)number : -1;
}

/* "HOST:PORT". The server then says which rank this is, in lines of its own accord. */
static int wire_connect(const char *text, const char *id, int *rank, int *size)
{
    char host[256], claim[80], line[PL_PMI_LINE];
    const char *colon = strrchr(text, ':'), *why = "it is not HOST:PORT";
    long number;
    snprintf(claim, sizeof claim, "%.40s.%.30s", text, id);
    if (!wire_claim(claim))
        return PL_UNREACHABLE;
    snprintf(host, sizeof host, "%.*s", colon ? (int)(colon - text) : 0, text);
    wire.fd = colon ? wire_dial(host, colon + 1, &why) : -1;
    if (wire.fd < 0)
        return pl_fail(MPI_ERR_OTHER,
                       "cannot connect to the launcher's PMI server at PMI_PORT=%.200s: %s (to run alone, set "
                       "PLENUM_ALONE=1)",
                       text, why);
    int err = pl_pmi_wire_ask("initack", line, "cmd=initack pmiid=%s", id);
    for (int i = 0; !err && i < 3; i++) {
        err = wire_next(line, ANSWER_MS);
        if (!err && pl_pmi_wire_number(line, "size", &number))
            *size = wire_int(number);
        if (!err && pl_pmi_wire_number(line, "rank", &number))
            *rank = wire_int(number);
    }
    return err == PL_AGAIN ? wire_lost("does not answer") : err;
}

static int wire_number_of(const char *name)
{
    const char *text = secure_getenv(name);
    char *end;
    long number = text && *text ? strtol(text, &end, 10) : -1;
    return number >= 0 && *end == '\0' ? wire_int(number) : -1;
}

int pl_pmi_wire_open(int *rank, int *size)
{
    const char *fd = secure_getenv("PMI_FD"), *port = secure_getenv("PMI_PORT"), *id = secure_getenv("PMI_ID");
    char answer[PL_PMI_LINE];
    if (!fd && !(port && id))
        return PL_UNREACHABLE;
    *rank = wire_number_of("PMI_RANK");
    *size = wire_number_of("PMI_SIZE");
    int err = fd ? wire_inherit(fd) : wire_connect(port, id, rank, size);
    if (err == PL_UNREACHABLE)
        err =
            pl_fail(MPI_ERR_OTHER,
                    "another process is the launcher's rank %d already, or another copy of the MPI library in this one "
                    "is and cannot share its connection: to run alone, set PLENUM_ALONE=1",
                    *rank);
    if (!err)
        err = pl_pmi_wire_ask("response_to_init", answer, "cmd=init pmi_version=1 pmi_subversion=1");
    if (!err && pl_pmi_wire_refused(answer))
        err = wire_lost("does not speak PMI-1");
    if (!err && (*size < 1 || *rank < 0 || *rank >= *size))
        err = pl_fail(MPI_ERR_OTHER, "the launcher calls this rank %d of %d: PMI_RANK and PMI_SIZE must say which",
                      *rank, *size);
    return err;
}
