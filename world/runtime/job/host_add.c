/* SPDX-License-Identifier: BSD-3-Clause */
/* Adding hosts to a runtime, removing and listing them. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "core/base/vec.h"
#include "core/base/visible.h"
#include "world/runtime/guard.h"
#include "world/runtime/job/host_life.h"
#include "world/runtime/job/host_resources.h"
#include "world/runtime/job/queue.h"
#include "world/runtime/runtime_error.h"

#define DEFAULT_COMMAND "ssh -x -o BatchMode=yes -o ServerAliveInterval=15 %h"

enum { HOST_NAME_MAX_BYTES = 255, SLOTS_MAX = 65536, PLACER_GRACE_MS = 1000 };

static int host_add_no_memory(void)
{
    return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for a host");
}

/* --- the command ----------------------------------------------------------------------------------------------- */

struct host_words {
    PL_VEC(char *);
};

/* A word of the template, with the name for %h. NULL: out of memory. */
static char *host_add_word(const char *from, size_t length, const char *name)
{
    char *word = pl_calloc(length + 1, strlen(name) + 1), *to = word;
    for (size_t i = 0; word && i < length; i++)
        if (from[i] == '%' && i + 1 < length && (from[i + 1] == 'h' || from[i + 1] == '%')) {
            to = stpcpy(to, from[++i] == 'h' ? name : "%");
        } else {
            *to++ = from[i];
        }
    return word;
}

/* ssh hands its words to a shell. */
static char *host_add_quoted(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    char *quoted = NULL;
    if (strspn(path, plain) == strlen(path) || strchr(path, '\''))
        return pl_strdup(path);
    return pl_asprintf(&quoted, "'%s'", path) < 0 ? NULL : quoted;
}

static char *host_add_agent(bool quote)
{
    Dl_info self;
    char library[PATH_MAX], path[PATH_MAX + 32];
    if (!dladdr(DEFAULT_COMMAND, &self) || !self.dli_fname || !realpath(self.dli_fname, library))
        return NULL;
    *strrchr(library, '/') = '\0';
    snprintf(path, sizeof path, "%s/plenum/plenum-agent", library);
    return quote ? host_add_quoted(path) : pl_strdup(path);
}

/* Steals the word. False: out of memory. */
static bool host_add_push(struct host_words *words, char *word)
{
    char **at = word ? PL_VEC_PUSH(words) : NULL;
    if (at)
        *at = word;
    else
        free(word);
    return at != NULL;
}

static bool host_add_words(const struct pl_host *host, bool quote, struct host_words *words)
{
    bool whole = true;
    for (const char *at = host->command; whole && *at;) {
        size_t length = strcspn(at, " \t\n");
        if (length > 0)
            whole = host_add_push(words, host_add_word(at, length, host->name));
        at += length;
        at += strspn(at, " \t\n");
    }
    whole = whole && host_add_push(words, host_add_agent(quote));
    char **end = whole ? PL_VEC_PUSH(words) : NULL;
    if (end)
        *end = NULL;
    return end != NULL;
}

/* --- starting the agent ------------------------------------------------------------------------------------------ */

/* The ends of the placer. */
struct host_ends {
    int both, errors;
};

static int host_add_open(struct pl_host *host, struct host_ends *ends)
{
    int pair[2], errors[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return pl_rt_fail_errno("cannot create a socket pair for the agent of host \"%s\"", host->name);
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close(pair[0]);
        close(pair[1]);
        return pl_rt_fail_errno("cannot create a pipe for the agent of host \"%s\"", host->name);
    }
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    pl_wire_open(&host->wire, pair[0], pair[0]);
    host->errors = errors[0];
    *ends = (struct host_ends){ pair[1], errors[1] };
    return PLENUM_OK;
}

