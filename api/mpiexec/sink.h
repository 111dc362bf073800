/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output that never blocks mpiexec: bytes that a slow reader has not taken yet wait here, and mpiexec takes no further
 * events while more than SINK_FULL wait. The descriptor stays blocking, since other processes share it.
 */
#ifndef PLENUM_MPIEXEC_SINK_H
#define PLENUM_MPIEXEC_SINK_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SINK_FULL = 1 << 20,
    SINK_LARGE = 1 << 14 /* so much is worth a system call at once */
};

struct sink {
    int fd;
    bool file;    /* a regular file: writing never blocks */
    bool polled;  /* only poll() tells whether writing blocks */
    bool closed;  /* all output is discarded */
    int error;    /* why, as errno; 0: because of sink_drop() */
    bool midline; /* the last output had no newline at its end */
    char *data;
    size_t first, used, capacity; /* data[first, used) waits */
};

void sink_init(struct sink *sink, int fd);

/* Appends output, which waits for sink_flush(). */
void sink_put(struct sink *sink, const char *text, size_t length);

/* Writes as much as is possible without blocking. Call it when poll() says that the descriptor is writable. */
void sink_flush(struct sink *sink);

/* The number of bytes that wait. */
size_t sink_waiting(const struct sink *sink);

/* Discards the waiting output and all that follows. */
void sink_drop(struct sink *sink);

#endif
