/* SPDX-License-Identifier: BSD-3-Clause */
/* See configfile.h. Each line of the file is the command line of one program; # begins a comment line; quotes and
 * backslashes work as in a shell. */
#include "api/mpiexec/configfile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

struct words {
    char **word;
    int count;
};

static bool config_add_word(struct words *w, char *word)
{
    char **grown = pl_realloc(w->word, (size_t)(w->count + 2) * sizeof *grown);
    if (!grown)
        return false;
    w->word = grown;
    w->word[w->count++] = word;
    w->word[w->count] = NULL;
    return true;
}

/* Unquotes the word at *at, in place, and moves *at past it. False: a quote is not closed. */
static bool config_unquote_word(char **at)
{
    char *from = *at, *to = *at, quote = '\0';
    for (; *from && (quote || !strchr(" \t\r", *from)); from++) {
        if (quote ? *from == quote : *from == '"' || *from == '\'')
            quote = quote ? '\0' : *from;
        else if (*from == '\\' && quote != '\'' && from[1])
            *to++ = *++from;
        else
            *to++ = *from;
    }
    *at = *from ? from + 1 : from;
    *to = '\0';
    return !quote;
}

static bool config_split_line(struct words *w, char *line)
{
    line += strspn(line, " \t\r");
    if (!*line || *line == '#')
        return true;
    if (w->count > 0 && !config_add_word(w, ":"))
        return false;
    while (*line) {
        char *word = line;
        if (!config_unquote_word(&line) || !config_add_word(w, word))
            return false;
        line += strspn(line, " \t\r");
    }
    return true;
}

char **config_split(char *text, int *count)
{
    struct words w = { pl_calloc(1, sizeof(char *)), 0 };
    char *rest = text, *line;
    bool good = w.word != NULL;
    while (good && (line = strsep(&rest, "\n")))
        good = config_split_line(&w, line);
    if (!good) {
        free(w.word);
        return NULL;
    }
    *count = w.count;
    return w.word;
}
