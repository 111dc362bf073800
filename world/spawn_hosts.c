/* SPDX-License-Identifier: BSD-3-Clause */
/* See spawn_hosts.h. Lists and files are those that mpiexec reads. */
#include "world/spawn_hosts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory_libc.h"
#include "core/object/info.h"

enum { SPAWN_SLOTS_MAX = 65536 };

/* What an info key says. */
struct spawn_list {
    const char *key, *value;
    bool spread;
    struct pl_writer out; /* the list so far */
};

static bool spawn_hosts_is_here(const char *name, size_t length)
{
    char own[HOST_NAME_MAX + 1] = "";
    gethostname(own, sizeof own - 1);
    return (strlen(own) == length && memcmp(own, name, length) == 0) ||
           (strlen("localhost") == length && memcmp("localhost", name, length) == 0);
}

/* "a" or "a:2"; the length of the name. */
static size_t spawn_hosts_name(const char *word, size_t length)
{
    const char *colon = memrchr(word, ':', length);
    bool numbered = colon && colon + 1 < word + length && colon + 1 + strspn(colon + 1, "0123456789") >= word + length;
    return numbered ? (size_t)(colon - word) : length;
}

static int spawn_hosts_fail_slots(const struct spawn_list *list, const char *name, size_t length)
{
    return pl_fail(MPI_ERR_INFO_VALUE, "info key %s is \"%.60s\": the number of slots of \"%.*s\" must be from 1 to %d",
                   list->key, list->value, length < 60 ? (int)length : 60, name, SPAWN_SLOTS_MAX);
}

/* `slots` 0: none are said. */
static int spawn_hosts_add(struct spawn_list *list, const char *name, size_t length, long slots)
{
    char number[24] = "";
    if (length == 0)
        return pl_fail(MPI_ERR_INFO_VALUE, "info key %s is \"%.60s\": the name of a host is empty", list->key,
                       list->value);
    if (!list->spread && !spawn_hosts_is_here(name, length))
        return pl_fail(MPI_ERR_SPAWN,
                       "info key %s names the host \"%.*s\": in a job that is not on hosts of mpiexec or of a runtime, "
                       "processes are spawned on this machine",
                       list->key, length < 60 ? (int)length : 60, name);
    if (slots)
        snprintf(number, sizeof number, ":%ld", slots);
    if (list->out.length)
        pl_write_raw(&list->out, ",", 1);
    pl_write_raw(&list->out, name, length);
    pl_write_raw(&list->out, number, strlen(number));
    return MPI_SUCCESS;
}

/* `slots` is what a file says behind the word; 0: nothing. */
static int spawn_hosts_add_word(struct spawn_list *list, const char *word, size_t length, long slots)
{
    size_t name = spawn_hosts_name(word, length);
    if (name < length) {
        slots = strtol(word + name + 1, NULL, 10);
        if (slots < 1 || slots > SPAWN_SLOTS_MAX)
            return spawn_hosts_fail_slots(list, word, name);
    }
    return spawn_hosts_add(list, word, name, slots);
}

static int spawn_hosts_add_list(struct spawn_list *list)
{
    int rc = MPI_SUCCESS;
    for (const char *at = list->value; rc == MPI_SUCCESS; at++) {
        size_t length = strcspn(at, ",");
        rc = spawn_hosts_add_word(list, at, length, 0);
        at += length;
        if (!*at)
            break;
    }
    return rc;
}

/* A line of a file: a name, perhaps with "slots=2", and what only other launchers read. */
static int spawn_hosts_add_line(struct spawn_list *list, const char *line)
{
    const char *word = line + strspn(line, " \t");
    size_t length = strcspn(word, " \t\r\n#");
    if (length == 0)
        return MPI_SUCCESS;
    const char *found = strstr(word + length, "slots=");
    while (found && found[-1] != ' ' && found[-1] != '\t') /* max_slots= */
        found = strstr(found + 1, "slots=");
    long slots = found ? strtol(found + strlen("slots="), NULL, 10) : 0;
    if (found && (slots < 1 || slots > SPAWN_SLOTS_MAX))
        return spawn_hosts_fail_slots(list, word, length);
    return spawn_hosts_add_word(list, word, length, slots);
}

static int spawn_hosts_add_file(struct spawn_list *list)
{
    char *line = NULL;
    size_t capacity = 0;
    int rc = MPI_SUCCESS;
    FILE *file = fopen(list->value, "re");
    if (!file)
        return pl_fail(MPI_ERR_SPAWN, "info key %s is \"%.200s\", which cannot be read: %s", list->key, list->value,
                       strerror(errno));
    while (rc == MPI_SUCCESS && pl_getline(&line, &capacity, file) >= 0)
        rc = spawn_hosts_add_line(list, line);
    if (rc == MPI_SUCCESS && ferror(file))
        rc = pl_fail(MPI_ERR_SPAWN, "info key %s is \"%.200s\", which cannot be read", list->key, list->value);
    else if (rc == MPI_SUCCESS && list->out.length == 0)
        rc = pl_fail(MPI_ERR_SPAWN, "info key %s is \"%.200s\": the file names no host", list->key, list->value);
    free(line);
    fclose(file);
    return rc;
}

/* One of the keys counts: host, else hosts, else hostfile. */
int pl_spawn_hosts(struct pl_info *info, bool spread, char **hosts)
{
    static const char *const keys[] = { "host", "hosts", "hostfile" };
    char *value = NULL;
    size_t k = 0;
    int rc = MPI_SUCCESS;
    *hosts = NULL;
    for (; k < sizeof keys / sizeof *keys && !value && rc == MPI_SUCCESS; k++)
        rc = pl_info_get(info, keys[k], &value);
    if (rc || !value)
        return rc;
    struct spawn_list list = { .key = keys[k - 1], .value = value, .spread = spread };
    list.out = pl_writer_growing(NULL, 0);
    rc = k == sizeof keys / sizeof *keys ? spawn_hosts_add_file(&list) : spawn_hosts_add_list(&list);
    pl_write_u8(&list.out, 0);
    if (rc == MPI_SUCCESS && spread && !(*hosts = pl_writer_take(&list.out, &(size_t){ 0 })))
        rc = pl_fail_memory("the hosts of processes to spawn");
    pl_writer_fini(&list.out);
    free(value);
    return rc;
}
