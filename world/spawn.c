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
#include "core/base/json.h"
#include "core/coll/collective.h"
#include "core/engine/comm.h"
#include "core/engine/engine.h"
#include "core/engine/instance.h"
#include "core/job/note.h"
#include "core/job/process.h"
#include "core/job/spawn.h"
#include "core/object/errhandler_registry.h"
#include "core/object/info.h"
#include "sessions/port/connect.h"

/* What the root asks for. */
struct request {
    const struct pl_spawn_command *commands;
    int count;
    int fd;
    struct pl_job_spawn *file; /* mapped; NULL: not yet */
    size_t bytes;
    char why[sizeof((struct pl_job_spawn *)0)->message];
};

/* --- how many ----------------------------------------------------------------------------------------------------- */

/* Reads "a", "a:b" or "a:b:c"; the numbers are a, a + c, ... up to b, or down to it. */
static bool read_triplet(const char **at, long triplet[3])
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

/* The largest number of it that is not above `most`, 0: none. */
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
        if (!read_triplet(&at, triplet) || (*at && *at != ','))
            return pl_fail(MPI_ERR_INFO_VALUE, "info key soft is \"%.60s\": it must be triplets such as 2:8:2,16",
                           text);
        long found = spawn_largest(triplet, maxprocs);
        best = found > best ? found : best;
    } while (*at++ == ',');
    *number = (int)best;
    return best > 0 ? MPI_SUCCESS
                    : pl_fail(MPI_ERR_SPAWN,
                              "info key soft is \"%.60s\": none of these numbers is between 1 and "
                              "maxprocs, which is %d",
                              text, maxprocs);
}

/* What the root tells: how many processes of some commands are started, and how many were asked for. */
enum { TOLD = 32 };
struct told {
    int count; /* commands that are still to come, these included */
    int number[TOLD], maxprocs[TOLD];
};

/* Tells all how many processes are asked for, and which of them are not: at once, unless there are very many
 * commands. */
static int tell_codes(const struct pl_spawn_command *commands, int count, int root, struct pl_comm *comm, int *codes,
                      int *processes)
{
    struct told told = { .count = count };
    *processes = 0;
    do {
        for (int i = 0; comm->rank == root && i < told.count && i < TOLD; i++, commands++) {
            told.number[i] = commands->number;
            told.maxprocs[i] = commands->maxprocs;
        }
        int rc = pl_bcast(comm, &told, sizeof told, PL_TYPE_BYTE, root);
        if (rc)
            return rc;
        for (int i = 0; i < told.count && i < TOLD; i++) {
            for (int process = 0; codes && process < told.maxprocs[i]; process++)
                codes[*processes + process] = process < told.number[i] ? MPI_SUCCESS : MPI_ERR_SPAWN;
            *processes += told.maxprocs[i];
        }
        told.count -= TOLD;
    } while (told.count > 0);
    return MPI_SUCCESS;
}

/* --- the description ---------------------------------------------------------------------------------------------- */

static json_t *spawn_words_of(const struct pl_spawn_command *command)
{
    json_t *words = json_array();
    json_array_append_new(words, json_string(command->command));
    for (char **word = command->argv; word && *word; word++)
        json_array_append_new(words, json_string(*word));
    return words;
}

/* Is it this machine? Others are out of reach. */
static int check_host(struct pl_info *info)
{
    char own[HOST_NAME_MAX + 1] = "";
    char *host;
    int rc = pl_info_get(info, "host", &host);
    gethostname(own, sizeof own - 1);
    if (host && strcmp(host, "localhost") != 0 && strcmp(host, own) != 0)
        rc = pl_fail(MPI_ERR_SPAWN, "info key host is \"%.60s\": processes are spawned on this machine, %s", host, own);
    free(host);
    return rc;
}

/* The directory in which it is started: the info key, else that of this process. */
static int add_directory(struct pl_info *info, json_t *program)
{
    char own[PATH_MAX], *wanted;
    int rc = pl_info_get(info, "wdir", &wanted);
    const char *directory = wanted ? wanted : getcwd(own, sizeof own);
    if (directory)
        json_object_set_new(program, "wdir", json_string(directory));
    free(wanted);
    return rc;
}

/* Its initial error handler, by the variable that `mpiexec -initial-errhandler` sets, too. */
static int add_errhandler(struct pl_info *info, json_t *program)
{
    char *name;
    int rc = pl_info_get(info, "mpi_initial_errhandler", &name);
    if (name && !pl_named_valid(name))
        rc = pl_fail(MPI_ERR_INFO_VALUE, "info key mpi_initial_errhandler is \"%.60s\": it must be %s", name,
                     PL_NAMED_ALLOWED);
    else if (name)
        json_object_set_new(program, "env", json_pack("{s:s}", "PLENUM_INITIAL_ERRHANDLER", name));
    free(name);
    return rc;
}

static int describe_program(const struct pl_spawn_command *command, json_t *program)
{
    char *path = NULL;
    int rc = check_host(command->info);
    rc = rc ? rc : add_directory(command->info, program);
    rc = rc ? rc : add_errhandler(command->info, program);
    rc = rc ? rc : pl_info_get(command->info, "path", &path);
    if (rc)
        return rc;
    json_object_set_new(program, "argv", spawn_words_of(command));
    json_object_set_new(program, "ranks", json_integer(command->number));
    if (path)
        json_object_set_new(program, "path", json_string(path));
    free(path);
    size_t words = 1;
    for (char **word = command->argv; word && *word; word++)
        words++;
    if (json_array_size(json_object_get(program, "argv")) != words)
        return pl_fail(MPI_ERR_SPAWN, "a word of the command \"%.100s\" is not UTF-8, or memory is short",
                       command->command);
    return MPI_SUCCESS;
}

