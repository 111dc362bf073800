/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstrap of a process that no launcher started: a complete MPI job of one process, without any server.
 *
 * A launcher that starts N processes, and offers nothing by which they could find each other, would get N jobs of one
 * that all do the same work: a clear error is better. So it is where a launcher made an offer (`offers` below) that no
 * bootstrap could take, and where Plenum's own was lost on the way.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/engine/transport.h"
#include "core/job/process.h"
#include "core/job/segment.h"

static const char *const offers[] = { PL_JOB_ENV, "PMIX_NAMESPACE", "PMI_FD", "PMI_PORT" };

/* What launchers without an offer set: the number of processes, and this one's rank. */
static const struct launcher {
    const char *size, *rank, *name, *advice;
} launchers[] = {
    { "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun",
      "use `srun --mpi=pmix` or `srun --mpi=pmi2` (`srun --mpi=list` shows what there is)" },
    { "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux run", "use `flux run -o pmi=simple`" },
    { "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun",
      "use one that is built with PMIx, or Plenum's mpiexec" },
    { "PALS_SIZE", "PALS_RANKID", "Cray's mpiexec or aprun", "start the program with Plenum's mpiexec, or by srun" },
    { "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MVAPICH's mpirun_rsh", "use mpiexec.hydra, or Plenum's mpiexec" },
    { "PMI_SIZE", "PMI_RANK", "a launcher with PMI", "use one that sets PMI_FD (hydra), or Plenum's mpiexec" },
};

/* The segment of a job of several processes, inherited without the variables that lead to it: the process's container,
 * or a command such as `env -i`, has removed them. A set-user-ID program, which must not read them, runs alone. */
static bool singleton_lost_its_job(void)
{
    static const char link[] = "/memfd:plenum-job (deleted)";
    const size_t where = offsetof(struct pl_job_segment, size), length = sizeof link - 1;
    char at[sizeof link];
    uint32_t size = 0;
    return !getauxval(AT_SECURE) && !secure_getenv("PLENUM_SIZE") &&
           readlink("/proc/self/fd/99", at, sizeof at) == (ssize_t)length && memcmp(at, link, length) == 0 &&
           pread(99, &size, sizeof size, (off_t)where) == sizeof size && size > 1;
}

static int singleton_check_launchers(void)
{
    if (singleton_lost_its_job())
        return pl_fail(MPI_ERR_OTHER,
                       "mpiexec started this process or one above it, and the environment has no " PL_JOB_ENV
                       ": let what removes variables, such as a container, pass on PLENUM_*, "
                       "or set PLENUM_ALONE=1 to run it alone");
    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++)
        if (secure_getenv(offers[i]))
            return pl_fail(
                MPI_ERR_OTHER,
                "a launcher started this process or one above it (%s), and it cannot join that job: start it "
                "by a launcher itself, or set PLENUM_ALONE=1 to run it alone",
                offers[i]);
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const struct launcher *l = &launchers[i];
        const char *size = secure_getenv(l->size);
        if (size && secure_getenv(l->rank) && strtol(size, NULL, 10) > 1)
            return pl_fail(MPI_ERR_OTHER,
                           "%s started %.20s processes (%s), and they cannot find each other: %s; for independent "
                           "processes set PLENUM_ALONE=1",
                           l->name, size, l->size, l->advice);
    }
    return MPI_SUCCESS;
}

static int singleton_open(struct pl_identity *identity)
{
    int err = pl_process_wants_alone() ? MPI_SUCCESS : singleton_check_launchers();
    if (err)
        return err;
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
