/* SPDX-License-Identifier: BSD-3-Clause */
/* Bootstrap of a process that no launcher started: a complete MPI job of one process, without any server. */
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/engine/transport.h"
#include "core/job/process.h"

static int singleton_open(struct pl_identity *identity)
{
    snprintf(identity->nspace, sizeof identity->nspace, "singleton-%ld", (long)getpid());
    while (identity->key == 0)
        if (getrandom(&identity->key, sizeof identity->key, 0) != sizeof identity->key)
            return pl_fail_errno(MPI_ERR_OTHER, "cannot get random bytes for the name of a job");
    identity->appnum = -1;
    identity->universe = 1;
    identity->generation = 1;
    return MPI_SUCCESS;
}

static void singleton_close(void)
{
}

static int singleton_publish(enum pl_card_slot slot, const void *card, size_t length)
{
    (void)slot, (void)card, (void)length;
    return MPI_SUCCESS; /* there is no other process to read it */
}

static int singleton_lookup(int rank, enum pl_card_slot slot, void *card, size_t *length)
{
    (void)slot, (void)card, (void)length;
    return pl_fail(MPI_ERR_INTERN, "a process that was started alone looks up rank %d", rank);
}

static void singleton_abort(int code, const char *object, const char *message)
{
    (void)code, (void)object;
    fprintf(stderr, "%s\n", message);
}

static void singleton_state(enum pl_process_state state)
{
    (void)state;
}

const struct pl_bootstrap_ops pl_bootstrap_singleton = {
    .abi = PL_BOOTSTRAP_ABI,
    .name = "singleton",
    .open = singleton_open,
    .close = singleton_close,
    .publish = singleton_publish,
    .lookup = singleton_lookup,
    .abort = singleton_abort,
    .state = singleton_state,
};
