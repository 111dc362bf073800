/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets from a user's file (PLENUM_PSETS); docs/psets.md describes it. It is read when a session first needs it,
 * and is checked completely then: form, names, ranks, clashes, cycles. Sets of other providers and hosts are looked up
 * at each call.
 */
#include "plugins/psets/json_file.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/pset_name.h"
#include "plugins/psets/json_sets.h"

struct pl_psets_json_set *pl_psets_file_find(const struct pl_psets_file *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (pl_pset_name_same(file->set[i].name, name))
            return &file->set[i];
    return NULL;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

static int json_psets_check_name(const struct pl_psets_file *file, const char *where, const char *name)
{
    char shown[80];
    const char *wrong = pl_pset_name_check(name);
    if (wrong)
        return pl_json_fail(&file->json, MPI_ERR_ARG, where, "\"%s\" is not a process set name: it %s",
                            pl_pset_name_show(name, shown, sizeof shown), wrong);
    if (pl_psets_file_find(file, name))
        return pl_json_fail(&file->json, MPI_ERR_ARG, where,
                            "the file already has this set, as \"%.80s\"; scheme and authority are not case sensitive",
                            pl_psets_file_find(file, name)->name);
    const char *holder = file->host->holder(file->host, name);
    if (holder)
        return pl_json_fail(&file->json, MPI_ERR_ARG, where, "the name belongs to the provider %s", holder);
    return MPI_SUCCESS;
}

static int json_psets_check_info(const struct pl_psets_file *file, const char *where, json_t *texts)
{
    char place[PL_PSETS_WHERE];
    if (!json_is_object(texts))
        return pl_json_fail(&file->json, MPI_ERR_ARG, where, "info must be an object of strings");
    for (void *at = json_object_iter(texts); at; at = json_object_iter_next(texts, at)) {
        const char *key = json_object_iter_key(at), *value = json_string_value(json_object_iter_value(at));
        strcpy(place, where);
        pl_json_enter(place, sizeof place, key);
        if (!value || strlen(value) > MPI_MAX_INFO_VAL || strlen(key) > MPI_MAX_INFO_KEY || !*key)
            return pl_json_fail(&file->json, MPI_ERR_ARG, place,
                                "info must have strings of at most %d bytes, under keys of at most %d",
                                MPI_MAX_INFO_VAL, MPI_MAX_INFO_KEY);
        if (strncmp(key, "mpi_", 4) == 0 || strncmp(key, "plenum_", 7) == 0)
            return pl_json_fail(&file->json, MPI_ERR_ARG, place, "keys that begin with mpi_ or plenum_ are reserved");
    }
    return MPI_SUCCESS;
}

/* Adds one set; its expression is checked when all names are known. */
static int json_psets_add(struct pl_psets_file *file, const char *name, json_t *expression)
{
    char where[PL_PSETS_WHERE] = "";
    pl_json_enter(where, sizeof where, "psets");
    pl_json_enter(where, sizeof where, name);
    int rc = json_psets_check_name(file, where, name);
    json_t *texts = json_is_object(expression) ? json_object_get(expression, "info") : NULL;
    pl_json_enter(where, sizeof where, "info");
    if (rc == MPI_SUCCESS && texts)
        rc = json_psets_check_info(file, where, texts);
    if (rc == MPI_SUCCESS)
        file->set[file->count++] = (struct pl_psets_json_set){ name, expression, PL_PSETS_NEW };
    return rc;
}

static int json_psets_add_all(struct pl_psets_file *file)
{
    static const char *const allowed[] = { "psets", NULL };
    json_t *sets = json_object_get(file->json.root, "psets");
    int rc = pl_json_keys(&file->json, "", file->json.root, allowed);
    if (rc == MPI_SUCCESS && !json_is_object(sets))
        rc = pl_json_fail(&file->json, MPI_ERR_ARG, sets ? "psets" : "",
                          "\"psets\" must be an object: process set names and their members");
    if (rc)
        return rc;
    file->set = pl_malloc((json_object_size(sets) + 1) * sizeof *file->set);
    if (!file->set)
        return pl_fail_memory("the process sets of a file");
    for (void *at = json_object_iter(sets); rc == MPI_SUCCESS && at; at = json_object_iter_next(sets, at))
        rc = json_psets_add(file, json_object_iter_key(at), json_object_iter_value(at));
    for (size_t i = 0; rc == MPI_SUCCESS && i < file->count; i++)
        rc = pl_psets_file_check(file, &file->set[i]);
    return rc;
}

/* --- the provider ----------------------------------------------------------------------------------------------- */

static void json_psets_close(void *self)
{
    struct pl_psets_file *file = self;
    free(file->set);
    pl_json_close(&file->json);
    free(file);
}

static int json_psets_open(const struct plenum_pset_host *host, void **self)
{
    const char *path = pl_config_text("psets");
    struct pl_psets_file *file = pl_calloc(1, sizeof *file);
    if (!file)
        return pl_fail_memory("the process sets of a file");
    file->host = host;
    int rc = *path ? pl_json_open(path, &file->json) : MPI_SUCCESS;
    if (rc) {
        free(file);
        return rc;
    }
    rc = *path ? json_psets_add_all(file) : MPI_SUCCESS;
    if (rc)
        json_psets_close(file);
    else
        *self = file;
    return rc;
}

static int json_psets_list(void *self, plenum_pset_name_function *name, void *to)
{
    const struct pl_psets_file *file = self;
    int rc = MPI_SUCCESS;
    for (size_t i = 0; rc == MPI_SUCCESS && i < file->count; i++)
        rc = name(to, file->set[i].name, 0);
    return rc;
}

/* The version is 0 even if a set depends on one that may change: its members are the current ones. */
static int json_psets_members(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range,
                              void *to)
{
    const struct pl_psets_file *file = self;
    struct pl_psets_json_set *set = pl_psets_file_find(file, name);
    *version = 0;
    return set ? pl_psets_file_members(file, set, range, to) : PLENUM_PSET_NONE;
}

static int json_psets_properties(void *self, const char *name, plenum_pset_property_function *property, void *to)
{
    const struct pl_psets_file *file = self;
    struct pl_psets_json_set *set = pl_psets_file_find(file, name);
    json_t *texts = set && json_is_object(set->expression) ? json_object_get(set->expression, "info") : NULL;
    int rc = set ? MPI_SUCCESS : PLENUM_PSET_NONE;
    for (void *at = texts ? json_object_iter(texts) : NULL; rc == MPI_SUCCESS && at;
         at = json_object_iter_next(texts, at))
        rc = property(to, json_object_iter_key(at), json_string_value(json_object_iter_value(at)));
    return rc;
}

const struct plenum_pset_provider pl_psets_json = {
    .abi = PLENUM_PSET_ABI,
    .name = "json",
    .open = json_psets_open,
    .close = json_psets_close,
    .list = json_psets_list,
    .members = json_psets_members,
    .properties = json_psets_properties,
};
