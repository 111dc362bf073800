/* SPDX-License-Identifier: BSD-3-Clause */
/* See host_wire.h. */
#include "world/runtime/hosts/host_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/plenum.h"
#include "core/base/memory.h"

enum {
    WIRE_HEADER = 12,
    WIRE_END = 1, /* the newline */
    WIRE_READ = 65536,
    WIRE_BODY_MAX = 1 << 28,
    WIRE_NOISE_MAX = 1 << 20, /* bytes before the greeting */
};

static const char wire_greeting[16] = "\nPlenum hosts\n\0";

void pl_wire_open(struct pl_wire *wire, int in, int out)
{
    *wire = (struct pl_wire){ .in = in, .out = out, .unsent = pl_writer_growing(NULL, 0) };
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
    pl_write_raw(&wire->unsent, wire_greeting, sizeof wire_greeting);
    struct pl_writer *to = pl_wire_begin(wire, PL_FRAME_HELLO, 0);
    pl_write_text(to, PLENUM_VERSION);
    pl_write_u32(to, PL_WIRE_VERSION_HOSTS);
    pl_wire_end(wire);
}

void pl_wire_close(struct pl_wire *wire)
{
    if (wire->in >= 0)
        close(wire->in);
    if (wire->out >= 0 && wire->out != wire->in)
        close(wire->out);
    pl_writer_fini(&wire->unsent);
    free(wire->buffer);
    *wire = (struct pl_wire){ .in = -1, .out = -1, .broken = "it is closed" };
}

/* --- writing ------------------------------------------------------------------------------------------------- */

static void wire_forget_sent(struct pl_wire *wire)
{
    struct pl_writer *to = &wire->unsent;
    size_t left = to->length - wire->sent;
    if (left > 0)
        memmove(to->data, to->data + wire->sent, left);
    pl_writer_trim(to, left);
    wire->sent = 0;
}

struct pl_writer *pl_wire_begin(struct pl_wire *wire, enum pl_frame_kind kind, uint32_t job)
{
    struct pl_writer *to = &wire->unsent;
    if (wire->sent > WIRE_READ && wire->sent > to->length / 2)
        wire_forget_sent(wire);
    wire->begun = to->length;
    pl_write_u32(to, 0);
    pl_write_u16(to, (uint16_t)kind);
    pl_write_u16(to, 0);
    pl_write_u32(to, job);
    return to;
}

void pl_wire_end(struct pl_wire *wire)
{
    struct pl_writer *to = &wire->unsent;
    size_t length = to->length - wire->begun - WIRE_HEADER;
    if (to->failed || length > WIRE_BODY_MAX) {
        wire->broken = "out of memory for what is to be sent";
        return;
    }
    uint32_t little = htole32((uint32_t)length);
    memcpy(to->data + wire->begun, &little, sizeof little);
    pl_write_u8(to, '\n');
    if (to->failed)
        wire->broken = "out of memory for what is to be sent";
}

/* Only whole frames are unsent here: pl_wire_flush() has not been called since the last time that it wrote all. */
void pl_wire_drop(struct pl_wire *wire, uint32_t job)
{
    struct pl_writer *to = &wire->unsent;
    size_t at = wire->sent, kept = at;
    while (!to->failed && at < to->length) {
        struct pl_reader header = pl_reader(to->data + at, to->length - at);
        size_t whole = WIRE_HEADER + (size_t)pl_read_u32(&header) + WIRE_END;
        pl_read_u32(&header); /* the kind */
        if (pl_read_u32(&header) != job) {
            memmove(to->data + kept, to->data + at, whole);
            kept += whole;
        }
        at += whole;
    }
    if (!to->failed)
        pl_writer_trim(to, kept);
}

/* No signal is raised in the embedding program, whose end is a socket. */
static ssize_t wire_write(const struct pl_wire *wire)
{
    const unsigned char *data = wire->unsent.data + wire->sent;
    size_t bytes = wire->unsent.length - wire->sent;
    ssize_t done = send(wire->out, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    return done < 0 && errno == ENOTSOCK ? write(wire->out, data, bytes) : done;
}

/* What can be sent no more is dropped. Reading goes on: the end of what the other side has sent says why. */
void pl_wire_flush(struct pl_wire *wire)
{
    while (pl_wire_waiting(wire) > 0) {
        ssize_t done = wire_write(wire);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN)
            return;
        wire->sent = done < 0 ? wire->unsent.length : wire->sent + (size_t)done;
    }
    if (!wire->broken)
        wire_forget_sent(wire);
}

/* --- reading ------------------------------------------------------------------------------------------------- */

/* Makes space for one read behind the bytes that are there. */
static bool wire_reserve(struct pl_wire *wire)
{
    if (wire->begin > 0) {
        memmove(wire->buffer, wire->buffer + wire->begin, wire->end - wire->begin);
        wire->end -= wire->begin;
        wire->begin = 0;
    }
    if (wire->capacity - wire->end >= WIRE_READ)
        return true;
    size_t capacity = 2 * wire->end + WIRE_READ;
    unsigned char *grown = pl_realloc(wire->buffer, capacity);
    if (!grown) {
        wire->broken = "out of memory for what was received";
        return false;
    }
    wire->buffer = grown;
    wire->capacity = capacity;
    return true;
}

/* Discards what was printed before the greeting. */
static void wire_seek_greeting(struct pl_wire *wire)
{
    size_t have = wire->end - wire->begin;
    unsigned char *at = memmem(wire->buffer + wire->begin, have, wire_greeting, sizeof wire_greeting);
    if (at) {
        wire->greeted = true;
        wire->begin = (size_t)(at - wire->buffer) + sizeof wire_greeting;
    } else if (have > WIRE_NOISE_MAX) {
        wire->broken = "it is not an agent of Plenum";
    }
}

int pl_wire_fill(struct pl_wire *wire)
{
    if (wire->broken || !wire_reserve(wire))
        return -1;
    ssize_t got = read(wire->in, wire->buffer + wire->end, WIRE_READ);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    wire->end += (size_t)got;
    if (!wire->greeted)
        wire_seek_greeting(wire);
    return wire->broken ? -1 : (int)got;
}

bool pl_wire_next(struct pl_wire *wire, struct pl_frame *frame)
{
    struct pl_reader from = pl_reader(wire->buffer + wire->begin, wire->end - wire->begin);
    if (!wire->greeted || wire->broken || pl_reader_left(&from) < WIRE_HEADER)
        return false;
    uint32_t length = pl_read_u32(&from);
    frame->kind = (enum pl_frame_kind)pl_read_u16(&from);
    pl_read_u16(&from);
    frame->job = pl_read_u32(&from);
    if (length > WIRE_BODY_MAX || (pl_reader_left(&from) > length && from.at[length] != '\n'))
        wire->broken = "it sends what is not a message of Plenum";
    if (wire->broken || pl_reader_left(&from) < length + WIRE_END)
        return false;
    frame->body = pl_reader(from.at, length);
    wire->begin += WIRE_HEADER + length + WIRE_END;
    return true;
}

bool pl_wire_same_version(struct pl_frame *hello, char *version, size_t size)
{
    size_t length;
    const char *text = pl_read_text(&hello->body, size - 1, &length);
    uint32_t wire = pl_read_u32(&hello->body);
    bool same = pl_reader_done(&hello->body) && strlen(PLENUM_VERSION) == length &&
                memcmp(text, PLENUM_VERSION, length) == 0 && wire == PL_WIRE_VERSION_HOSTS;
    snprintf(version, size, "%.*s", text ? (int)length : 0, text ? text : "");
    return same;
}
