/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a job described by JSON. A mistake is reported with its place in the text: "programs[1].ranks". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/nearest.h"
#include "world/runtime/error.h"
#include "world/runtime/job/json.h"

/* --- mistakes ---------------------------------------------------------------------------------------------- */

static int job_json_refuse(const struct pl_job_place *at, const json_t *value, const char *wanted)
{
    char *shown = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    int err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description: \"%s\"%s%.60s%s: wanted is %s", at->path,
                         shown ? " is " : " is missing", shown ? shown : "", shown && strlen(shown) > 60 ? "..." : "",
                         wanted);
    free(shown);
    return err;
}

/* The explanation of a call, with the place in front of it. */
static int refuse_call(const struct pl_job_place *at, int err)
{
    char reason[700];
    snprintf(reason, sizeof reason, "%s", plenum_error());
    return pl_rt_fail((enum plenum_error)err, "job description: \"%s\": %s", at->path, reason);
}

static int refuse_key(const struct pl_job_place *at, const struct pl_job_key *keys, const char *name)
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
    return pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description: \"%s%s%.60s\" is unknown%s%s%s; known are %s", at->path,
                      at->path[0] ? "." : "", name, best ? "; did you mean \"" : "", best ? best : "",
                      best ? "\"?" : "", all);
}

/* --- reading ----------------------------------------------------------------------------------------------- */

static int apply_key(struct pl_job_place *at, const struct pl_job_key *key, json_t *value)
{
    struct pl_job_place here = *at;
    pl_job_place_enter(&here, "%s%s", at->path[0] ? "." : "", key->name);
    int err = key->apply(&here, value);
    return err == PL_JOB_REFUSED ? job_json_refuse(&here, value, key->wanted)
           : err                 ? refuse_call(&here, err)
                                 : PLENUM_OK;
}

/* Every key of the object that has a function. */
static int apply_keys(struct pl_job_place *at, const struct pl_job_key *keys, json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        const struct pl_job_key *key = pl_job_key_find(keys, name);
        int err = !key ? refuse_key(at, keys, name) : key->apply ? apply_key(at, key, value) : PLENUM_OK;
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int refuse_in(const struct pl_job_place *at, const char *key, json_t *value)
{
    struct pl_job_place here = *at;
    pl_job_place_enter(&here, "%s%s", at->path[0] ? "." : "", key);
    return job_json_refuse(&here, value, pl_job_key_find(pl_program_keys, key)->wanted);
}

/* argv and ranks: what makes a program. */
static int job_json_add_program(struct pl_job_place *at, json_t *object)
{
    json_t *list = json_object_get(object, "argv"), *ranks = json_object_get(object, "ranks"), *word;
    json_int_t count = ranks ? json_integer_value(ranks) : 1;
    size_t i;
    if (json_array_size(list) == 0)
        return refuse_in(at, "argv", list);
    if ((ranks && !json_is_integer(ranks)) || count < 1 || count > 65536)
        return refuse_in(at, "ranks", ranks);
    const char **argv = calloc(json_array_size(list) + 1, sizeof *argv);
    if (!argv)
        return pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the description of the job");
    json_array_foreach(list, i, word)
    {
        argv[i] = json_string_value(word);
        if (!argv[i] || !argv[0][0]) {
            free(argv);
            return refuse_in(at, "argv", list);
        }
    }
    int err = plenum_job_add_program(at->job, (int)count, argv, &at->program);
    free(argv);
    return err ? refuse_call(at, err) : PLENUM_OK;
}

/* wdir and path of the whole job are for programs that have none. */
static int apply_common(struct pl_job_place *at, json_t *root)
{
    static const char *const common[] = { "wdir", "path" };
    for (size_t i = 0; i < 2; i++) {
        json_t *value = json_object_get(root, common[i]);
        int err = value ? apply_key(at, pl_job_key_find(pl_program_keys, common[i]), value) : PLENUM_OK;
        if (err)
            return err;
    }
    return PLENUM_OK;
}

static int job_json_add_programs(struct pl_job_place *at, json_t *root)
{
    json_t *list = json_object_get(root, "programs"), *object;
    size_t i;
    if (!list)
        return job_json_add_program(at, root);
    strcpy(at->path, "programs");
    if (json_array_size(list) == 0)
        return job_json_refuse(at, list, pl_job_key_find(pl_job_keys, "programs")->wanted);
    for (const char *const *own = (const char *const[]){ "argv", "ranks", NULL }; *own; own++)
        if (json_object_get(root, *own))
            return pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description: \"%s\" belongs into \"programs\"", *own);
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

static int read_job(struct plenum_job *job, json_t *root)
{
    struct pl_job_place at = { .job = job, .program = PLENUM_ALL }, top = at;
    int err = job_json_add_programs(&at, root);
    if (!err)
        err = apply_common(&top, root);
    json_t *list = json_object_get(root, "programs");
    for (size_t i = 0; !err && i < json_array_size(list); i++) {
        at.program = (int)i;
        snprintf(at.path, sizeof at.path, "programs[%zu]", i);
        err = apply_keys(&at, pl_program_keys, json_array_get(list, i));
    }
    return err ? err : apply_keys(&top, pl_job_keys, root);
}

int plenum_job_create_json(struct plenum_runtime *rt, const char *text, struct plenum_job **out)
{
    json_error_t where;
    struct plenum_job *job = NULL;
    if (!text || !out)
        return pl_rt_fail_null(text ? "place for a job" : "description");
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description, line %d, column %d: %s", where.line, where.column,
                          where.text);
    int err = plenum_job_create(rt, &job);
    if (!err && !json_is_object(root))
        err = pl_rt_fail(PLENUM_ERR_ARGUMENT, "job description: wanted is one JSON object");
    if (!err)
        err = read_job(job, root);
    json_decref(root);
    if (err) {
        plenum_job_close(job);
        return err;
    }
    *out = job;
    return PLENUM_OK;
}
