/* SPDX-License-Identifier: BSD-3-Clause */
/* See word.h. */
#include "api/mpiexec/word.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/visible.h"

static bool word_is_control(char letter)
{
    return ((unsigned char)letter < ' ' && letter != '\t' && letter != '\n') || letter == 127;
}

static bool word_has_control(const char *word)
{
    while (*word && !word_is_control(*word))
        word++;
    return *word;
}

static void word_print_escaped(const char *word, FILE *out)
{
    fputs("$'", out);
    for (; *word; word++)
        if (word_is_control(*word))
            fprintf(out, "\\%03o", (unsigned)(unsigned char)*word);
        else
            fprintf(out, *word == '\'' || *word == '\\' ? "\\%c" : "%c", *word);
    putc('\'', out);
}

void print_word(const char *word, FILE *out)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:%@")]) {
        fputs(word, out);
        return;
    }
    if (word_has_control(word)) {
        word_print_escaped(word, out);
        return;
    }
    putc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    putc('\'', out);
}

void print_line(const char *format, ...)
{
    char text[1400], line[1400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pl_visible(line, sizeof line, text);
    fprintf(stderr, "mpiexec: %s\n", line);
}
