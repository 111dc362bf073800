/* SPDX-License-Identifier: BSD-3-Clause */
/* See spawn_json.h. Jansson's functions accept NULL for a value that could not be allocated, so only the end checks. */
#include "world/spawn_json.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/object/errhandler_registry.h"
#include "core/object/info.h"

static json_t *spawn_json_words(const struct pl_spawn_command *command)
{
    json_t *words = json_array();
    json_array_append_new(words, json_string(command->command));
    for (char **word = command->argv; word && *word; word++)
        json_array_append_new(words, json_string(*word));
    return words;
}

/* The working directory: the info key wdir, else that of this process. */
static int spawn_json_add_directory(struct pl_info *info, json_t *program)
{
    char own[PATH_MAX], *wanted;
    int rc = pl_info_get(info, "wdir", &wanted);
    const char *directory = wanted ? wanted : getcwd(own, sizeof own);
    if (directory)
        json_object_set_new(program, "wdir", json_string(directory));
    free(wanted);
    return rc;
}

/* The initial error handler, by the variable that `mpiexec -initial-errhandler` also sets. */
static int spawn_json_add_errhandler(struct pl_info *info, json_t *program)
{
    char *name;
    int rc = pl_info_get(info, "mpi_initial_errhandler", &name);
    if (name && !pl_named_valid(name))
        rc = pl_fail(MPI_ERR_INFO_VALUE, "info key mpi_initial_errhandler is \"%.60s\": it must be %s", name,
                     PL_NAMED_ALLOWED);
    else if (name)
        json_object_set_new(program, "env", json_pack("{s:s}", "PLENUM_INITIAL_ERRHANDLER", name));
    free(name);
    return rc;
}

static int spawn_json_program(const struct pl_spawn_command *command, json_t *program)
{
    char *path = NULL;
    int rc = spawn_json_add_directory(command->info, program);
    rc = rc ? rc : spawn_json_add_errhandler(command->info, program);
    rc = rc ? rc : pl_info_get(command->info, "path", &path);
    if (rc)
        return rc;
    json_object_set_new(program, "argv", spawn_json_words(command));
    json_object_set_new(program, "ranks", json_integer(command->number));
    if (path)
        json_object_set_new(program, "path", json_string(path));
    free(path);
    size_t words = 1;
    for (char **word = command->argv; word && *word; word++)
        words++;
    if (json_array_size(json_object_get(program, "argv")) != words)
        return pl_fail(MPI_ERR_SPAWN, "a word of the command \"%.100s\" is not UTF-8, or memory is short",
                       command->command);
    return MPI_SUCCESS;
}

int pl_spawn_json(const struct pl_spawn_command *commands, int count, char **text)
{
    json_t *root = json_object(), *programs = json_array();
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        json_t *program = json_object();
        rc = spawn_json_program(&commands[i], program);
        json_array_append_new(programs, program);
    }
    json_object_set_new(root, "programs", programs);
    *text = rc ? NULL : json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return rc ? rc : *text ? MPI_SUCCESS : pl_fail_memory("the description of processes to spawn");
}
