/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output that never blocks the launcher: what a slow reader has not taken yet waits here, and mpiexec takes no further
 * events while much of it does. The descriptor stays blocking, since it belongs to others as well.
 */
#ifndef PLENUM_MPIEXEC_SINK_H
#define PLENUM_MPIEXEC_SINK_H

#include <stdbool.h>
#include <stddef.h>

enum { SINK_FULL = 1 << 20 };

struct sink {
    int fd;
    bool file;    /* a regular file: writing never waits for anybody */
    bool closed;  /* nothing can be written any more */
    int error;    /* why, as errno; 0: it was dropped */
    bool midline; /* what was written last had no newline at its end */
    char *data;
    size_t first, used, room; /* data[first, used) waits */
};

void sink_init(struct sink *sink, int fd);
void sink_put(struct sink *sink, const char *text, size_t length);
/* Writes as much as can be written without waiting; call it when poll() says that the descriptor is writable. */
void sink_flush(struct sink *sink);
size_t sink_waiting(const struct sink *sink);
/* Gives up what waits, and what will come. */
void sink_drop(struct sink *sink);

#endif
