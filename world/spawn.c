/* SPDX-License-Identifier: BSD-3-Clause */
/* See spawn.h. */
#include "world/spawn.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/coll/collective.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/wait.h"
#include "core/job/note.h"
#include "core/job/process.h"
#include "core/job/spawn.h"
#include "sessions/port/connect.h"
#include "world/spawn_json.h"

/* The root's request. */
struct request {
    const struct pl_spawn_command *commands;
    int count;
    int fd;
    struct pl_job_spawn *file; /* mapped; NULL: not made yet */
    size_t bytes;
    char why[sizeof((struct pl_job_spawn *)0)->message];
};

/* --- numbers of processes ----------------------------------------------------------------------------------------- */

/* Reads "a", "a:b" or "a:b:c"; the numbers are a, a + c, ... up to b, or down to it. */
static bool spawn_read_triplet(const char **at, long triplet[3])
{
    int parts = 0;
    do {
        char *end;
        triplet[parts] = strtol(*at, &end, 10);
        if (end == *at || labs(triplet[parts]) > INT_MAX)
            return false;
        *at = end + strspn(end, " ");
        parts++;
    } while (parts < 3 && **at == ':' && (*at)++);
    if (parts == 1)
        triplet[1] = triplet[0];
    if (parts < 3)
        triplet[2] = 1;
    return triplet[2] > 0 ? triplet[1] >= triplet[0] : triplet[2] < 0 && triplet[1] <= triplet[0];
}

/* The largest number of the triplet that is not above `most`; 0: there is none. */
static long spawn_largest(const long triplet[3], long most)
{
    long last = triplet[0] + (triplet[1] - triplet[0]) / triplet[2] * triplet[2], step = labs(triplet[2]);
    long low = triplet[2] > 0 ? triplet[0] : last, high = triplet[2] > 0 ? last : triplet[0];
    if (low > most)
        return 0;
    return high <= most ? high : low + (most - low) / step * step;
}

int pl_spawn_soft(const char *text, int maxprocs, int *number)
{
    long best = 0, triplet[3];
    const char *at = text;
    do {
        if (!spawn_read_triplet(&at, triplet) || (*at && *at != ','))
            return pl_fail(MPI_ERR_INFO_VALUE, "info key soft is \"%.60s\": it must be triplets such as 2:8:2,16",
                           text);
        long found = spawn_largest(triplet, maxprocs);
        best = found > best ? found : best;
    } while (*at++ == ',');
    *number = (int)best;
    return best > 0 ? MPI_SUCCESS
                    : pl_fail(MPI_ERR_SPAWN,
                              "info key soft is \"%.60s\": none of its numbers is between 1 and "
                              "maxprocs, which is %d",
                              text, maxprocs);
}

/* The root's broadcast: for some commands, the processes to start and the processes asked for. */
enum { BATCH = 32 };
struct spawn_batch {
    int count; /* commands that remain, this batch included */
    int number[BATCH], maxprocs[BATCH];
};

/* Broadcasts the numbers of processes and fills in `codes`: MPI_ERR_SPAWN for processes beyond `number`. One broadcast
 * for each BATCH commands. */
static int spawn_bcast_codes(const struct pl_spawn_command *commands, int count, int root, struct pl_comm *comm,
                             int *codes, int *processes)
{
    struct spawn_batch batch = { .count = count };
    *processes = 0;
    do {
        for (int i = 0; comm->rank == root && i < batch.count && i < BATCH; i++, commands++) {
            batch.number[i] = commands->number;
            batch.maxprocs[i] = commands->maxprocs;
        }
        int rc = pl_bcast(comm, &batch, sizeof batch, PL_TYPE_BYTE, root);
        if (rc)
            return rc;
        for (int i = 0; i < batch.count && i < BATCH; i++) {
            for (int process = 0; codes && process < batch.maxprocs[i]; process++)
                codes[*processes + process] = process < batch.number[i] ? MPI_SUCCESS : MPI_ERR_SPAWN;
            *processes += batch.maxprocs[i];
        }
        batch.count -= BATCH;
    } while (batch.count > 0);
    return MPI_SUCCESS;
}

/* --- the request -------------------------------------------------------------------------------------------------- */

