/* SPDX-License-Identifier: BSD-3-Clause */
/* See symbols.h. */
#include "world/runtime/report/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "world/runtime/keeper/keeper_link.h"

enum kind { NAME, LINE, KINDS };

/* A name takes a few milliseconds. Lines of a large program may take longer, and matter less. */
static const int64_t most_ms[KINDS] = { 3000, 2000 };

enum { REPLY_MAX = 4096, ANSWERS_MAX = 4096 };

struct pl_symbol_file {
    struct pl_symbol_file *next;
    bool failed[KINDS]; /* the symbolizer ended, or took too long */
    char path[];
};

/* Cached, since all ranks of a program have the same addresses. */
struct pl_symbol_answer {
    struct pl_symbol_answer *next;
    struct pl_symbol_file *file;
    uint64_t address;
    bool known[KINDS]; /* the question has been answered */
    struct pl_symbol symbol;
};

/* --- the process ------------------------------------------------------------------------------------------- */

static void symbols_stop(struct pl_symbols *symbols)
{
    if (symbols->running)
        close(symbols->fd);
    symbols->running = false;
}

/* A descriptor of the program; -1: it does not exist. */
static int symbols_open_program(const char *program)
{
    Dl_info self;
    char library[PATH_MAX], path[PATH_MAX];
    if (!program) {
        if (!dladdr(most_ms, &self) || !self.dli_fname || !realpath(self.dli_fname, library))
            return -1;
        *strrchr(library, '/') = '\0';
        if (snprintf(path, sizeof path, "%s/plenum/symbolizer", library) >= PATH_MAX)
            return -1;
        program = path;
    }
    return open(program, O_PATH | O_CLOEXEC);
}

static bool symbols_read_line(const struct pl_symbols *symbols, char line[REPLY_MAX], int64_t deadline)
{
    size_t used = 0;
    while (used == 0 || line[used - 1] != '\n') {
        struct pollfd p = { .fd = symbols->fd, .events = POLLIN };
        int left = pl_deadline_left_ms(deadline), ready = left > 0 ? poll(&p, 1, left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t got = ready > 0 ? recv(symbols->fd, line + used, REPLY_MAX - used, MSG_DONTWAIT) : 0;
        if (got <= 0)
            return false;
        used += (size_t)got;
    }
    line[used - 1] = '\0';
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    return true;
}

/* The keeper starts it, like every process: the embedding program gets no child, and no SIGCHLD. */
static bool symbols_start(struct pl_symbols *symbols, int64_t deadline)
{
    static const struct pl_keeper_request request = { .op = PL_KEEPER_SYMBOLIZER };
    int pair[2], program = symbols->link ? symbols_open_program(symbols->program) : -1;
    char line[REPLY_MAX];
    if (program < 0)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        symbols->fd = pair[0];
        symbols->running = true;
        pl_link_send(symbols->link, &request, (int[]){ program, pair[1] }, 2);
        close(pair[1]);
        if (!symbols_read_line(symbols, line, deadline) || strcmp(line, "ready") != 0)
            symbols_stop(symbols);
    }
    close(program);
    return symbols->running;
}

/* --- questions --------------------------------------------------------------------------------------------- */

static bool symbols_ask(struct pl_symbols *symbols, enum kind kind, const struct pl_symbol_answer *about,
                        char line[REPLY_MAX])
{
    static const char *const words[KINDS] = { "name", "line" };
    struct pl_symbol_file *file = about->file;
    int64_t start = pl_clock_ms(), left = most_ms[kind] - symbols->used[kind];
    if (symbols->missing || file->failed[kind] || left <= 0)
        return false;
    int64_t deadline = pl_deadline_after_ms(left);
    if (!symbols->running && !symbols_start(symbols, deadline)) {
        symbols->missing = true;
        return false;
    }
    int length = snprintf(line, REPLY_MAX, "%s %llx %s\n", words[kind], (unsigned long long)about->address, file->path);
    bool good = length < REPLY_MAX && send(symbols->fd, line, (size_t)length, MSG_NOSIGNAL) == length &&
                symbols_read_line(symbols, line, deadline);
    if (!good) {
        symbols_stop(symbols);
        file->failed[kind] = file->failed[LINE] = true;
    }
    symbols->used[kind] += pl_clock_ms() - start;
    return good;
}