/* As libplenum takes it; malloc'ed. */
static int spawn_describe(const struct request *request, char **text)
{
    json_t *root = json_object(), *programs = json_array();
    int rc = MPI_SUCCESS;
    for (int i = 0; i < request->count && rc == MPI_SUCCESS; i++) {
        json_t *program = json_object();
        rc = describe_program(&request->commands[i], program);
        json_array_append_new(programs, program);
    }
    json_object_set_new(root, "programs", programs);
    *text = rc ? NULL : json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return rc ? rc : *text ? MPI_SUCCESS : pl_fail_memory("the description of processes to spawn");
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

static int make_file(struct request *request, const char *text, const char *port)
{
    size_t length = strlen(text);
    request->bytes = sizeof *request->file + length + 1;
    if (request->bytes > PL_SPAWN_TEXT_MAX)
        return pl_fail(MPI_ERR_SPAWN, "the commands to spawn have %zu bytes, allowed are %d", length,
                       PL_SPAWN_TEXT_MAX);
    request->fd = memfd_create(PL_SPAWN_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (request->fd < 0 || ftruncate(request->fd, (off_t)request->bytes) != 0 ||
        fcntl(request->fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
        return pl_fail_errno(MPI_ERR_SPAWN, "no memory file to ask for processes with");
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

static enum pl_spawn_state state_of(const struct request *request)
{
    return (enum pl_spawn_state)atomic_load_explicit(&request->file->state, memory_order_acquire);
}

static int await_start(struct request *request)
{
    const struct pl_job_segment *job = pl_process.place.job;
    struct pl_wait wait = { 0 };
    while (state_of(request) == PL_SPAWN_ASKED) {
        if (kill(job->runtime_pid, 0) != 0)
            return pl_fail(MPI_ERR_SPAWN, "the runtime that started this job has ended");
        pl_engine_idle(NULL, &wait);
    }
    if (state_of(request) != PL_SPAWN_FAILED)
        return MPI_SUCCESS;
    memcpy(request->why, request->file->message, sizeof request->why);
    request->why[sizeof request->why - 1] = '\0';
    return pl_fail(MPI_ERR_SPAWN, "%s", request->why);
}

static int spawn_invite(void *context, const char *port)
{
    struct request *request = context;
    struct pl_job_note note = { .kind = PL_NOTE_SPAWN, .rank = pl_process.place.rank };
    char *text;
    int rc = spawn_describe(request, &text);
    if (rc)
        return rc;
    rc = make_file(request, text, port);
    free(text);
    note.code = request->fd;
    if (rc == MPI_SUCCESS && !pl_job_note_send(pl_process.place.job, &note))
        rc = pl_fail(MPI_ERR_SPAWN, "the runtime that started this job does not listen");
    return rc ? rc : await_start(request);
}

static const char *spawn_failure(const void *context)
{
    return state_of(context) == PL_SPAWN_ENDED
               ? "the spawned processes have ended without calling MPI_Init, or before all had called it"
               : NULL;
}

/* Only a runtime of ours can be asked. */
static int check_launcher(void)
{
    const struct pl_identity *place = &pl_process.place;
    if (place->job && place->job->note_pipe_inode && !place->attached)
        return MPI_SUCCESS;
    if (strcmp(pl_process.bootstrap->name, "singleton") == 0)
        return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION,
                       "nobody has started this process who could start others: run it with mpiexec -n 1");
    return pl_fail(MPI_ERR_UNSUPPORTED_OPERATION, "processes are spawned in jobs of Plenum's own launcher only");
}

static int spawn_ask(void *context, const char *port)
{
    const struct request *request = context;
    int rc = request->count == 0 ? pl_fail(MPI_ERR_SPAWN, "an argument of the root is wrong") : check_launcher();
    return rc ? rc : spawn_invite(context, port);
}

int pl_spawn(const struct pl_spawn_command *commands, int count, int root, struct pl_comm *comm, int *codes,
             struct pl_comm **made)
{
    int processes, told = tell_codes(commands, count, root, comm, codes, &processes);
    if (told)
        return told;
    struct request request = { .commands = commands, .count = count, .fd = -1 };
    struct pl_port_starter starter = { .start = spawn_ask, .failure = spawn_failure, .context = &request };
    int rc = pl_port_accept_started(&starter, root, comm, made);
    if (request.file)
        munmap(request.file, request.bytes);
    if (request.fd >= 0)
        close(request.fd);
    for (int i = 0; rc && codes && i < processes; i++)
        codes[i] = MPI_ERR_SPAWN;
    return rc;
}

/* --- the children's part ------------------------------------------------------------------------------------------ */

int pl_spawn_connect_parents(void)
{
    const struct pl_identity *place = &pl_process.place;
    if (!place->job || place->attached || !place->job->parent || place->generation != 1)
        return MPI_SUCCESS;
    const char *port = (const char *)place->job + place->job->parent;
    int rc = pl_port_connect(port, NULL, 0, pl_world_comm, &pl_parent_comm);
    if (rc == MPI_SUCCESS)
        snprintf(pl_parent_comm->name, sizeof pl_parent_comm->name, "MPI_COMM_PARENT");
    return rc;
}
