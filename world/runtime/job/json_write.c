/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a job's description as JSON, with the keys that json_keys.c reads. Jansson's functions accept NULL for a value
 * that could not be allocated, so only the end checks for memory. */
#include <stdio.h>
#include <stdlib.h>

#include "world/runtime/job.h"
#include "world/runtime/job/json_keys.h"

static json_t *job_json_write_env(const struct pl_vars *vars)
{
    json_t *object = json_object();
    for (size_t i = 0; i < vars->count; i++)
        json_object_set_new(object, vars->var[i].name,
                            vars->var[i].value ? json_string(vars->var[i].value) : json_null());
    return object;
}

static json_t *job_json_write_program(const struct pl_program *program)
{
    json_t *object = json_object(), *argv = json_array();
    for (char *const *word = program->argv; *word; word++)
        json_array_append_new(argv, json_string(*word));
    json_object_set_new(object, "argv", argv);
    json_object_set_new(object, "ranks", json_integer(program->ranks));
    if (program->env.count > 0)
        json_object_set_new(object, "env", job_json_write_env(&program->env));
    if (program->wdir)
        json_object_set_new(object, "wdir", json_string(program->wdir));
    if (program->path)
        json_object_set_new(object, "path", json_string(program->path));
    return object;
}

static json_t *job_json_write_psets(const struct plenum_job *job)
{
    json_t *object = json_object();
    for (int i = 0; i < job->desc.pset_count; i++) {
        const struct pl_pset *pset = &job->desc.psets[i];
        json_t *ranks = json_array();
        for (uint32_t r = 0; r < pset->count; r++)
            json_array_append_new(ranks, json_pack("[ii]", (int)pset->ranges[2 * r], (int)pset->ranges[2 * r + 1]));
        json_object_set_new(object, pset->name, ranks);
    }
    return object;
}

static json_t *job_json_write_option(long option, long value)
{
    const char *const *words = pl_job_option_words(option);
    if (words)
        return json_string(words[value]);
    if (pl_job_option_is_seconds(option))
        return value % 1000 ? json_real((double)value / 1000) : json_integer(value / 1000);
    return pl_job_option_is_flag(option) ? json_boolean(value) : json_integer(value);
}

/* The redirects to files: standard input of rank 0, output of all ranks. */
static void job_json_write_redirects(json_t *object, const struct plenum_job *job)
{
    static const char *const name[] = { "stdin", "stdout", "stderr" };
    for (int i = 0; i < job->desc.redirect_count; i++) {
        const struct pl_redirect *r = &job->desc.redirects[i];
        if (r->file && r->rank == (r->number == 0 ? 0 : PLENUM_ALL))
            json_object_set_new(object, name[r->number], json_string(r->file));
    }
}

static json_t *job_json_write_job(const struct plenum_job *job)
{
    json_t *object = json_object(), *programs = json_array();
    for (int i = 0; i < job->desc.program_count; i++)
        json_array_append_new(programs, job_json_write_program(&job->desc.programs[i]));
    json_object_set_new(object, "programs", programs);
    if (job->desc.env.count > 0)
        json_object_set_new(object, "env", job_json_write_env(&job->desc.env));
    if (job->desc.env_clear)
        json_object_set_new(object, "clear_env", json_true());
    job_json_write_redirects(object, job);
    if (job->desc.pset_count > 0)
        json_object_set_new(object, "psets", job_json_write_psets(job));
    for (const struct pl_job_key *key = pl_job_keys; key->name; key++)
        if (key->option && (job->desc.option[key->option] || key->option == PLENUM_JOB_GRACE))
            json_object_set_new(object, key->name, job_json_write_option(key->option, job->desc.option[key->option]));
    return object;
}

char *plenum_job_json(const struct plenum_job *job)
{
    pthread_mutex_lock(&job->runtime->lock);
    json_t *object = job_json_write_job(job);
    pthread_mutex_unlock(&job->runtime->lock);
    char *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
    json_decref(object);
    return text;
}
