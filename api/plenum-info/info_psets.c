/* SPDX-License-Identifier: BSD-3-Clause */
/* plenum-info psets: the process sets of the job that this process is in, with provider, version, size and members. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/plenum-info/info.h"
#include "core/base/error.h"
#include "core/base/memory_libc.h"
#include "core/job/process.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "sessions/psets/psets.h"
#include "sessions/session.h"

static json_t *info_psets_failure(const char *name)
{
    return json_pack("{ss ss}", "name", name, "error", pl_error_detail(NULL));
}

/* "0-3,7" in the order of the members. */
static json_t *info_psets_members(const struct pl_group *group)
{
    char *text = NULL;
    FILE *out = pl_text_open(&text);
    for (int i = 0, last; out && i < group->size; i = last + 1) {
        int first = PL_PROC_RANK(pl_group_proc(group, i));
        for (last = i; last + 1 < group->size && PL_PROC_RANK(pl_group_proc(group, last + 1)) == first + last + 1 - i;
             last++)
            ;
        fprintf(out, last == i ? "%s%d" : "%s%d-%d", i ? "," : "", first, first + last - i);
    }
    json_t *members = out && fclose(out) == 0 ? json_string(text) : NULL;
    free(text);
    return members;
}

/* Adds the keys of the info: Plenum's keys under short names, the others under "info". */
static void info_psets_add_info(json_t *object, struct pl_info *info)
{
    char key[MPI_MAX_INFO_KEY];
    json_t *others = json_object();
    for (int n = 0; pl_info_nth(info, n, key); n++) {
        char *value;
        pl_info_get(info, key, &value);
        if (value && strcmp(key, "plenum_provider") == 0)
            json_object_set_new(object, "provider", json_string(value));
        else if (value && strcmp(key, "plenum_version") == 0)
            json_object_set_new(object, "version", json_integer(strtoll(value, NULL, 10)));
        else if (value && strcmp(key, "mpi_size") == 0)
            json_object_set_new(object, "size", json_integer(strtoll(value, NULL, 10)));
        else if (value)
            json_object_set_new(others, key, json_string(value));
        free(value);
    }
    if (json_object_size(others) > 0)
        json_object_set(object, "info", others);
    json_decref(others);
}

static json_t *info_psets_describe(struct pl_instance *session, const char *name)
{
    struct pl_info *info;
    struct pl_group *group;
    if (pl_psets_info(session, name, &info) != MPI_SUCCESS)
        return info_psets_failure(name);
    json_t *object = json_pack("{ss}", "name", name);
    info_psets_add_info(object, info);
    pl_handle_drop(info);
    if (pl_psets_group(session, name, &group) != MPI_SUCCESS) {
        json_decref(object);
        return info_psets_failure(name);
    }
    json_object_set_new(object, "members", info_psets_members(group));
    pl_handle_drop(group);
    return object;
}

static const char *info_psets_text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void info_psets_print_text(json_t *sets)
{
    int widest = 4;
    size_t i;
    json_t *set;
    json_array_foreach(sets, i, set)
    {
        int width = (int)strlen(info_psets_text_of(set, "name"));
        widest = width > widest && width < 60 ? width : widest;
    }
    printf("job %s of %d %s, asked in rank %d\n\n%-*s  %-10s %7s %6s  %s\n", pl_process.identity.nspace,
           pl_process.identity.size, pl_process.identity.size == 1 ? "process" : "processes", pl_process.identity.rank,
           widest, "name", "provider", "version", "size", "members");
    json_array_foreach(sets, i, set)
    {
        if (json_object_get(set, "error"))
            printf("%-*s  %s\n", widest, info_psets_text_of(set, "name"), info_psets_text_of(set, "error"));
        else
            printf("%-*s  %-10s %7lld %6lld  %s\n", widest, info_psets_text_of(set, "name"),
                   info_psets_text_of(set, "provider"), (long long)json_integer_value(json_object_get(set, "version")),
                   (long long)json_integer_value(json_object_get(set, "size")), info_psets_text_of(set, "members"));
    }
}

static void info_psets_describe_all(json_t *to, json_t *sets)
{
    json_object_set_new(to, "job", json_string(pl_process.identity.nspace));
    json_object_set_new(to, "size", json_integer(pl_process.identity.size));
    json_object_set_new(to, "rank", json_integer(pl_process.identity.rank));
    json_object_set(to, "psets", sets);
}

/* Collects all sets. A set that cannot be read has a key "error". */
static int info_psets_collect(struct pl_instance *session, json_t *sets, bool *all_good)
{
    int count = 0;
    const char *name;
    int err = pl_psets_count(session, &count);
    for (int n = 0; !err && n < count; n++) {
        err = pl_psets_name(session, n, &name);
        json_t *set = err ? NULL : info_psets_describe(session, name);
        *all_good &= !json_object_get(set, "error");
        json_array_append_new(sets, set);
    }
    return err;
}

int info_psets(json_t *to)
{
    struct pl_instance *session;
    bool all_good = true;
    if (pl_session_open(NULL, NULL, &session) != MPI_SUCCESS) {
        fprintf(stderr, "plenum-info: %s\n", pl_error_detail(NULL));
        return EXIT_FAILURE;
    }
    json_t *sets = json_array();
    int err = info_psets_collect(session, sets, &all_good);
    if (err)
        fprintf(stderr, "plenum-info: %s\n", pl_error_detail(NULL));
    else if (to)
        info_psets_describe_all(to, sets);
    else
        info_psets_print_text(sets);
    json_decref(sets);
    pl_session_close(session);
    return err || !all_good ? EXIT_FAILURE : EXIT_SUCCESS;
}
