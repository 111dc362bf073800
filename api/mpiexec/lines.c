/* SPDX-License-Identifier: BSD-3-Clause */
/* See lines.h. */
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/mpiexec/lines.h"

enum { PATIENCE_MS = 2000, NUMBER = 24 };

static int64_t lines_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- places in a text -------------------------------------------------------------------------------------- */

/* "... /home/me/ocean(+0x1498)": all addresses but that of a crash itself, #0, are those behind a call. */
static bool lines_parse(const char *line, size_t length, struct lines_place *place)
{
    const char *paren = memmem(line, length, "(+0x", 4);
    const char *close = paren ? memchr(paren, ')', length - (size_t)(paren - line)) : NULL;
    const char *file = paren;
    while (file && file > line && !(file[0] == '/' && file[-1] == ' '))
        file--;
    if (!close || file == line)
        return false;
    const char *first = line + strspn(line, " ");
    *place = (struct lines_place){ .file = file, .length = (size_t)(paren - file), .behind = close + 1 };
    place->offset = strtoull(paren + 2, NULL, 16) - (strncmp(first, "#0 ", 3) != 0);
    return true;
}

static bool same_file(const struct lines_place *a, const struct lines_place *b)
{
    return a->length == b->length && memcmp(a->file, b->file, a->length) == 0;
}

/* --- addr2line --------------------------------------------------------------------------------------------- */

/* Its standard output; -1: it cannot be run. */
static int lines_start(char *const argv[], pid_t *pid)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    extern char **environ;
    int err = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (err)
        close(ends[0]);
    return err ? -1 : ends[0];
}

/* All that it says, until the deadline. To be freed; NULL: nothing. */
static char *lines_run(char *const argv[], int64_t deadline)
{
    pid_t pid;
    int fd = lines_start(argv, &pid);
    size_t used = 0;
    ssize_t got = 1;
    char *said = fd >= 0 ? calloc(1, 65536) : NULL;
    if (fd < 0)
        return NULL;
    while (said && got > 0 && used < 65535) {
        int64_t left = deadline - lines_now();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        got = left > 0 && poll(&p, 1, (int)left) == 1 ? read(fd, said + used, 65535 - used) : 0;
        used += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return said;
}

/* One line for each place, "ocean.c:120 (discriminator 2)" or "??:0". */
static void lines_keep(struct lines_place *place, const char *line)
{
    size_t length = strcspn(line, " \n");
    if (line[0] != '?' && length + 1 < sizeof place->source && line[length - 1] != '?')
        snprintf(place->source, sizeof place->source, "%.*s", (int)length, line);
}

/* Those of the file of place `first` and behind it. */
static void lines_ask(struct lines *lines, int first, int64_t deadline)
{
    char numbers[LINES_MAX][NUMBER], file[4096];
    char *argv[LINES_MAX + 5] = { "addr2line", "-s", "-e", file };
    int argc = 4;
    const struct lines_place *of = &lines->place[first];
    snprintf(file, sizeof file, "%.*s", (int)of->length, of->file);
    for (int i = first; i < lines->count; i++)
        if (same_file(&lines->place[i], of)) {
            snprintf(numbers[i], NUMBER, "0x%llx", (unsigned long long)lines->place[i].offset);
            argv[argc++] = numbers[i];
        }
    char *said = lines_run(argv, deadline), *rest = said, *line;
    for (int i = first; said && i < lines->count; i++)
        if (same_file(&lines->place[i], of) && (line = strsep(&rest, "\n")) && *line)
            lines_keep(&lines->place[i], line);
    free(said);
}

void lines_find(struct lines *lines, const char *text)
{
    int64_t deadline = lines_now() + PATIENCE_MS;
    lines->count = 0;
    for (size_t length; *text && lines->count < LINES_MAX; text += length + (text[length] != '\0')) {
        length = strcspn(text, "\n");
        lines->count += lines_parse(text, length, &lines->place[lines->count]);
    }
    for (int i = 0; i < lines->count; i++) {
        bool asked = false;
        for (int k = 0; k < i && !asked; k++)
            asked = same_file(&lines->place[k], &lines->place[i]);
        if (!asked)
            lines_ask(lines, i, deadline);
    }
}

const struct lines_place *lines_in(const struct lines *lines, const char *line, size_t length)
{
    for (int i = 0; i < lines->count; i++)
        if (lines->place[i].source[0] && lines->place[i].behind > line && lines->place[i].behind <= line + length)
            return &lines->place[i];
    return NULL;
}
