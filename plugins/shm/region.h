/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory: the region of this engine, and parts of other engines' regions.
 *
 * A region is an anonymous memory file, so it has no name that could be left behind, and the size of /dev/shm does not
 * limit it. It is used from the front, and a span that was given back is reused for a request of the same size. The
 * file is sealed against shrinking: memory that a peer has mapped stays readable whatever becomes of the owner.
 *
 * Locking: the engine's lock, except for the last two functions and a pl_shm_region_map() with a known inode.
 */
#ifndef PLENUM_PLUGINS_SHM_REGION_H
#define PLENUM_PLUGINS_SHM_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/vec.h"
#include "core/engine/transport.h"
#include "plugins/shm/layout.h"

struct pl_shm_span {
    uint64_t offset;
    size_t bytes;
    void *memory; /* mapped here; NULL: none */
};

struct pl_shm_region {
    int fd;
    uint64_t size, used;
    PL_VEC(struct pl_shm_span) vacant; /* not mapped, all zeroes */
};

/* PL_UNREACHABLE: other processes could not open it, or the file size limit is too low (recorded). */
int pl_shm_region_open(struct pl_shm_region *region, const struct pl_transport_host *host);
void pl_shm_region_close(struct pl_shm_region *region);

/* To whole pages. */
size_t pl_shm_region_round_up(size_t bytes);

/* Allocates and maps zeroed memory. MPI_ERR_NO_MEM. */
int pl_shm_span_create(struct pl_shm_region *region, const struct pl_transport_host *host, size_t bytes,
                       struct pl_shm_span *span);
/* Unmaps it. With `reuse` no other process may use it any more, and it is handed out again; else its content stays for
 * those that do. */
void pl_shm_span_release(struct pl_shm_region *region, struct pl_shm_span *span, bool reuse);

/* Maps a part of another engine's region. Before that it checks that the file is a region, of this user, long enough,
 * and sealed. `*inode` must be 0, and is then set, or the file's inode. PL_UNREACHABLE: a check failed (recorded). */
int pl_shm_region_map(const struct pl_transport_host *host, const struct pl_shm_address *from, uint64_t offset,
                      size_t bytes, ino_t *inode, void **memory);
void pl_shm_region_unmap(void *memory, size_t bytes);

/* Does the process still exist, with that descriptor still open on that file? */
bool pl_shm_region_is_open(const struct pl_shm_address *address, ino_t inode);
/* The same, or with the file in its memory: what is mapped works on. */
bool pl_shm_region_is_alive(const struct pl_shm_address *address, ino_t inode);

#endif
