/* SPDX-License-Identifier: BSD-3-Clause */
/* See run.h. One loop over poll(): signals, the runtime, our own output, the terminal. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "api/mpiexec/chatter.h"
#include "api/mpiexec/debugger.h"
#include "api/mpiexec/describe_job.h"
#include "api/mpiexec/run.h"
#include "core/base/memory_libc.h"
#include "core/base/proc_stat.h"
#include "core/base/visible.h"

void run_say(struct run *run, const char *format, ...)
{
    char text[1400], line[1400]; /* names of files, programs and objects may be in it */
    va_list args;
    if (run->options->quiet)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pl_visible(line, sizeof line, text);
    sink_flush(&run->out); /* earlier output of the ranks comes first, also on a terminal */
    if (run->err.midline)
        sink_put(&run->err, "\n", 1);
    sink_put(&run->err, "mpiexec: ", 9);
    sink_put(&run->err, line, strlen(line));
    sink_put(&run->err, "\n", 1);
    sink_flush(&run->err);
}

/* --- signals ----------------------------------------------------------------------------------------------- */

bool run_catch_signals(struct run *run)
{
    static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2 };
    struct sigaction now;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool ignored = sigaction(all[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN; /* nohup */
        if (!ignored || all[i] == SIGINT || all[i] == SIGQUIT)
            sigaddset(&set, all[i]); /* also if ignored: the kernel keeps signals that are blocked */
        if (ignored && (all[i] == SIGINT || all[i] == SIGQUIT))
            run->background = true;
    }
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return false;
    run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return run->signals >= 0;
}

/* The first interrupt ends the job; the second one kills it and drops the output that no reader has taken. */
static void run_interrupt(struct run *run, int signo)
{
    run->interrupts++;
    run->last_interrupt = signo;
    plenum_job_cancel(run->job);
    if (run->interrupts == 1) {
        run_say(run, "%s: ending the job%s", sigdescr_np(signo),
                signo == SIGINT ? " (press Ctrl-C again to kill it)" : "");
        return;
    }
    sink_drop(&run->out);
    sink_drop(&run->err);
}

static void run_handle_signal(struct run *run, int signo)
{
    switch (signo) {
    case SIGTSTP:
        plenum_job_signal(run->job, PLENUM_ALL, SIGTSTP);
        plenum_runtime_set(run->runtime, PLENUM_RUNTIME_HEARTBEAT, 0); /* agents may not wait for a stopped process */
        raise(SIGSTOP);
        plenum_runtime_set(run->runtime, PLENUM_RUNTIME_HEARTBEAT, run->options->heartbeat);
        break;
    case SIGQUIT:
        if (plenum_job_report(run->job) != PLENUM_OK)
            run_say(run, "%s", plenum_error());
        break;
    case SIGCONT:
    case SIGUSR1:
    case SIGUSR2: plenum_job_signal(run->job, PLENUM_ALL, signo); break;
    default: run_interrupt(run, signo);
    }
}

/* --- events ------------------------------------------------------------------------------------------------ */

/* What precedes each line: the time, then the user's pattern or the rank. */
static size_t run_make_tag(const struct options *o, const struct plenum_event *e, char *tag, size_t size)
{
    size_t used = 0;
    struct timespec now;
    struct tm local;
    if (o->timestamp) {
        clock_gettime(CLOCK_REALTIME, &now);
        used = strftime(tag, size, "%Y-%m-%d %H:%M:%S", localtime_r(&now.tv_sec, &local));
        used += (size_t)snprintf(tag + used, size - used, ".%03ld ", now.tv_nsec / 1000000);
    }
    if (!o->prefix && o->tag)
        used += (size_t)snprintf(tag + used, size - used, e->stream == 1 ? "[%d] " : "[%d:err] ", e->rank);
    for (const char *at = o->prefix; at && *at && used + 12 < size; at++) {
        if (*at == '%' && at[1] == 'r')
            used += (size_t)sprintf(tag + used, "%d", e->rank);
        else
            tag[used++] = *at == '%' && at[1] ? at[1] : *at;
        at += *at == '%' && at[1];
    }
    return used;
}

static bool run_tags(const struct options *o)
{
    return o->tag || o->timestamp || o->prefix;
}

