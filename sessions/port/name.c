/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text: "plenum:", a checksum, ":", and in hexadecimal digits these fields.
 *
 * u64 number of the port. u64 node, u64 start time and u32 pid of the process. u8 scope: may other hosts call?
 * u8 length of the host's name, and the name. The listener's card.
 */
#include "sessions/port/name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/hash.h"

#define PREFIX "plenum:"
enum {
    CHECKSUM_AT = sizeof PREFIX - 1,
    DATA_AT = CHECKSUM_AT + 8 + 1,
    DATA_MIN = 3 * sizeof(uint64_t) + sizeof(int32_t) + 2 * sizeof(uint8_t),
    DATA_MAX = (MPI_MAX_PORT_NAME - 1 - DATA_AT) / 2,
};
_Static_assert(DATA_MIN + PL_CARD_MAX <= DATA_MAX, "the name of a port has space for every card");

void pl_port_name_write(struct pl_writer *to, uint64_t port, const struct pl_locator *process)
{
    pl_write_u64(to, port);
    pl_write_u64(to, process->node);
    pl_write_u64(to, process->started);
    pl_write_i32(to, process->pid);
}

uint64_t pl_port_name_read(struct pl_reader *from, struct pl_locator *process)
{
    uint64_t port = pl_read_u64(from);
    process->node = pl_read_u64(from);
    process->started = pl_read_u64(from);
    process->pid = pl_read_i32(from);
    return port;
}

/* Reveals a text that was truncated or mistyped. */
static uint32_t port_name_checksum(const unsigned char *data, size_t length)
{
    uint64_t sum = pl_hash_bytes(PL_HASH_BEGIN, data, length);
    return (uint32_t)(sum ^ sum >> 32);
}

/* The beginning of the host's name, as much as the card leaves room for. */
static size_t port_name_host(bool far, size_t card_length, char host[PL_PORT_HOST_MAX + 1])
{
    size_t capacity = DATA_MAX - DATA_MIN - card_length;
    host[0] = '\0';
    if (!far && gethostname(host, PL_PORT_HOST_MAX + 1) != 0)
        host[0] = '\0';
    host[PL_PORT_HOST_MAX] = '\0';
    host[capacity < PL_PORT_HOST_MAX ? capacity : PL_PORT_HOST_MAX] = '\0';
    return strlen(host);
}

void pl_port_name_format(uint64_t port, bool far, const void *card, size_t card_length, char text[MPI_MAX_PORT_NAME])
{
    unsigned char data[DATA_MAX];
    char host[PL_PORT_HOST_MAX + 1];
    size_t host_length = port_name_host(far, card_length, host);
    struct pl_writer to = pl_writer_fixed(data, sizeof data);
    struct pl_locator self = pl_locator_self();
    pl_port_name_write(&to, port, &self);
    pl_write_u8(&to, far);
    pl_write_u8(&to, (uint8_t)host_length);
    pl_write_raw(&to, host, host_length);
    pl_write_raw(&to, card, card_length);
    int at = snprintf(text, MPI_MAX_PORT_NAME, PREFIX "%08x:", port_name_checksum(data, to.length));
    for (size_t i = 0; i < to.length; i++)
        at += snprintf(text + at, MPI_MAX_PORT_NAME - (size_t)at, "%02x", data[i]);
}

int pl_port_name_fail(const char *text, const char *fault)
{
    return pl_fail(MPI_ERR_PORT, "port_name \"%.40s%s\" %s", text, strlen(text) > 40 ? "..." : "", fault);
}

/* False: these are not that many hexadecimal digits. */
static bool port_name_read_hex(const char *text, int digits, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        *number = *number << 4 | (uint32_t)digit;
    }
    return true;
}

static bool port_name_read_data(const char *text, unsigned char *data, size_t length)
{
    uint32_t byte;
    for (size_t i = 0; i < length; i++) {
        if (!port_name_read_hex(text + 2 * i, 2, &byte))
            return false;
        data[i] = (unsigned char)byte;
    }
    return true;
}

int pl_port_name_parse(const char *text, struct pl_port_name *name)
{
    unsigned char data[DATA_MAX];
    uint32_t checksum;
    size_t length = strnlen(text, MPI_MAX_PORT_NAME), bytes = length > DATA_AT ? (length - DATA_AT) / 2 : 0;
    if (strncmp(text, PREFIX, sizeof PREFIX - 1) != 0)
        return pl_port_name_fail(text, "is not the name of a port: those of MPI_Open_port begin with \"" PREFIX "\"");
    if (bytes < DATA_MIN || bytes > DATA_MAX || length != DATA_AT + 2 * bytes || text[DATA_AT - 1] != ':' ||
        !port_name_read_hex(text + CHECKSUM_AT, 8, &checksum) || !port_name_read_data(text + DATA_AT, data, bytes) ||
        checksum != port_name_checksum(data, bytes))
        return pl_port_name_fail(text, "is damaged or truncated");
    struct pl_reader from = pl_reader(data, bytes);
    name->port = pl_port_name_read(&from, &name->process);
    name->far = pl_read_u8(&from) != 0;
    size_t host_length = pl_read_u8(&from);
    if (host_length > PL_PORT_HOST_MAX || host_length > pl_reader_left(&from) ||
        pl_reader_left(&from) - host_length > sizeof name->card)
        return pl_port_name_fail(text, "is damaged or truncated");
    pl_read_copy(&from, name->host, host_length);
    name->host[host_length] = '\0';
    name->card_length = pl_reader_left(&from);
    pl_read_copy(&from, name->card, name->card_length);
    return MPI_SUCCESS;
}

int pl_port_name_check(const char *text)
{
    struct pl_port_name name;
    return pl_port_name_parse(text, &name);
}
