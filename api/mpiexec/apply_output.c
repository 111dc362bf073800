/* SPDX-License-Identifier: BSD-3-Clause */
/* The options about output; see apply.h. */
#include <string.h>
#include <unistd.h>

#include "api/mpiexec/apply.h"
#include "core/base/memory.h"
#include "core/base/memory_libc.h"

bool apply_output(struct parse *p, char *const *arg)
{
    if (!arg[0][0])
        return parse_fail(p, "%s expects the name of a directory, or of a file with %%r in it", p->name);
    p->o->output = arg[0];
    return true;
}

/* MPICH's patterns know the machine (%h), and the numbers of the group and of the proxy (%g, %p), of which there is one
 * here. The other percent signs stay. */
static const char *apply_expand(struct parse *p, const char *pattern)
{
    char machine[256] = "";
    size_t used = 0;
    gethostname(machine, sizeof machine - 1);
    char *text = parse_keep(p, pl_malloc(strlen(pattern) * sizeof machine + 1));
    for (const char *at = pattern; text && *at; at++) {
        const char *put = *at != '%' ? NULL : at[1] == 'h' ? machine : at[1] == 'g' || at[1] == 'p' ? "0" : NULL;
        p->o->machine_named |= put == machine;
        if (put)
            used += (size_t)sprintf(text + used, "%s", put);
        else
            text[used++] = *at;
        if (*at == '%' && (put || at[1])) {
            if (!put)
                text[used++] = at[1];
            at++;
        }
    }
    if (text)
        text[used] = '\0';
    return text ? text : pattern;
}

bool apply_prefix(struct parse *p, char *const *arg)
{
    p->o->prefix = apply_expand(p, arg[0]);
    return true;
}

bool apply_out_pattern(struct parse *p, char *const *arg)
{
    p->o->out_pattern = apply_expand(p, arg[0]);
    return true;
}

bool apply_err_pattern(struct parse *p, char *const *arg)
{
    p->o->err_pattern = apply_expand(p, arg[0]);
    return true;
}

/* Open MPI's file=NAME gives each rank a file NAME.RANK. */
static bool apply_output_key(struct parse *p, const char *key)
{
    char *file;
    const char *value = strchr(key, '=') ? strchr(key, '=') + 1 : "";
    if (strcmp(key, "tag") == 0 || strcmp(key, "rank") == 0)
        p->o->tag = true;
    else if (strcmp(key, "timestamp") == 0)
        p->o->timestamp = true;
    else if (*value && (strncmp(key, "directory=", 10) == 0 || strncmp(key, "dir=", 4) == 0))
        p->o->output = value;
    else if (*value && strncmp(key, "file=", 5) == 0 && pl_asprintf(&file, "%s.%%r", value) >= 0)
        p->o->output = parse_keep(p, file);
    else
        return parse_fail(p, "%s expects tag, rank, timestamp, directory=DIR or file=FILE, not \"%s\"", p->name, key);
    return true;
}

bool apply_output_keys(struct parse *p, char *const *arg)
{
    for (const char *at = arg[0]; *at;) {
        size_t length = strcspn(at, ",");
        const char *key = parse_keep(p, pl_strndup(at, length));
        if (!key || !apply_output_key(p, key))
            return false;
        at += length + (at[length] == ',');
    }
    return true;
}
