/* SPDX-License-Identifier: BSD-3-Clause */
/* See vars.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/base/memory_libc.h"
#include "world/runtime/vars.h"

enum { SHORT = 64 /* a list without an index; an index has more than twice as many slots as names */ };

static bool vars_is(const struct pl_var *var, const char *name, size_t length)
{
    return strncmp(var->name, name, length) == 0 && !var->name[length];
}

/* The slot of this name, or the free one where it belongs. */
static size_t *vars_slot(const struct pl_vars *vars, const char *name, size_t length)
{
    size_t at = pl_hash_bytes(PL_HASH_BEGIN, name, length);
    size_t *slot = &vars->index[at & (vars->slots - 1)];
    while (*slot && !vars_is(&vars->var[*slot - 1], name, length))
        slot = &vars->index[++at & (vars->slots - 1)];
    return slot;
}

static void vars_drop_index(struct pl_vars *vars)
{
    free(vars->index);
    vars->index = NULL;
    vars->slots = 0;
}

/* Before a variable is added. Without memory the list has no index. */
static void vars_grow_index(struct pl_vars *vars)
{
    if (vars->count < SHORT || 2 * (vars->count + 1) < vars->slots)
        return;
    size_t slots = 8 * SHORT;
    while (slots < 4 * vars->count)
        slots *= 2;
    vars_drop_index(vars);
    vars->index = pl_calloc(slots, sizeof *vars->index);
    vars->slots = vars->index ? slots : 0;
    for (size_t i = 0; vars->index && i < vars->count; i++)
        *vars_slot(vars, vars->var[i].name, strlen(vars->var[i].name)) = i + 1;
}

static struct pl_var *vars_find(const struct pl_vars *vars, const char *name, size_t length)
{
    size_t *slot = vars->index ? vars_slot(vars, name, length) : NULL;
    if (slot)
        return *slot ? &vars->var[*slot - 1] : NULL;
    for (size_t i = 0; i < vars->count; i++)
        if (vars_is(&vars->var[i], name, length))
            return &vars->var[i];
    return NULL;
}

/* Steals `value`, which may be NULL, also when it fails. */
static bool vars_put(struct pl_vars *vars, const char *name, size_t length, char *value)
{
    struct pl_var *var = vars_find(vars, name, length);
    if (var) {
        free(var->value);
        var->value = value;
        return true;
    }
    char *own = pl_strndup(name, length);
    struct pl_var *grown = own ? pl_realloc(vars->var, (vars->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(own);
        free(value);
        return false;
    }
    vars->var = grown;
    vars_grow_index(vars);
    if (vars->index)
        *vars_slot(vars, name, length) = vars->count + 1;
    vars->var[vars->count++] = (struct pl_var){ own, value };
    return true;
}

bool pl_vars_set(struct pl_vars *vars, const char *name, const char *value)
{
    char *own = value ? pl_strdup(value) : NULL;
    return (own || !value) && vars_put(vars, name, strlen(name), own);
}

bool pl_vars_format(struct pl_vars *vars, const char *name, const char *format, ...)
{
    char *value;
    va_list args;
    va_start(args, format);
    int length = pl_vasprintf(&value, format, args);
    va_end(args);
    return length >= 0 && vars_put(vars, name, strlen(name), value);
}

bool pl_vars_apply(struct pl_vars *vars, const struct pl_vars *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (!pl_vars_set(vars, changes->var[i].name, changes->var[i].value))
            return false;
    return true;
}

bool pl_vars_import(struct pl_vars *vars, char *const *environment)
{
    for (; *environment; environment++) {
        const char *equal = strchr(*environment, '=');
        if (!equal)
            continue;
        char *value = pl_strdup(equal + 1);
        if (!value || !vars_put(vars, *environment, (size_t)(equal - *environment), value))
            return false;
    }
    return true;
}

const char *pl_vars_get(const struct pl_vars *vars, const char *name)
{
    const struct pl_var *var = vars_find(vars, name, strlen(name));
    return var ? var->value : NULL;
}

bool pl_vars_has(const struct pl_vars *vars, const char *name)
{
    return vars_find(vars, name, strlen(name)) != NULL;
}

void pl_vars_remove(struct pl_vars *vars, const char *name)
{
    struct pl_var *var = vars_find(vars, name, strlen(name));
    if (!var)
        return;
    free(var->name);
    free(var->value);
    *var = vars->var[--vars->count];
    vars_drop_index(vars);
}

void pl_vars_fini(struct pl_vars *vars)
{
    for (size_t i = 0; i < vars->count; i++) {
        free(vars->var[i].name);
        free(vars->var[i].value);
    }
    free(vars->var);
    free(vars->index);
    *vars = (struct pl_vars){ 0 };
}
