/* SPDX-License-Identifier: BSD-3-Clause */
/* plenum://log: one line for each error, of words KEY=VALUE. Names and messages are quoted, with \" \\ and \xNN for
 * characters that would break the line. */
#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "plugins/errhandlers/error_log.h"

struct line {
    size_t used;
    char text[3000];
};

static void log_handler_put(struct line *line, const char *text)
{
    size_t n = strlen(text), space = sizeof line->text - 1 - line->used;
    n = n < space ? n : space;
    memcpy(line->text + line->used, text, n);
    line->used += n;
    line->text[line->used] = '\0';
}

static void log_handler_put_quoted(struct line *line, const char *key, const char *text)
{
    log_handler_put(line, key);
    log_handler_put(line, "=\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        char escaped[8] = { *text };
        if (c == '"' || c == '\\')
            snprintf(escaped, sizeof escaped, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            snprintf(escaped, sizeof escaped, "\\x%02x", c);
        log_handler_put(line, escaped);
    }
    log_handler_put(line, "\" ");
}

static void log_handler_put_word(struct line *line, const char *key, const char *word)
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
    log_handler_put_word(line, key, text);
}

void pl_errhandler_log_error(const struct plenum_error_report *error)
{
    struct line line = { 0 };
    log_handler_put_word(&line, "kind", error->kind);
    log_handler_put_quoted(&line, "name", error->name);
    log_handler_put_word(&line, "function", error->function);
    log_handler_put_word(&line, "class", error->class_name);
    log_handler_put_number(&line, "code", error->code);
    log_handler_put_number(&line, "rank", error->rank);
    log_handler_put_quoted(&line, "message", error->message);
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
