/* SPDX-License-Identifier: BSD-3-Clause */
/* See pmi_server.h. All ranks are on this node. A rank that does not take its answers, or sends no lines, loses its
 * socket. So do those that wait in a barrier to which a rank without a socket cannot come, but later: MPICH 5 crashes
 * then. If that rank has failed, the news of its end, the cause, ends the job first. */
#include "world/runtime/job/pmi_server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/base/table.h"
#include "core/base/words.h"
#include "world/runtime/job/follow.h"
#include "world/runtime/runtime.h"
#include "world/runtime/runtime_error.h"

enum { LINE_MAX_BYTES = 4096, NAME_BYTES = 256, KEY_BYTES = 64, VALUE_BYTES = 1024 };
enum { DRAIN_MAX = 64 }; /* reads after the end of a process: another one may hold its socket */

struct pl_pmi_rank {
    struct pl_source source;
    struct plenum_job *job;
    int rank, fd; /* -1: closed */
    bool in_use;  /* between "init" and "finalize" */
    bool waiting; /* in the barrier */
    bool spawn;   /* between "mcmd=spawn" and "endcmd" */
    int programs; /* to be spawned, that follow this one */
    size_t used;
    char line[LINE_MAX_BYTES];
};

struct pl_pmi {
    int waiting; /* ranks in the barrier */
    int closed;  /* ranks without a socket */
    struct pl_table values;
    struct pl_pmi_rank *ranks[]; /* [size]; NULL: not opened */
};

struct pmi_value {
    struct pl_table_node node; /* by the hash of the key */
    char key[KEY_BYTES], value[VALUE_BYTES];
};

/* --- what the ranks put ---------------------------------------------------------------------------------------- */

static struct pmi_value *pmi_find(const struct pl_pmi *pmi, const char *key)
{
    struct pl_table_node *node = pl_table_find(&pmi->values, pl_hash_text(PL_HASH_BEGIN, key));
    while (node && strcmp(PL_CONTAINER(node, struct pmi_value, node)->key, key) != 0)
        node = pl_table_find_next(&pmi->values, node);
    return node ? PL_CONTAINER(node, struct pmi_value, node) : NULL;
}

static bool pmi_store(struct pl_pmi *pmi, const char *key, const char *value)
{
    struct pmi_value *entry = pmi_find(pmi, key);
    if (!entry) {
        entry = pl_calloc(1, sizeof *entry);
        if (!entry)
            return false;
        strcpy(entry->key, key);
        pl_table_insert(&pmi->values, &entry->node, pl_hash_text(PL_HASH_BEGIN, key));
    }
    strcpy(entry->value, value);
    return true;
}

/* --- lines ----------------------------------------------------------------------------------------------------- */

static void pmi_close_socket(struct pl_pmi_rank *r)
{
    struct pl_pmi *pmi = r->job->launch.pmi_server;
    if (r->fd < 0)
        return;
    pl_runtime_unwatch(r->job->runtime, r->fd);
    close(r->fd);
    r->fd = -1;
    pmi->closed++;
    pmi->waiting -= r->waiting;
    r->waiting = false;
}

/* If ranks wait in a barrier to which a rank cannot come, their time is limited. */
static void pmi_limit_barrier(struct plenum_job *job)
{
    const struct pl_pmi *pmi = job->launch.pmi_server;
    if (pmi->waiting == 0 || pmi->closed == 0 || job->deadline.barrier)
        return;
    job->deadline.barrier = pl_clock_ms() + PL_CAUSE_MS;
    pl_runtime_set_timer(job->runtime);
}

void pl_pmi_end_barrier(struct plenum_job *job)
{
    struct pl_pmi *pmi = job->launch.pmi_server;
    job->deadline.barrier = 0;
    for (int i = 0; pmi && pmi->waiting > 0 && i < job->desc.size; i++)
        if (pmi->ranks[i]->waiting)
            pmi_close_socket(pmi->ranks[i]);
}

static void pmi_hang_up(struct pl_pmi_rank *r)
{
    pmi_close_socket(r);
    pmi_limit_barrier(r->job);
}

PL_PRINTF(2, 3)
static void pmi_answer(struct pl_pmi_rank *r, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->fd >= 0 && send(r->fd, text, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL) != length)
        pmi_hang_up(r);
}

/* --- requests -------------------------------------------------------------------------------------------------- */

