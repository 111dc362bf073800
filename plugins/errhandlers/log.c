/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plenum://log: one line for an error, of words KEY=VALUE; texts of others stand in quotes, with \" \\ and \xNN for
 * what would break the line. Nothing is allocated.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "plugins/errhandlers/line.h"

struct line {
    size_t used;
    char text[3000];
};

static void log_handler_put(struct line *line, const char *text)
{
    size_t n = strlen(text), room = sizeof line->text - 1 - line->used;
    n = n < room ? n : room;
    memcpy(line->text + line->used, text, n);
    line->used += n;
    line->text[line->used] = '\0';
}

static void put_quoted(struct line *line, const char *key, const char *text)
{
    log_handler_put(line, key);
    log_handler_put(line, "=\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        char piece[8] = { *text };
        if (c == '"' || c == '\\')
            snprintf(piece, sizeof piece, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            snprintf(piece, sizeof piece, "\\x%02x", c);
        log_handler_put(line, piece);
    }
    log_handler_put(line, "\" ");
}

static void put_word(struct line *line, const char *key, const char *word)
{
    log_handler_put(line, key);
    log_handler_put(line, "=");
    log_handler_put(line, *word ? word : "-");
    log_handler_put(line, " ");
}

static void log_handler_put_number(struct line *line, const char *key, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    put_word(line, key, text);
}

void pl_errhandler_log_error(const struct plenum_error_report *error)
{
    struct line line = { 0 };
    put_word(&line, "kind", error->kind);
    put_quoted(&line, "name", error->name);
    put_word(&line, "function", error->function);
    put_word(&line, "class", error->class_name);
    log_handler_put_number(&line, "code", error->code);
    log_handler_put_number(&line, "rank", error->rank);
    put_quoted(&line, "message", error->message);
    line.text[line.used - 1] = '\0'; /* the last blank */
    pl_log_line("errhandler", line.text);
}

static int log_handler_handle(void *state, const struct plenum_error_report *error)
{
    (void)state;
    pl_errhandler_log_error(error);
    return PLENUM_ERROR_RETURN;
}

extern const struct plenum_errhandler_ops pl_errhandler_log;
const struct plenum_errhandler_ops pl_errhandler_log = {
    .abi = PLENUM_ERRHANDLER_ABI,
    .help = "logs one line, then the function returns the error code",
    .handle = log_handler_handle,
};
