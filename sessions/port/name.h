/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of a port, a text: a number, the process that opened the port, its scope, and the address card of its
 * listener. So whatever carries the text, a name service, a file or a person, needs to know nothing more.
 *
 * The number is a secret of 64 bits, and so is the key in the address card of a port of the network: without the text
 * a process cannot call.
 */
#ifndef PLENUM_SESSIONS_PORT_NAME_H
#define PLENUM_SESSIONS_PORT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/bytes.h"
#include "core/job/locator.h"
#include "core/job/segment.h"
#include "mpi.h"

enum { PL_PORT_HOST_MAX = 64 };

struct pl_port_name {
    uint64_t port;
    struct pl_locator process;
    bool far;                      /* other hosts may call */
    char host[PL_PORT_HOST_MAX + 1]; /* of the process, shortened if need be; empty if `far` */
    size_t card_length;
    unsigned char card[PL_CARD_MAX]; /* of the listener */
};

/* MPI_ERR_PORT: the text is not the name of a port of any process, or was changed or truncated. */
int pl_port_name_parse(const char *text, struct pl_port_name *name);
int pl_port_name_check(const char *text);

/* The name of a port of this process. `far`: other hosts may call. */
void pl_port_name_format(uint64_t port, bool far, const void *card, size_t card_length, char text[MPI_MAX_PORT_NAME]);

/* Records that a port's name has this fault ("is damaged"): MPI_ERR_PORT. */
int pl_port_name_fail(const char *text, const char *fault);

/* A port and a process in a message, as they are in a name. */
void pl_port_name_write(struct pl_writer *to, uint64_t port, const struct pl_locator *process);
uint64_t pl_port_name_read(struct pl_reader *from, struct pl_locator *process);

#endif