static void pmi_serve_init(struct pl_pmi_rank *r, const char *line)
{
    char version[8];
    bool good = pl_words_value(line, "pmi_version", version, sizeof version) && strcmp(version, "1") == 0;
    r->in_use = r->in_use || good;
    pmi_answer(r, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=%d\n", good ? 0 : -1);
}

static void pmi_serve_maxes(struct pl_pmi_rank *r, const char *line)
{
    (void)line;
    pmi_answer(r, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d rc=0\n", NAME_BYTES, KEY_BYTES, VALUE_BYTES);
}

static void pmi_serve_appnum(struct pl_pmi_rank *r, const char *line)
{
    const struct pl_job_desc *desc = &r->job->desc;
    int program = desc->program_count - 1;
    (void)line;
    while (program > 0 && desc->programs[program].first > r->rank)
        program--;
    pmi_answer(r, "cmd=appnum appnum=%d rc=0\n", program);
}

static void pmi_serve_name(struct pl_pmi_rank *r, const char *line)
{
    (void)line;
    pmi_answer(r, "cmd=my_kvsname kvsname=%s rc=0\n", r->job->nspace);
}

static void pmi_serve_universe(struct pl_pmi_rank *r, const char *line)
{
    long universe = r->job->desc.option[PLENUM_JOB_UNIVERSE];
    (void)line;
    pmi_answer(r, "cmd=universe_size size=%ld rc=0\n", universe ? universe : r->job->desc.size);
}

static void pmi_serve_put(struct pl_pmi_rank *r, const char *line)
{
    char key[KEY_BYTES], value[VALUE_BYTES];
    bool good = pl_words_value(line, "key", key, sizeof key) && pl_words_value(line, "value", value, sizeof value) &&
                pmi_store(r->job->launch.pmi_server, key, value);
    pmi_answer(r, good ? "cmd=put_result rc=0 msg=success\n" : "cmd=put_result rc=-1 msg=invalid_or_no_memory\n");
}

static void pmi_serve_get(struct pl_pmi_rank *r, const char *line)
{
    char key[KEY_BYTES];
    bool asked = pl_words_value(line, "key", key, sizeof key);
    const struct pmi_value *found = asked ? pmi_find(r->job->launch.pmi_server, key) : NULL;
    if (found)
        pmi_answer(r, "cmd=get_result rc=0 msg=success value=%s\n", found->value);
    else if (asked && strcmp(key, "PMI_process_mapping") == 0)
        pmi_answer(r, "cmd=get_result rc=0 msg=success value=(vector,(0,1,%d))\n", r->job->desc.size);
    else
        pmi_answer(r, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

static void pmi_serve_barrier(struct pl_pmi_rank *r, const char *line)
{
    struct pl_pmi *pmi = r->job->launch.pmi_server;
    int size = r->job->desc.size;
    (void)line;
    pmi->waiting += !r->waiting;
    r->waiting = true;
    pmi_limit_barrier(r->job);
    if (pmi->waiting < size)
        return;
    pmi->waiting = 0;
    for (int i = 0; i < size; i++)
        pmi->ranks[i]->waiting = false;
    for (int i = 0; i < size; i++)
        pmi_answer(pmi->ranks[i], "cmd=barrier_out rc=0\n");
}

static void pmi_serve_finalize(struct pl_pmi_rank *r, const char *line)
{
    (void)line;
    r->in_use = false;
    pmi_answer(r, "cmd=finalize_ack rc=0\n");
}

static void pmi_serve_abort(struct pl_pmi_rank *r, const char *line)
{
    char number[16] = "1", message[64];
    pl_words_value(line, "exitcode", number, sizeof number);
    int code = atoi(number);
    r->in_use = false;
    snprintf(message, sizeof message, "called PMI_Abort with code %d", code);
    pl_job_abort(r->job, r->rank, code, "", message);
}

/* There is no name service for such programs. */
static const struct pmi_request {
    const char *name;
    void (*serve)(struct pl_pmi_rank *r, const char *line);
    const char *refusal;
} pmi_requests[] = {
    { "init", pmi_serve_init, NULL },
    { "get_maxes", pmi_serve_maxes, NULL },
    { "get_appnum", pmi_serve_appnum, NULL },
    { "get_my_kvsname", pmi_serve_name, NULL },
    { "get_universe_size", pmi_serve_universe, NULL },
    { "put", pmi_serve_put, NULL },
    { "get", pmi_serve_get, NULL },
    { "barrier_in", pmi_serve_barrier, NULL },
    { "finalize", pmi_serve_finalize, NULL },
    { "abort", pmi_serve_abort, NULL },
    { "publish_name", NULL, "cmd=publish_result rc=-1 info=failed msg=no_name_service\n" },
    { "unpublish_name", NULL, "cmd=unpublish_result rc=-1 info=failed msg=no_name_service\n" },
    { "lookup_name", NULL, "cmd=lookup_result rc=-1 info=failed msg=no_name_service\n" },
};

/* Spawning is refused. The request has several lines for each program, and one answer after the last program. */
static void pmi_serve_spawn_line(struct pl_pmi_rank *r, const char *line)
{
    char number[16];
    if (pl_words_value(line, "totspawns", number, sizeof number))
        r->programs = atoi(number);
    else if (pl_words_value(line, "spawnssofar", number, sizeof number))
        r->programs -= atoi(number);
    r->spawn = strcmp(line, "endcmd") != 0;
    if (!r->spawn && r->programs <= 0)
        pmi_answer(r, "cmd=spawn_result rc=-1 msg=this_mpiexec_spawns_only_for_programs_of_Plenum\n");
}

static void pmi_serve(struct pl_pmi_rank *r, const char *line)
{
    char name[32] = "";
    if (r->spawn || strncmp(line, "mcmd=", 5) == 0) {
        r->spawn = true;
        pmi_serve_spawn_line(r, line);
        return;
    }
    pl_words_value(line, "cmd", name, sizeof name);
    for (size_t i = 0; i < sizeof pmi_requests / sizeof *pmi_requests; i++)
        if (strcmp(pmi_requests[i].name, name) == 0) {
            if (pmi_requests[i].serve)
                pmi_requests[i].serve(r, line);
            else
                pmi_answer(r, "%s", pmi_requests[i].refusal);
            return;
        }
    pmi_hang_up(r);
}

/* Serves the whole lines that have arrived. False: there is nothing to read now, or never again. */
static bool pmi_read(struct pl_pmi_rank *r)
{
    ssize_t got = recv(r->fd, r->line + r->used, sizeof r->line - r->used, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) {
        pmi_hang_up(r);
        return false;
    }
    r->used += (size_t)got;
    char *line = r->line, *end;
    while (r->fd >= 0 && (end = memchr(line, '\n', r->used - (size_t)(line - r->line)))) {
        *end = '\0';
        pmi_serve(r, line);
        line = end + 1;
    }
    r->used -= (size_t)(line - r->line);
    memmove(r->line, line, r->used);
    if (r->used == sizeof r->line)
        pmi_hang_up(r);
    return r->fd >= 0;
}

static void pmi_ready(struct pl_source *source)
{
    pmi_read(PL_CONTAINER(source, struct pl_pmi_rank, source));
}

void pl_pmi_drain(struct plenum_job *job, int rank)
{
    struct pl_pmi *pmi = job->launch.pmi_server;
    struct pl_pmi_rank *r = pmi ? pmi->ranks[rank] : NULL;
    for (int i = 0; r && r->fd >= 0 && i < DRAIN_MAX; i++)
        if (!pmi_read(r))
            break;
}

/* --- opening and closing --------------------------------------------------------------------------------------- */

int pl_pmi_open(struct plenum_job *job, int rank, int *rank_end)
{
    int pair[2];
    struct pl_pmi *pmi = job->launch.pmi_server;
    if (!pmi)
        pmi = pl_calloc(1, sizeof *pmi + (size_t)job->desc.size * sizeof *pmi->ranks);
    job->launch.pmi_server = pmi;
    struct pl_pmi_rank *r = pmi ? pl_calloc(1, sizeof *r) : NULL;
    if (!r)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the PMI server of %d processes", job->desc.size);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        free(r);
        return pl_rt_fail_errno("cannot make a socket for the PMI server of rank %d", rank);
    }
    *r = (struct pl_pmi_rank){ .source.ready = pmi_ready, .job = job, .rank = rank, .fd = pair[0] };
    int err = pl_runtime_watch(job->runtime, pair[0], &r->source);
    if (err) {
        close(pair[0]);
        close(pair[1]);
        free(r);
        return err;
    }
    pmi->ranks[rank] = r;
    *rank_end = pair[1];
    return PLENUM_OK;
}

bool pl_pmi_in_use(const struct plenum_job *job, int rank)
{
    const struct pl_pmi *pmi = job->launch.pmi_server;
    return pmi && pmi->ranks[rank] && pmi->ranks[rank]->in_use;
}

void pl_pmi_close(struct plenum_job *job)
{
    struct pl_pmi *pmi = job->launch.pmi_server;
    struct pl_table_node *node;
    if (!pmi)
        return;
    for (int i = 0; i < job->desc.size; i++)
        if (pmi->ranks[i]) {
            pmi_close_socket(pmi->ranks[i]);
            free(pmi->ranks[i]);
        }
    while ((node = pl_table_first(&pmi->values))) {
        pl_table_remove(&pmi->values, node);
        free(PL_CONTAINER(node, struct pmi_value, node));
    }
    pl_table_fini(&pmi->values);
    free(pmi);
    job->launch.pmi_server = NULL;
}