static int host_add_describe(struct pl_host *host, bool quote, const struct host_ends *ends, struct plenum_job *job)
{
    struct host_words words = { 0 };
    int err = host_add_words(host, quote, &words) ? PLENUM_OK : host_add_no_memory();
    if (!err)
        err = plenum_job_add_program(job, 1, (const char *const *)words.items, NULL);
    for (size_t i = 0; i < words.count; i++)
        free(words.items[i]);
    PL_VEC_FINI(&words);
    for (int number = 0; !err && number < 3; number++)
        err = plenum_job_redirect(job, 0, number, number < 2 ? ends->both : ends->errors);
    if (!err)
        err = plenum_job_set(job, PLENUM_JOB_GRACE, PLACER_GRACE_MS);
    return err ? err : plenum_job_set(job, PLENUM_JOB_REPORT, 0);
}

/* From now on jobs may be placed there. */
static int host_add_enter(struct plenum_runtime *rt, struct pl_host *host, struct plenum_job *job)
{
    int err = pl_runtime_enter(rt);
    if (err)
        return err;
    struct pl_host *before = pl_host_find(rt, host->name);
    if (before && before->state != PLENUM_HOST_LOST)
        return pl_runtime_leave(rt, pl_rt_fail(PLENUM_ERR_STATE, "the runtime already has a host \"%s\"", host->name));
    err = pl_runtime_watch(rt, host->wire.in, &host->source);
    if (!err)
        err = pl_runtime_watch(rt, host->errors, &host->errors_source);
    if (err)
        return pl_runtime_leave(rt, err);
    if (before)
        pl_host_free(before);
    job->launch.placer = host;
    host->placer = job;
    pl_list_append(&rt->hosts, &host->node);
    pl_wire_flush(&host->wire); /* the greeting alone: jobs follow when the agent has answered */
    return pl_runtime_leave(rt, PLENUM_OK);
}

/* The placer alone has its end of the connection: when it closes that, the connection has ended. Another thread may
 * have seen the end of the placer already. */
static void host_add_release(struct plenum_runtime *rt, uint64_t id)
{
    if (pl_runtime_enter(rt) != PLENUM_OK)
        return;
    struct plenum_job *job = pl_job_find(rt, id);
    for (int i = 0; job && i < job->desc.redirect_count; i++) {
        close(job->desc.redirects[i].fd);
        job->desc.redirects[i].fd = -1;
    }
    pl_runtime_leave(rt, PLENUM_OK);
}

/* Another thread may have placed ranks there meanwhile. */
static void host_add_undo(struct plenum_runtime *rt, struct pl_host *host)
{
    if (pl_runtime_enter(rt) != PLENUM_OK)
        return;
    snprintf(host->reason, sizeof host->reason, "%s", plenum_error());
    host->placer->launch.placer = NULL;
    host->placer = NULL;
    host->leaving = host->over = true;
    pl_hosts_advance(rt);
    pl_runtime_leave(rt, PLENUM_OK);
}

/* Steals the host when it succeeds. */
static int host_add_start(struct plenum_runtime *rt, struct pl_host *host, bool quote)
{
    struct plenum_job *job = NULL;
    struct host_ends ends = { -1, -1 };
    bool entered = false;
    int err = host_add_open(host, &ends);
    if (!err)
        err = plenum_job_create(rt, &job);
    if (!err)
        err = host_add_describe(host, quote, &ends, job);
    if (!err)
        err = host_add_enter(rt, host, job);
    entered = !err;
    uint64_t id = job ? job->id : 0;
    if (!err)
        err = plenum_job_launch(job);
    if (!err)
        host_add_release(rt, id);
    if (ends.both >= 0) {
        close(ends.both);
        close(ends.errors);
    }
    if (err && entered)
        host_add_undo(rt, host);
    else if (err)
        pl_host_free(host);
    if (err)
        plenum_job_close(job);
    return err;
}

/* --- public functions ------------------------------------------------------------------------------------------ */

