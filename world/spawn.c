/* SPDX-License-Identifier: BSD-3-Clause */
/* See spawn.h. */
#include "world/spawn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/triplet.h"
#include "core/coll/collective.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/engine/wait.h"
#include "core/job/process.h"
#include "core/job/question.h"
#include "sessions/port/connect.h"
#include "world/spawn_hosts.h"
#include "world/spawn_json.h"

/* The root's request. */
struct request {
    const struct pl_spawn_command *commands;
    int count;
    struct pl_question question;
    char why[PL_ANSWER_MAX]; /* the processes will not connect */
};

/* --- numbers of processes ----------------------------------------------------------------------------------------- */

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
        if (!pl_triplet_read(&at, triplet) || (*at && *at != ','))
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
                             int *codes, int64_t *processes)
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

static int spawn_await_start(struct pl_question *question)
{
    struct pl_wait wait = { 0 };
    int rc;
    while ((rc = pl_question_check(question)) == PL_AGAIN)
        pl_engine_idle(NULL, &wait);
    return rc;
}

/* The data of the question. */
static int spawn_write(const struct request *request, const char *port, struct pl_writer *data)
{
    char *text;
    int rc = pl_spawn_json(request->commands, request->count, &text);
    if (rc)
        return rc;
    pl_write_text(data, port);
    pl_write_text(data, text);
    free(text);
    pl_write_leb128(data, (uint64_t)request->count);
    for (int i = 0; i < request->count && rc == MPI_SUCCESS; i++) {
        char *hosts;
        rc = pl_spawn_hosts(request->commands[i].info, pl_question_is_for_hosts(), &hosts);
        pl_write_text(data, hosts ? hosts : "");
        free(hosts);
    }
    return rc;
}

static int spawn_invite(struct request *request, const char *port)
{
    struct pl_writer data = pl_writer_growing(NULL, 0);
    int rc = spawn_write(request, port, &data);
    if (rc == MPI_SUCCESS)
        rc = pl_question_ask(&request->question, PL_QUESTION_SPAWN, &data, MPI_ERR_SPAWN);
    pl_writer_fini(&data);
    return rc ? rc : spawn_await_start(&request->question);
}

static const char *spawn_failure(void *context)
{
    struct request *request = context;
    if (pl_question_state(&request->question) != PL_QUESTION_ENDED)
        return NULL;
    pl_question_answer(&request->question, request->why);
    return request->why[0] ? request->why : "the spawned processes ended before all of them had called MPI_Init";
}

/* Only Plenum's own runtime can spawn. */
static int spawn_check_launcher(void)
{
    const struct pl_identity *identity = &pl_process.identity;
    if (identity->job && !identity->attached && identity->confined && !identity->hidden)
        return pl_fail(MPI_ERR_SPAWN,
                       "this process has a user namespace of its own, and the processes that the runtime "
                       "starts could not share memory with it: let a rank outside of it be the root");
    if (identity->job && identity->job->note_pipe_inode && !identity->attached)
        return MPI_SUCCESS;
    if (strcmp(pl_process.bootstrap->name, "singleton") == 0)
        return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                       "this process has no launcher that could start others: run it with mpiexec -n 1");
    return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION, "only jobs of Plenum's own launcher can spawn processes");
}

static int spawn_ask(void *context, const char *port)
{
    struct request *request = context;
    int rc =
        request->count == 0 ? pl_fail(MPI_ERR_SPAWN, "an argument of the root is invalid") : spawn_check_launcher();
    return rc ? rc : spawn_invite(request, port);
}

int pl_spawn(const struct pl_spawn_command *commands, int count, int root, struct pl_comm *comm, int *codes,
             struct pl_comm **made)
{
    int64_t processes;
    int rc = spawn_bcast_codes(commands, count, root, comm, codes, &processes);
    if (rc)
        return rc;
    struct request request = { .commands = commands, .count = count, .question = { .fd = -1 } };
    struct pl_port_starter starter = {
        .start = spawn_ask, .failure = spawn_failure, .context = &request, .far = pl_question_is_for_hosts()
    };
    rc = pl_port_accept_started(&starter, root, comm, made);
    if (rc == MPI_SUCCESS)
        pl_question_settle(&request.question);
    pl_question_close(&request.question);
    for (int64_t i = 0; rc && codes && i < processes; i++)
        codes[i] = MPI_ERR_SPAWN;
    return rc;
}

/* --- the children's side ------------------------------------------------------------------------------------------ */

int pl_spawn_connect_parents(void)
{
    static bool failed; /* this copy was the child */
    const struct pl_identity *identity = &pl_process.identity;
    if (!identity->job || identity->attached || !identity->job->parent || identity->generation != 1)
        return MPI_SUCCESS;
    _Atomic uint32_t *child = &identity->common->ranks[identity->rank].child;
    uint32_t none = PL_CHILD_NONE;
    if (!atomic_compare_exchange_strong(child, &none, PL_CHILD_CONNECTS))
        return failed
                   ? pl_fail(MPI_ERR_PROC_ABORTED, "connecting to the processes that have spawned this one has failed")
                   : MPI_SUCCESS; /* another tenant of this process is the child */
    const char *port = (const char *)identity->job + identity->job->parent;
    failed = true;
    int rc = pl_port_connect(port, NULL, 0, pl_world_comm, &pl_parent_comm);
    if (rc == MPI_SUCCESS) {
        failed = false;
        atomic_store(child, PL_CHILD_CONNECTED);
        pl_comm_set_name(pl_parent_comm, "MPI_COMM_PARENT");
    } else if (rc == MPI_ERR_PORT) { /* which the launcher has named: not the port is wrong, its owner has gone */
        char why[PL_DETAIL_MAX];
        snprintf(why, sizeof why, "%s", pl_error_detail(NULL));
        rc = pl_fail(MPI_ERR_PROC_ABORTED, "the processes that have spawned this one cannot be reached: %.300s", why);
    }
    return rc;
}
