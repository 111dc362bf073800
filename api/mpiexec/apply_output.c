/* SPDX-License-Identifier: BSD-3-Clause */
/* The options about output; see apply.h. */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/mpiexec/apply.h"
#include "core/base/memory.h"
#include "core/base/memory_libc.h"

/* The name without the words that Open MPI has behind its last colon: there is one directory, and no copy on
 * mpiexec's own output. */
static const char *apply_without_words(struct parse *p, const char *name)
{
    const char *colon = strrchr(name, ':');
    for (const char *at = colon; at && *at; at += strcspn(at, ",")) {
        size_t length = strcspn(++at, ",");
        if (!(length == 6 && strncasecmp(at, "nocopy", 6) == 0) && !(length == 7 && strncasecmp(at, "nojobid", 7) == 0))
            return name;
    }
    return colon ? parse_keep(p, pl_strndup(name, (size_t)(colon - name))) : name;
}

bool apply_output(struct parse *p, char *const *arg)
{
    const char *name = apply_without_words(p, arg[0]);
    if (!name || !name[0])
        return parse_fail(p, "%s expects the name of a directory, or of a file with %%r in it", p->name);
    p->o->output = name;
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

/* The words of --display. */
static bool apply_display_key(struct parse *p, const char *key, size_t length)
{
    static const char *const quiet[] = { "allocation", "topo", "cpus", NULL };
    size_t brief = strcspn(key, ":,=");
    char *note;
    if (brief >= 3 && strncasecmp(key, "map-devel", brief) == 0)
        return p->o->display_map = true;
    if (brief >= 4 && strncasecmp(key, "bindings", brief) == 0)
        return p->o->report_bindings = true;
    for (int i = 0; quiet[i]; i++)
        if (brief >= 3 && strncasecmp(key, quiet[i], brief) == 0) {
            if (pl_asprintf(&note,
                            "%s %.*s has no effect: --host says what is allocated, lstopo and lscpu what a "
                            "machine has",
                            p->name, (int)length, key) < 0)
                return parse_fail(p, "out of memory");
            parse_note(p, note);
            return true;
        }
    return parse_fail(p, "%s expects map or bindings, not \"%.*s\"", p->name, (int)length, key);
}

bool apply_display(struct parse *p, char *const *arg)
{
    const char *at = arg[0];
    do {
        size_t length = strcspn(at, ",");
        if (!apply_display_key(p, at, length))
            return false;
        at += length + (at[length] == ',');
    } while (*at);
    return true;
}

/* Open MPI's file=NAME gives each rank a file NAME.RANK. */
static bool apply_output_key(struct parse *p, const char *key)
{
    char *file;
    const char *value = strchr(key, '=') ? strchr(key, '=') + 1 : "";
    static const char *const tags[] = { "tag", "rank", "tag-detailed", "tag-fullname", NULL };
    static const char *const times[] = { "timestamp", NULL };
    value = apply_without_words(p, value);
    if (apply_word(key, tags) >= 0)
        p->o->tag = true;
    else if (apply_word(key, times) >= 0)
        p->o->timestamp = true;
    else if (*value && (strncasecmp(key, "directory=", 10) == 0 || strncasecmp(key, "dir=", 4) == 0))
        p->o->output = value;
    else if (*value && strncasecmp(key, "file=", 5) == 0 && pl_asprintf(&file, "%s.%%r", value) >= 0)
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