static int host_add_check(const char *name, int slots)
{
    if (!name || !name[0] || strlen(name) > HOST_NAME_MAX_BYTES || name[0] == '-' || strpbrk(name, " \t\n\r"))
        return pl_rt_fail(PLENUM_ERR_ARGUMENT,
                          "\"%.80s\" cannot be the name of a host: allowed are 1 to %d bytes without blanks, and not - "
                          "as the first",
                          name ? name : "", HOST_NAME_MAX_BYTES);
    if (slots < 1 || slots > SLOTS_MAX)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "host \"%s\" cannot have %d slots: allowed are 1 to %d", name, slots,
                          SLOTS_MAX);
    return PLENUM_OK;
}

static struct pl_host *host_add_new(struct plenum_runtime *rt, const char *name, int slots, const char *command)
{
    struct pl_host *host = pl_calloc(1, sizeof *host);
    if (!host)
        return NULL;
    pl_list_init(&host->node);
    host->runtime = rt;
    host->slots = slots;
    host->errors = host->wire.in = host->wire.out = -1;
    host->source.ready = pl_host_ready;
    host->errors_source.ready = pl_host_errors_ready;
    host->name = pl_strdup(name);
    host->command = pl_strdup(command ? command : DEFAULT_COMMAND);
    if (host->name && host->command)
        return host;
    pl_host_free(host);
    return NULL;
}

int plenum_runtime_host_add(struct plenum_runtime *rt, const char *name, int slots, const char *command)
{
    int err = host_add_check(name, slots);
    if (!err)
        err = pl_runtime_enter(rt);
    if (err)
        return err;
    pl_runtime_leave(rt, PLENUM_OK);
    struct pl_host *host = host_add_new(rt, name, slots, command);
    if (!host)
        return host_add_no_memory();
    err = host_add_start(rt, host, command == NULL);
    if (err || pl_runtime_enter(rt) != PLENUM_OK)
        return err;
    pl_hosts_supply(rt);
    pl_queue_advance(rt);
    return pl_runtime_leave(rt, PLENUM_OK);
}

int plenum_runtime_host_remove(struct plenum_runtime *rt, const char *name)
{
    int err = name ? pl_runtime_enter(rt) : pl_rt_fail_null("name of a host");
    if (err)
        return err;
    struct pl_host *host = pl_host_find(rt, name);
    if (!host) {
        err = pl_rt_fail(PLENUM_ERR_NOT_FOUND, "the runtime has no host \"%.80s\"", name);
    } else if (host->state == PLENUM_HOST_LOST) {
        pl_host_free(host);
    } else {
        host->state = PLENUM_HOST_LEAVING;
        host->leaving = true;
        pl_hosts_supply(rt);
        pl_host_resources_refuse(rt);
        pl_hosts_advance(rt);
    }
    return pl_runtime_leave(rt, err);
}

int plenum_runtime_host(struct plenum_runtime *rt, int number, struct plenum_host *out, size_t size)
{
    int err = out && size > 0 ? pl_runtime_enter(rt) : pl_rt_fail_null("place for a host");
    int at = 0;
    if (err)
        return err;
    PL_LIST_EACH(host, &rt->hosts, struct pl_host, node) {
        if (at++ != number)
            continue;
        struct plenum_host found = { .state = host->state, .slots = host->slots, .ranks = host->ranks };
        snprintf(found.name, sizeof found.name, "%s", host->name);
        pl_visible(found.reason, sizeof found.reason, host->state == PLENUM_HOST_LOST ? host->reason : "");
        memcpy(found.places, host->places, sizeof host->places);
        memset(out, 0, size);
        memcpy(out, &found, size < sizeof found ? size : sizeof found);
        return pl_runtime_leave(rt, PLENUM_OK);
    }
    return pl_runtime_leave(rt, pl_rt_fail(PLENUM_ERR_NOT_FOUND, "the runtime has %d hosts, and not number %d", at,
                                           number));
}
