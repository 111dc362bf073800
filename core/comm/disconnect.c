/* SPDX-License-Identifier: BSD-3-Clause */
/* Disconnecting: waits for the requests that the user has freed, then for all members. */
#include "core/comm/disconnect.h"

#include "core/coll/collective.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/wait.h"
#include "core/engine/wait_record.h"

int pl_comm_disconnect(struct pl_comm *comm)
{
    struct pl_engine *engine = &comm->instance->engine;
    const struct pl_waiting what = { .comm = comm, .peer = PL_NO_PEER, .tag = PL_ANY };
    struct pl_wait wait = { .what = &what };
    while (atomic_load_explicit(&comm->requests.detached, memory_order_acquire) > 0) {
        pl_engine_enter(engine);
        int events = pl_engine_progress(engine);
        pl_engine_leave(engine);
        wait.rounds = events ? 0 : wait.rounds;
        pl_engine_idle(engine, &wait);
    }
    int rc = pl_coll_run(&(struct pl_coll){ .kind = PL_COLL_BARRIER, .comm = comm });
    return rc ? rc : pl_comm_free(comm);
}
