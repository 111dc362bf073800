/* SPDX-License-Identifier: BSD-3-Clause */
/* See parse.h. */
#include "api/mpiexec/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

bool parse_fail(struct parse *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->error, p->size, format, args);
    va_end(args);
    return false;
}

void *parse_append(void *array, int *count, size_t each)
{
    char *grown = pl_realloc(array, (size_t)(*count + 1) * each);
    if (!grown) {
        perror("mpiexec");
        exit(1);
    }
    memset(grown + (size_t)*count * each, 0, each);
    ++*count;
    return grown;
}

void *parse_keep(struct parse *p, void *memory)
{
    p->o->kept = parse_append(p->o->kept, &p->o->kept_count, sizeof *p->o->kept);
    return p->o->kept[p->o->kept_count - 1] = memory;
}

void parse_note(struct parse *p, char *text)
{
    p->o->note = parse_append(p->o->note, &p->o->notes, sizeof *p->o->note);
    p->o->note[p->o->notes - 1] = parse_keep(p, text);
}
