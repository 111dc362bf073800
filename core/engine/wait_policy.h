/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a wait stays in each of its phases: it spins, then yields the processor, then sleeps. The instances, with
 * the measurements behind their numbers, are constants of the files that wait: core/engine/wait.c for any wait in an
 * engine, core/coll/area/await.c for the polls of a collective area that come before it. Some fast paths poll before
 * that, by constants of their own: p2p_blocking.c, core/rma/delegate.c, core/rma/window_ctl.c.
 */
#ifndef PLENUM_CORE_ENGINE_WAIT_POLICY_H
#define PLENUM_CORE_ENGINE_WAIT_POLICY_H

#include <stdbool.h>

struct pl_wait_policy {
    unsigned spins;       /* rounds of progress, or polls of one word, before the first yield */
    long spin_ns;         /* the spin ends after this time, too; 0: not limited */
    unsigned yields;      /* before the first sleep */
    bool sparse;          /* not each of these rounds has its yield */
    unsigned poll_period; /* polls between two yields of a program that polls by MPI_Test: a power of two */
    bool moves_apart;     /* tries to leave the core to the peer, now and then, before it yields */
};

#endif
