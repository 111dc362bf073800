/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies that the kernel makes from and to a peer's memory. The pid of a process that has died may be reused, so both
 * functions check that it is still the peer's. */
#include "plugins/shm/cma.h"

#include <errno.h>
#include <sys/uio.h>

enum {
    RUNS = 64,                  /* runs of the destination in one call */
    SLICE = 1 << 20,            /* bytes of a message in one progress round, so that other peers have their turn */
    ALIVE_CHECK_NS = 200000000, /* between checks, before one-sided copies, that the pid is still the peer's */
};

bool pl_shm_cma_possible(const struct pl_shm_rndv *rndv)
{
    return rndv->address && !rndv->peer->no_cma && rndv->peer->shm->rndv != PL_SHM_RNDV_COPY;
}

/* FIFOs were faster in all measurements, on one processor and on two. */
bool pl_shm_cma_wanted(const struct pl_shm_rndv *rndv)
{
    return pl_shm_cma_possible(rndv) && rndv->peer->shm->rndv == PL_SHM_RNDV_CMA;
}

enum pl_shm_cma_result pl_shm_cma_read(struct pl_shm_rndv *rndv)
{
    const struct pl_transport_host *host = rndv->peer->shm->host;
    struct iovec to[RUNS], from = { .iov_base = (void *)(uintptr_t)(rndv->address + rndv->done) };
    uint64_t remaining = rndv->wanted - rndv->done;
    unsigned long runs = 0;
    size_t most = remaining < SLICE ? remaining : SLICE;
    while (runs < RUNS && from.iov_len < most) {
        to[runs].iov_len = host->run(&rndv->in->data, most - from.iov_len, &to[runs].iov_base);
        if (to[runs].iov_len == 0)
            break;
        from.iov_len += to[runs++].iov_len;
    }
    ssize_t got = process_vm_readv(rndv->peer->address.pid, to, runs, &from, 1, 0);
    if ((got < 0 && errno == ESRCH) || !pl_shm_region_is_alive(&rndv->peer->address, rndv->peer->inode))
        return PL_SHM_CMA_FAILED; /* if its pid was reused, that other process was read */
    if (got < 0 || (size_t)got < from.iov_len) {
        if (got <= 0) {
            rndv->peer->no_cma = true;
            host->log("shm", 2, "the kernel refuses to copy from process %d (errno %d): using FIFOs",
                      (int)rndv->peer->address.pid, errno);
        }
        if (got > 0)
            rndv->done += (size_t)got;
        host->seek(&rndv->in->data, rndv->done);
        return PL_SHM_CMA_REFUSED;
    }
    rndv->done += (size_t)got;
    return rndv->done == rndv->wanted ? PL_SHM_CMA_DONE : PL_SHM_CMA_MORE;
}

/* The pid of a process that has died may be reused some time later. */
static bool cma_peer_is_alive(struct pl_shm_peer *peer)
{
    int64_t now = pl_clock_ns();
    if (now - atomic_load_explicit(&peer->seen_alive, memory_order_relaxed) < ALIVE_CHECK_NS)
        return true;
    if (!pl_shm_region_is_alive(&peer->address, peer->inode))
        return false;
    atomic_store_explicit(&peer->seen_alive, now, memory_order_relaxed);
    return true;
}

int pl_shm_cma_copy(struct pl_endpoint *endpoint, struct pl_cma *cma)
{
    struct pl_shm_peer *peer = (struct pl_shm_peer *)endpoint;
    unsigned long here = (unsigned long)cma->here_count, there = (unsigned long)cma->there_count;
    pid_t pid = peer->address.pid;
    cma->moved = 0;
    if (peer->shm->rndv == PL_SHM_RNDV_COPY)
        return PL_UNREACHABLE;
    if (!cma_peer_is_alive(peer))
        return MPI_ERR_PROC_ABORTED;
    ssize_t moved = cma->write ? process_vm_writev(pid, cma->here, here, cma->there, there, 0)
                               : process_vm_readv(pid, cma->here, here, cma->there, there, 0);
    int error = moved < 0 ? errno : EFAULT;
    cma->moved = moved < 0 ? 0 : (size_t)moved;
    if (cma->moved == cma->bytes)
        return MPI_SUCCESS;
    if (error == ESRCH || !pl_shm_region_is_alive(&peer->address, peer->inode))
        return MPI_ERR_PROC_ABORTED;
    return error == EFAULT ? MPI_ERR_RMA_RANGE : error == ENOMEM ? MPI_ERR_NO_MEM : PL_UNREACHABLE;
}