static void run_put_tagged(const struct options *o, struct sink *sink, const struct plenum_event *e)
{
    char tag[512];
    size_t length = run_make_tag(o, e, tag, sizeof tag);
    const char *at = e->text, *end = e->text + e->length;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline ? newline + 1 : end;
        sink_put(sink, tag, length);
        sink_put(sink, at, (size_t)(next - at));
        at = next;
    }
}

static void run_handle_output(struct run *run, const struct plenum_event *e)
{
    struct sink *sink = e->stream == 1 ? &run->out : &run->err;
    if (run_tags(run->options) && !sink->midline)
        run_put_tagged(run->options, sink, e);
    else
        sink_put(sink, e->text, e->length);
    if (run_tags(run->options) && (e->flags & PLENUM_EVENT_PARTIAL))
        sink_put(sink, "\n", 1);
}

static void run_say_report(struct run *run, const struct plenum_event *e)
{
    if (!e->text)
        return;
    for (const char *at = e->text, *end = e->text + e->length; at < end; at++) {
        size_t length = strcspn(at, "\n");
        run_say(run, "%.*s", (int)length, at);
        at += length;
    }
}

/* Is the event printed? Without --verbose only errors are: what went wrong, and where first. */
static bool run_prints(const struct run *run, const struct plenum_event *e)
{
    bool verbose = run->options->verbose;
    switch (e->kind) {
    case PLENUM_EVENT_HOST: /* before the start UNSTARTED says it */
        return verbose || (e->code == PLENUM_HOST_LOST && run->started);
    case PLENUM_EVENT_OUTPUT:
    case PLENUM_EVENT_REPORT: return false;
    case PLENUM_EVENT_EXITED:
        return verbose || (!(e->flags & PLENUM_EVENT_EXPECTED) && (e->code || e->flags & PLENUM_EVENT_UNFINALIZED));
    case PLENUM_EVENT_LOST: return verbose || !(e->flags & PLENUM_EVENT_EXPECTED);
    case PLENUM_EVENT_UNSTARTED:
    case PLENUM_EVENT_ABORTED:
    case PLENUM_EVENT_ERROR:
    case PLENUM_EVENT_TIMEOUT: return true;
    default: return verbose;
    }
}

static void run_log_event(struct run *run, const struct plenum_event *e)
{
    char *line = plenum_event_json(e);
    if (!line || fprintf(run->json, "%s\n", line) < 0 || fflush(run->json) != 0) {
        run_say(run, "cannot write \"%s\": logging no further events", run->options->json_events);
        fclose(run->json);
        run->json = NULL;
    }
    free(line);
}

void run_say_bindings(struct run *run)
{
    const struct options *o = run->options;
    char *text = NULL;
    FILE *out = o->verbose || o->report_bindings ? pl_text_open(&text) : NULL;
    if (!out)
        return;
    describe_bindings(run->job, out);
    fclose(out);
    if (!text[0] && o->report_bindings)
        run_say(run, "the processes are not bound; --bind-to core, hwthread, socket or numa binds them");
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line;)
        run_say(run, "%s", line);
    free(text);
}

/* A process does not show whether the kernel killed it for lack of memory, or a user did. So the line says what the
 * kernel has done meanwhile. */
static void run_explain(const struct run *run, const struct plenum_event *e, char *text, size_t size)
{
    text[0] = '\0';
    if (e->kind != PLENUM_EVENT_LOST || e->signal != SIGKILL || e->flags & PLENUM_EVENT_EXPECTED || run->on_hosts)
        return;
    long killed = pl_proc_oom_kills() - run->oom_kills;
    if (killed > 0)
        snprintf(text, size, "; since the job began, the kernel has killed %ld process%s here for lack of memory",
                 killed, killed == 1 ? "" : "es");
}

static void run_handle_event(struct run *run, const struct plenum_event *e)
{
    char line[1300], why[128];
    if (run->json)
        run_log_event(run, e);
    if (e->kind == PLENUM_EVENT_OUTPUT)
        run_handle_output(run, e);
    if (e->kind == PLENUM_EVENT_REPORT)
        run_say_report(run, e);
    run->started |= e->kind == PLENUM_EVENT_STARTED;
    if (e->kind == PLENUM_EVENT_STARTED && run->on_hosts) /* the agents have said by now where the ranks are */
        run_say_bindings(run);
    if (run_prints(run, e)) {
        plenum_event_describe(e, line, sizeof line);
        run_explain(run, e, why, sizeof why);
        run_say(run, "%s%s", line, why);
    }
    if (e->kind == PLENUM_EVENT_STARTED)
        debugger_show(run);
    if (e->kind == PLENUM_EVENT_ABORTED)
        debugger_show_abort(e->text);
    if (e->kind == PLENUM_EVENT_FINISHED) {
        run->finished = true;
        run->code = e->code;
    }
}