static int spawn_make_file(struct request *request, const char *text, const char *port)
{
    size_t length = strlen(text);
    if (pl_process.identity.apart) /* the runtime finds the file by this process's pid */
        return pl_fail(MPI_ERR_SPAWN, "the root is in another pid or user namespace than the job's first process, or "
                                      "has no /proc");
    request->bytes = sizeof *request->file + length + 1;
    if (request->bytes > PL_SPAWN_TEXT_MAX)
        return pl_fail(MPI_ERR_SPAWN, "the commands to spawn take %zu bytes, at most %d are allowed", length,
                       PL_SPAWN_TEXT_MAX);
    request->fd = memfd_create(PL_SPAWN_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (request->fd < 0 || ftruncate(request->fd, (off_t)request->bytes) != 0 ||
        fcntl(request->fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
        return pl_fail_errno(MPI_ERR_SPAWN, "cannot create a memory file for the request to spawn");
    void *at = mmap(NULL, request->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, request->fd, 0);
    if (at == MAP_FAILED)
        return pl_fail_errno(MPI_ERR_SPAWN, "cannot map a memory file of %zu bytes", request->bytes);
    request->file = at;
    request->file->magic = PL_SPAWN_MAGIC;
    request->file->length = (uint32_t)length;
    memcpy(request->file->text, text, length + 1);
    snprintf(request->file->port, sizeof request->file->port, "%s", port);
    return MPI_SUCCESS;
}

static enum pl_spawn_state spawn_state_of(const struct request *request)
{
    return (enum pl_spawn_state)atomic_load_explicit(&request->file->state, memory_order_acquire);
}

static uint32_t spawn_unread(void)
{
    const struct pl_job_told *told = pl_job_told(pl_process.identity.job, pl_process.identity.rank);
    return told ? atomic_load(&told->unread) : 0;
}

/* `unread`: as many requests of this process have the runtime not read before this one. */
static int spawn_await_start(struct request *request, uint32_t unread)
{
    const struct pl_job_segment *job = pl_process.identity.job;
    struct pl_wait wait = { 0 };
    while (spawn_state_of(request) == PL_SPAWN_ASKED) {
        if (kill(job->runtime_pid, 0) != 0)
            return pl_fail(MPI_ERR_SPAWN, "the runtime that started this job has ended");
        if (spawn_unread() != unread)
            return pl_fail(MPI_ERR_SPAWN, "the runtime that started this job could not read the request: it may be "
                                          "short of descriptors or memory, or may not see this process in /proc");
        pl_engine_idle(NULL, &wait);
    }
    if (spawn_state_of(request) != PL_SPAWN_FAILED)
        return MPI_SUCCESS;
    memcpy(request->why, request->file->message, sizeof request->why);
    request->why[sizeof request->why - 1] = '\0';
    return pl_fail(MPI_ERR_SPAWN, "%s", request->why);
}

static int spawn_invite(void *context, const char *port)
{
    struct request *request = context;
    struct pl_job_note note = { .kind = PL_NOTE_SPAWN, .rank = pl_process.identity.rank };
    char *text;
    int rc = pl_spawn_json(request->commands, request->count, &text);
    if (rc)
        return rc;
    rc = spawn_make_file(request, text, port);
    free(text);
    note.code = request->fd;
    uint32_t unread = spawn_unread();
    if (rc == MPI_SUCCESS && !pl_job_note_send(pl_process.identity.job, &note))
        rc = pl_fail(MPI_ERR_SPAWN, "the runtime that started this job does not answer");
    return rc ? rc : spawn_await_start(request, unread);
}

static const char *spawn_failure(const void *context)
{
    return spawn_state_of(context) == PL_SPAWN_ENDED
               ? "the spawned processes ended before all of them had called MPI_Init"
               : NULL;
}

/* Only Plenum's own runtime can spawn. */
static int spawn_check_launcher(void)
{
    const struct pl_identity *identity = &pl_process.identity;
    if (identity->job && identity->job->hosts > 0)
        return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                       "processes that an agent has started (hosts of mpiexec or of a runtime) cannot spawn others");
    if (identity->job && identity->job->note_pipe_inode && !identity->attached)
        return MPI_SUCCESS;
    if (strcmp(pl_process.bootstrap->name, "singleton") == 0)
        return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                       "this process has no launcher that could start others: run it with mpiexec -n 1");
    return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION, "only jobs of Plenum's own launcher can spawn processes");
}

static int spawn_ask(void *context, const char *port)
{
    const struct request *request = context;
    int rc =
        request->count == 0 ? pl_fail(MPI_ERR_SPAWN, "an argument of the root is invalid") : spawn_check_launcher();
    return rc ? rc : spawn_invite(context, port);
}

int pl_spawn(const struct pl_spawn_command *commands, int count, int root, struct pl_comm *comm, int *codes,
             struct pl_comm **made)
{
    int processes, rc = spawn_bcast_codes(commands, count, root, comm, codes, &processes);
    if (rc)
        return rc;
    struct request request = { .commands = commands, .count = count, .fd = -1 };
    struct pl_port_starter starter = { .start = spawn_ask, .failure = spawn_failure, .context = &request };
    rc = pl_port_accept_started(&starter, root, comm, made);
    if (request.file)
        munmap(request.file, request.bytes);
    if (request.fd >= 0)
        close(request.fd);
    for (int i = 0; rc && codes && i < processes; i++)
        codes[i] = MPI_ERR_SPAWN;
    return rc;
}

/* --- the children's side ------------------------------------------------------------------------------------------ */

int pl_spawn_connect_parents(void)
{
    const struct pl_identity *identity = &pl_process.identity;
    if (!identity->job || identity->attached || !identity->job->parent || identity->generation != 1)
        return MPI_SUCCESS;
    if (atomic_exchange(&identity->common->ranks[identity->rank].child, 1) != 0)
        return MPI_SUCCESS; /* another tenant of this process is the child */
    const char *port = (const char *)identity->job + identity->job->parent;
    int rc = pl_port_connect(port, NULL, 0, pl_world_comm, &pl_parent_comm);
    if (rc == MPI_SUCCESS)
        snprintf(pl_parent_comm->name, sizeof pl_parent_comm->name, "MPI_COMM_PARENT");
    return rc;
}
