/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a job's description as JSON, with the keys that json_keys.c reads. Jansson's functions accept NULL for a value
 * that could not be made. `*lost` is a text that JSON cannot hold, or that memory did not suffice for; only the end
 * checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/runtime/guard.h"
#include "world/runtime/job/json_keys.h"
#include "world/runtime/runtime_error.h"

static json_t *job_json_write_text(const char *text, const char **lost)
{
    json_t *value = json_string(text);
    if (!value)
        *lost = text;
    return value;
}

static json_t *job_json_write_env(const struct pl_vars *vars, const char **lost)
{
    json_t *object = json_object();
    for (size_t i = 0; i < vars->count; i++)
        if (json_object_set_new(object, vars->var[i].name,
                                vars->var[i].value ? job_json_write_text(vars->var[i].value, lost) : json_null()) != 0)
            *lost = *lost ? *lost : vars->var[i].name;
    return object;
}

static json_t *job_json_write_program(const struct pl_program *program, const char **lost)
{
    json_t *object = json_object(), *argv = json_array();
    for (char *const *word = program->argv; *word; word++)
        json_array_append_new(argv, job_json_write_text(*word, lost));
    json_object_set_new(object, "argv", argv);
    json_object_set_new(object, "ranks", json_integer(program->ranks));
    if (program->env.count > 0)
        json_object_set_new(object, "env", job_json_write_env(&program->env, lost));
    if (program->wdir)
        json_object_set_new(object, "wdir", job_json_write_text(program->wdir, lost));
    if (program->path)
        json_object_set_new(object, "path", job_json_write_text(program->path, lost));
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

static void job_json_write_resources(json_t *object, const struct plenum_job *job)
{
    json_t *each = json_object(), *shared = json_object();
    for (int i = 0; i < job->desc.request_count; i++) {
        const struct pl_request *request = &job->desc.request[i];
        if (request->each > 0)
            json_object_set_new(each, request->name, json_integer(request->each));
        if (request->shared > 0)
            json_object_set_new(shared, request->name, json_integer(request->shared));
    }
    if (json_object_size(each) > 0)
        json_object_set(object, "resources", each);
    if (json_object_size(shared) > 0)
        json_object_set(object, "shared_resources", shared);
    json_decref(each);
    json_decref(shared);
}

/* {"all": "0 1", "3": "2-4"} */
static void job_json_write_texts(json_t *object, const char *key, const char *all, const struct pl_rank_texts *texts)
{
    json_t *written = json_object();
    if (all)
        json_object_set_new(written, "all", json_string(all));
    for (int r = 0; r < texts->count; r++) {
        char name[16];
        snprintf(name, sizeof name, "%d", r);
        if (texts->text[r])
            json_object_set_new(written, name, json_string(texts->text[r]));
    }
    if (json_object_size(written) > 0)
        json_object_set(object, key, written);
    json_decref(written);
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

static const char *const redirect_keys[] = { "stdin", "stdout", "stderr" };

static json_t *job_json_write_file(const struct pl_redirect *r, const char **lost)
{
    return r->file ? job_json_write_text(r->file, lost) : json_null();
}

/* A redirect that a key of its own says: standard input of rank 0, output of all ranks. */
static bool job_json_is_plain(const struct pl_redirect *r)
{
    return r->rank == (r->number == 0 ? 0 : PLENUM_ALL);
}

/* Redirects to files and to /dev/null. Their order counts, so if one needs the list, all are in it. */
static void job_json_write_redirects(json_t *object, const struct plenum_job *job, const char **lost)
{
    json_t *list = json_array();
    bool plain = true;
    for (int i = 0; i < job->desc.redirect_count; i++)
        plain &= job_json_is_plain(&job->desc.redirects[i]);
    for (int i = 0; i < job->desc.redirect_count; i++) {
        const struct pl_redirect *r = &job->desc.redirects[i];
        if (!r->file && !r->null)
            continue;
        if (plain) {
            json_object_set_new(object, redirect_keys[r->number], job_json_write_file(r, lost));
            continue;
        }
        json_t *one = json_object();
        if (r->rank != PLENUM_ALL)
            json_object_set_new(one, "rank", json_integer(r->rank));
        json_object_set_new(one, "stream", json_string(redirect_keys[r->number]));
        json_object_set_new(one, "file", job_json_write_file(r, lost));
        json_array_append_new(list, one);
    }
    if (json_array_size(list) > 0)
        json_object_set(object, "redirects", list);
    json_decref(list);
}

static json_t *job_json_write_job(const struct plenum_job *job, const char **lost)
{
    json_t *object = json_object(), *programs = json_array();
    for (int i = 0; i < job->desc.program_count; i++)
        json_array_append_new(programs, job_json_write_program(&job->desc.programs[i], lost));
    json_object_set_new(object, "programs", programs);
    if (job->desc.env.count > 0)
        json_object_set_new(object, "env", job_json_write_env(&job->desc.env, lost));
    if (job->desc.env_clear)
        json_object_set_new(object, "clear_env", json_true());
    job_json_write_redirects(object, job, lost);
    if (job->desc.pset_count > 0)
        json_object_set_new(object, "psets", job_json_write_psets(job));
    job_json_write_texts(object, "cores", job->desc.cores_of_all, &job->desc.cores);
    job_json_write_texts(object, "hosts", NULL, &job->desc.host);
    job_json_write_resources(object, job);
    for (const struct pl_job_key *key = pl_job_keys; key->name; key++)
        if (key->option && job->desc.option[key->option] != pl_job_option_default(key->option))
            json_object_set_new(object, key->name, job_json_write_option(key->option, job->desc.option[key->option]));
    return object;
}

char *plenum_job_json(const struct plenum_job *job)
{
    const char *lost = NULL;
    char *text = NULL;
    if (pl_job_enter(job) != PLENUM_OK)
        return NULL;
    json_t *object = job_json_write_job(job, &lost);
    if (lost)
        pl_rt_fail(PLENUM_ERR_ARGUMENT, "the job cannot be described in JSON: \"%s\" is not UTF-8", lost);
    else
        text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
    pl_job_leave(job, PLENUM_OK);
    json_decref(object);
    if (!text && !lost)
        pl_rt_fail(PLENUM_ERR_MEMORY, "out of memory for the description of the job");
    return text;
}
