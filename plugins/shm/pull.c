/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a long message straight from the sender's memory, by a copy that the kernel makes (process_vm_readv).
 *
 * One copy instead of two, and the sender need not run; but the kernel looks up every page, so that where both run at
 * the same time a lane is faster. Many a sandbox forbids it: then the first try says so, and a lane serves this peer.
 */
#include <errno.h>
#include <sys/uio.h>

#include "plugins/shm/lane.h"

enum {
    RUNS = 64,              /* pieces of the destination in one call */
    SLICE = 1 << 20,        /* bytes before others have their turn */
};

bool pl_shm_pull_possible(const struct pl_shm_bulk *bulk)
{
    return bulk->address && !bulk->peer->no_cma && bulk->peer->shm->bulk != PL_SHM_BULK_COPY;
}

/* Lanes have been faster wherever it was measured, on one processor and on two. */
bool pl_shm_pull_wanted(const struct pl_shm_bulk *bulk)
{
    return pl_shm_pull_possible(bulk) && bulk->peer->shm->bulk == PL_SHM_BULK_CMA;
}

enum pl_shm_pulled pl_shm_pull(struct pl_shm_bulk *bulk)
{
    const struct pl_host *host = bulk->peer->shm->host;
    struct iovec to[RUNS], from = { .iov_base = (void *)(uintptr_t)(bulk->address + bulk->done) };
    uint64_t left = bulk->wanted - bulk->done;
    unsigned long runs = 0;
    size_t most = left < SLICE ? left : SLICE;
    while (runs < RUNS && from.iov_len < most) {
        to[runs].iov_len = host->run(&bulk->in->data, most - from.iov_len, &to[runs].iov_base);
        if (to[runs].iov_len == 0)
            break;
        from.iov_len += to[runs++].iov_len;
    }
    ssize_t got = process_vm_readv(bulk->peer->address.pid, to, runs, &from, 1, 0);
    if ((got < 0 && errno == ESRCH) || !pl_shm_alive(&bulk->peer->address, bulk->peer->inode))
        return PL_SHM_PULL_LOST; /* its number may be another process's by now, which was read instead */
    if (got < 0 || (size_t)got < from.iov_len) {
        if (got <= 0) {
            bulk->peer->no_cma = true;
            host->log("shm", 2, "no kernel copy from process %d (errno %d): using lanes", (int)bulk->peer->address.pid,
                      errno);
        }
        if (got > 0)
            bulk->done += (size_t)got;
        host->seek(&bulk->in->data, bulk->done);
        return PL_SHM_PULL_REFUSED;
    }
    bulk->done += (size_t)got;
    return bulk->done == bulk->wanted ? PL_SHM_PULL_ALL : PL_SHM_PULL_MORE;
}