static bool run_full(const struct run *run)
{
    return sink_waiting(&run->out) > SINK_FULL || sink_waiting(&run->err) > SINK_FULL;
}

void run_take_events(struct run *run)
{
    struct plenum_event *e;
    while (!run_full(run) && plenum_runtime_next_event(run->runtime, &e) == PLENUM_OK && e) {
        run_handle_event(run, e);
        plenum_event_free(e);
    }
}

/* --- the loop ---------------------------------------------------------------------------------------------- */

/* Ends the job when the output cannot be written: silently if its reader has exited, as `head` does, with a message in
 * case of other errors, such as a full disk. With a standard output that was closed from the start, only the exit code
 * is that of an error. */
static void run_check_output(struct run *run, bool *noticed)
{
    if (!run->out.closed || *noticed || run->interrupts > 0)
        return;
    *noticed = true;
    if (run->out.error == EBADF) {
        run_say(run, "standard output is closed: what the processes print is lost");
        return;
    }
    if (run->out.error != EPIPE)
        run_say(run, "cannot write the output: %s; ending the job", strerror(run->out.error));
    plenum_job_cancel(run->job);
}

/* False: mpiexec cannot wait here. */
static bool run_poll(struct run *run)
{
    enum { SIGNALS, EVENTS, OUT, ERR, KEYBOARD, INPUT, CHATTER, DESCRIPTORS };
    struct pollfd p[DESCRIPTORS] = {
        [SIGNALS] = { .fd = run->signals, .events = POLLIN },
        [EVENTS] = { .fd = run->finished || run_full(run) ? -1 : plenum_runtime_fd(run->runtime), .events = POLLIN },
        [OUT] = { .fd = sink_waiting(&run->out) ? run->out.fd : -1, .events = POLLOUT },
        [ERR] = { .fd = sink_waiting(&run->err) ? run->err.fd : -1, .events = POLLOUT },
        [KEYBOARD] = { .fd = terminal_reads(&run->input) ? STDIN_FILENO : -1, .events = POLLIN },
        [INPUT] = { .fd = terminal_writes(&run->input) ? run->input.pipe : -1, .events = POLLOUT },
        [CHATTER] = { .fd = run->chatter, .events = POLLIN },
    };
    struct signalfd_siginfo got;
    if (poll(p, DESCRIPTORS, -1) < 0 && errno != EINTR) {
        run_say(run, "cannot wait for events: %s; ending the job", strerror(errno));
        return false;
    }
    while (read(run->signals, &got, sizeof got) == sizeof got) {
        if (got.ssi_code == SI_KERNEL && got.ssi_signo != SIGTSTP && isatty(run->err.fd)) /* typed: shown as ^C */
            run->err.midline = true;
        if (!run->background || got.ssi_code != SI_KERNEL)
            run_handle_signal(run, (int)got.ssi_signo);
    }
    if (p[EVENTS].revents)
        run_take_events(run);
    sink_flush(&run->out);
    sink_flush(&run->err);
    if (p[KEYBOARD].revents || p[INPUT].revents)
        terminal_move(&run->input, p[KEYBOARD].revents != 0);
    if (p[CHATTER].revents)
        chatter_tell(run);
    return true;
}

int run_follow(struct run *run)
{
    bool closed = false;
    while (!run->finished || sink_waiting(&run->out) > 0 || sink_waiting(&run->err) > 0) {
        if (!run_poll(run))
            return EXIT_FAILURE;
        run_check_output(run, &closed);
    }
    terminal_close(&run->input);
    if (run->interrupts > 0)
        return CODE_SIGNAL + run->last_interrupt;
    if (closed && run->out.error == EBADF)
        return run->code ? run->code : EXIT_FAILURE;
    if (closed)
        return run->out.error == EPIPE ? CODE_SIGNAL + SIGPIPE : EXIT_FAILURE;
    return run->code;
}