static void symbols_ask_name(struct pl_symbols *symbols, struct pl_symbol_answer *answer)
{
    char line[REPLY_MAX], *end;
    if (answer->known[NAME] || !symbols_ask(symbols, NAME, answer, line))
        return;
    answer->known[NAME] = true;
    answer->symbol.into = strtoull(line, &end, 16);
    if (end[0] == ' ' && end[1])
        answer->symbol.function = pl_strdup(end + 1);
}

static void symbols_ask_line(struct pl_symbols *symbols, struct pl_symbol_answer *answer)
{
    char line[REPLY_MAX], *end;
    if (answer->known[LINE] || !symbols_ask(symbols, LINE, answer, line))
        return;
    answer->known[LINE] = true;
    answer->symbol.line = (int)strtol(line, &end, 10);
    if (end[0] == ' ' && end[1])
        answer->symbol.source = pl_strdup(end + 1);
}

static struct pl_symbol_file *symbols_find_file(struct pl_symbols *symbols, const char *path)
{
    for (struct pl_symbol_file *file = symbols->files; file; file = file->next)
        if (strcmp(file->path, path) == 0)
            return file;
    struct pl_symbol_file *file = pl_calloc(1, sizeof *file + strlen(path) + 1);
    if (!file)
        return NULL;
    strcpy(file->path, path);
    file->next = symbols->files;
    symbols->files = file;
    return file;
}

static struct pl_symbol_answer *symbols_find_answer(struct pl_symbols *symbols, struct pl_symbol_file *file,
                                                    uint64_t address)
{
    struct pl_symbol_answer **first = &symbols->answers[address % PL_SYMBOL_BUCKETS];
    for (struct pl_symbol_answer *answer = *first; answer; answer = answer->next)
        if (answer->address == address && answer->file == file)
            return answer;
    struct pl_symbol_answer *answer = pl_calloc(1, sizeof *answer);
    if (!answer)
        return NULL;
    *answer = (struct pl_symbol_answer){ .next = *first, .file = file, .address = address };
    *first = answer;
    symbols->count++;
    return answer;
}

static struct pl_symbol_answer *symbols_at(struct pl_symbols *symbols, const char *path, uint64_t address)
{
    struct pl_symbol_file *file = path[0] == '/' && !strchr(path, '\n') ? symbols_find_file(symbols, path) : NULL;
    return file ? symbols_find_answer(symbols, file, address) : NULL;
}

void pl_symbols_learn(struct pl_symbols *symbols, const char *path, uint64_t address, const struct pl_symbol *symbol)
{
    struct pl_symbol_answer *answer = symbols_at(symbols, path, address);
    if (!answer || answer->known[NAME])
        return;
    answer->known[NAME] = answer->known[LINE] = true;
    answer->symbol = (struct pl_symbol){
        .function = symbol->function[0] ? pl_strdup(symbol->function) : NULL,
        .into = symbol->into,
        .source = symbol->source[0] ? pl_strdup(symbol->source) : NULL,
        .line = symbol->line,
    };
}

struct pl_symbol pl_symbols_find(struct pl_symbols *symbols, const char *path, uint64_t address, bool line)
{
    struct pl_symbol_answer *answer = symbols_at(symbols, path, address);
    if (!answer)
        return (struct pl_symbol){ 0 };
    symbols_ask_name(symbols, answer);
    if (line)
        symbols_ask_line(symbols, answer);
    return answer->symbol;
}

/* --- ends -------------------------------------------------------------------------------------------------- */

static void symbols_forget(struct pl_symbols *symbols)
{
    for (int i = 0; i < PL_SYMBOL_BUCKETS; i++)
        while (symbols->answers[i]) {
            struct pl_symbol_answer *answer = symbols->answers[i];
            symbols->answers[i] = answer->next;
            free((char *)answer->symbol.function);
            free((char *)answer->symbol.source);
            free(answer);
        }
    while (symbols->files) {
        struct pl_symbol_file *file = symbols->files;
        symbols->files = file->next;
        free(file);
    }
    symbols->count = 0;
}

void pl_symbols_rest(struct pl_symbols *symbols)
{
    symbols_stop(symbols);
    memset(symbols->used, 0, sizeof symbols->used);
    symbols->missing = false;
    if (symbols->count > ANSWERS_MAX)
        symbols_forget(symbols);
}

void pl_symbols_fini(struct pl_symbols *symbols)
{
    symbols_stop(symbols);
    symbols_forget(symbols);
}
