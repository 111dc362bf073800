/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a job described by JSON. An error names the position in the description: "programs[1].ranks". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/nearest.h"
#include "world/runtime/job/json_keys.h"
#include "world/runtime/runtime_error.h"

/* --- errors ------------------------------------------------------------------------------------------------ */

static int job_json_refuse(const struct pl_job_cursor *at, const json_t *value, const char *allowed)
{
    char *shown = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    int err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description: \"%s\"%s%.60s%s: it must be %s", at->path,
                         shown ? " is " : " is missing", shown ? shown : "", shown && strlen(shown) > 60 ? "..." : "",
                         allowed);
    free(shown);
    return err;
}

/* The error of a call, preceded by the position. */
static int job_json_refuse_call(const struct pl_job_cursor *at, int err)
{
    char reason[700];
    snprintf(reason, sizeof reason, "%s", plenum_error());
    return pl_rt_fail((enum plenum_error)err, "job description: \"%s\": %s", at->path, reason);
}

static int job_json_refuse_key(const struct pl_job_cursor *at, const struct pl_job_key *keys, const char *name)
{
    const char *best = NULL;
    char all[300] = "";
    int nearest = pl_nearest_limit(name);
    for (const struct pl_job_key *k = keys; k->name; k++) {
        int d = pl_nearest_distance(name, k->name);
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", k->name);
        if (d < nearest)
            nearest = d, best = k->name;
    }
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description: \"%s%s%.60s\" is unknown%s%s%s; known keys: %s", at->path,
                      at->path[0] ? "." : "", name, best ? "; did you mean \"" : "", best ? best : "",
                      best ? "\"?" : "", all);
}

/* --- reading ----------------------------------------------------------------------------------------------- */

static int job_json_apply_key(struct pl_job_cursor *at, const struct pl_job_key *key, json_t *value)
{
    struct pl_job_cursor here = *at;
    pl_job_cursor_enter(&here, "%s%s", at->path[0] ? "." : "", key->name);
    int err = key->apply(&here, value);
    return err == PL_JOB_REFUSED ? job_json_refuse(&here, value, key->allowed)
           : err                 ? job_json_refuse_call(&here, err)
                                 : PLENUM_OK;
}

/* Applies every key of the object that has a function. */
static int job_json_apply_keys(struct pl_job_cursor *at, const struct pl_job_key *keys, json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        const struct pl_job_key *key = pl_job_key_find(keys, name);
        int err = !key         ? job_json_refuse_key(at, keys, name)
                  : key->apply ? job_json_apply_key(at, key, value)
                               : PLENUM_OK;
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int job_json_refuse_in(const struct pl_job_cursor *at, const char *key, json_t *value)
{
    struct pl_job_cursor here = *at;
    pl_job_cursor_enter(&here, "%s%s", at->path[0] ? "." : "", key);
    return job_json_refuse(&here, value, pl_job_key_find(pl_program_keys, key)->allowed);
}

/* Adds a program from its argv and ranks. */
static int job_json_add_program(struct pl_job_cursor *at, json_t *object)
{
    json_t *list = json_object_get(object, "argv"), *ranks = json_object_get(object, "ranks"), *word;
    json_int_t count = ranks ? json_integer_value(ranks) : 1;
    size_t i;
    if (json_array_size(list) == 0)
        return job_json_refuse_in(at, "argv", list);
    if ((ranks && !json_is_integer(ranks)) || count < 1 || count > 65536)
        return job_json_refuse_in(at, "ranks", ranks);
    const char **argv = pl_calloc(json_array_size(list) + 1, sizeof *argv);
    if (!argv)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the description of the job");
    json_array_foreach(list, i, word)
    {
        argv[i] = json_string_value(word);
        if (!argv[i] || !argv[0][0]) {
            free(argv);
            return job_json_refuse_in(at, "argv", list);
        }
    }
    int err = plenum_job_add_program(at->job, (int)count, argv, &at->program);
    free(argv);
    return err ? job_json_refuse_call(at, err) : PLENUM_OK;
}

/* wdir and path of the whole job apply to programs that have none. */
static int job_json_apply_common(struct pl_job_cursor *at, json_t *root)
{
    static const char *const common[] = { "wdir", "path" };
    for (size_t i = 0; i < 2; i++) {
        json_t *value = json_object_get(root, common[i]);
        int err = value ? job_json_apply_key(at, pl_job_key_find(pl_program_keys, common[i]), value) : PLENUM_OK;
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int job_json_add_programs(struct pl_job_cursor *at, json_t *root)
{
    json_t *list = json_object_get(root, "programs"), *object;
    size_t i;
    if (!list)
        return job_json_add_program(at, root);
    strcpy(at->path, "programs");
    if (json_array_size(list) == 0)
        return job_json_refuse(at, list, pl_job_key_find(pl_job_keys, "programs")->allowed);
    for (const char *const *own = (const char *const[]){ "argv", "ranks", NULL }; *own; own++)
        if (json_object_get(root, *own))
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description: \"%s\" belongs in \"programs\"", *own);
    for (i = 0; i < json_array_size(list); i++) {
        snprintf(at->path, sizeof at->path, "programs[%zu]", i);
        object = json_array_get(list, i);
        int err = json_is_object(object) ? job_json_add_program(at, object)
                                         : job_json_refuse(at, object, "an object with argv, ranks, env, wdir, path");
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int job_json_read(struct plenum_job *job, json_t *root)
{
    struct pl_job_cursor at = { .job = job, .program = PLENUM_ALL }, top = at;
    int err = job_json_add_programs(&at, root);
    if (!err)
        err = job_json_apply_common(&top, root);
    json_t *list = json_object_get(root, "programs");
    for (size_t i = 0; !err && i < json_array_size(list); i++) {
        at.program = (int)i;
        snprintf(at.path, sizeof at.path, "programs[%zu]", i);
        err = job_json_apply_keys(&at, pl_program_keys, json_array_get(list, i));
    }
    return err ? err : job_json_apply_keys(&top, pl_job_keys, root);
}

int plenum_job_create_json(struct plenum_runtime *rt, const char *text, struct plenum_job **out)
{
    json_error_t where;
    struct plenum_job *job = NULL;
    if (!text || !out)
        return pl_rt_fail_null(text ? "job pointer" : "description");
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description, line %d, column %d: %s", where.line, where.column,
                          where.text);
    int err = plenum_job_create(rt, &job);
    if (!err && !json_is_object(root))
        err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description: it must be one JSON object");
    if (!err)
        err = job_json_read(job, root);
    json_decref(root);
    if (err) {
        plenum_job_close(job);
        return err;
    }
    *out = job;
    return PLENUM_OK;
}
