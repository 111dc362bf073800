/* SPDX-License-Identifier: BSD-3-Clause */
/* See plugin_place.h. dladdr() knows a library by its path, but the program itself only by what argv[0] says. The
 * kernel knows the program's file. */
#include "core/object/plugin_place.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/memory.h"

/* --- the file ------------------------------------------------------------------------------------------------ */

/* Has it no interpreter, which is the dynamic loader? The kernel says where its headers are: dl_iterate_phdr() visits
 * only this code's namespace (dlmopen). */
static bool place_program_is_static(void)
{
    const ElfW(Phdr) *head = (const void *)getauxval(AT_PHDR);
    unsigned long count = getauxval(AT_PHNUM);
    for (unsigned long i = 0; head && i < count; i++)
        if (head[i].p_type == PT_INTERP)
            return false;
    return head != NULL;
}

const char *pl_plugin_own_library(void)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (place_program_is_static() ||
        !dladdr1((const void *)&pl_plugin_own_library, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return NULL;
    return map->l_name && map->l_name[0] ? info.dli_fname : NULL;
}

/* Without /proc, the name that the program was executed by. */
static bool place_program(char *path)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length > 0) {
        path[length] = '\0';
        return path[0] == '/';
    }
    const char *name = (const char *)getauxval(AT_EXECFN);
    return name && realpath(name, path);
}

bool pl_plugin_own_file(char *path)
{
    const char *library = pl_plugin_own_library();
    return library ? realpath(library, path) != NULL : place_program(path);
}

/* --- the directory ------------------------------------------------------------------------------------------- */

/* Writes "BASE/END" if that has plugins. Other directories and files may have the name, too. */
static bool place_try(const char *base, const char *end, char *path, size_t capacity)
{
    static const char *const plugins[] = { "ucx", "pmix", "hwloc" };
    char file[PATH_MAX];
    bool found = false;
    if (base[0] != '/' || (size_t)snprintf(path, capacity, "%s/%s", base, end) >= capacity)
        return false;
    for (size_t i = 0; !found && i < sizeof plugins / sizeof *plugins; i++)
        found =
            (size_t)snprintf(file, sizeof file, "%s/%s.so", path, plugins[i]) < sizeof file && access(file, F_OK) == 0;
    return found;
}

/* Searches the directories in which the dynamic loader searches for the libraries of the program, or of a library. */
static bool place_try_search_path(const char *library, char *path, size_t capacity)
{
    Dl_serinfo head, *list = NULL;
    void *program = dlopen(library, RTLD_LAZY | (library ? RTLD_NOLOAD : 0));
    bool found = false;
    if (program && dlinfo(program, RTLD_DI_SERINFOSIZE, &head) == 0)
        list = pl_malloc(head.dls_size);
    if (list) {
        *list = head;
        bool filled = dlinfo(program, RTLD_DI_SERINFOSIZE, list) == 0 && dlinfo(program, RTLD_DI_SERINFO, list) == 0;
        for (unsigned i = 0; filled && !found && i < list->dls_cnt; i++)
            found = place_try(list->dls_serpath[i].dls_name, "plenum", path, capacity);
    }
    free(list);
    if (program)
        dlclose(program);
    return found;
}

static int place_beside_program(char *file, char *path, size_t capacity)
{
    *strrchr(file, '/') = '\0';
    if (place_try(file, "plenum", path, capacity) || place_try(file, "../lib/plenum", path, capacity) ||
        place_try_search_path(NULL, path, capacity))
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER,
                   "this program contains Plenum's library, and there are no plugins in %.200s/plenum, "
                   "%.200s/../lib/plenum or beside its libraries: set PLENUM_PLUGIN_DIR",
                   file, file);
}

static int place_beside_library(char *file, char *path, size_t capacity)
{
    char *slash = strrchr(file, '/');
    *slash = '\0';
    if (place_try(file, "plenum", path, capacity) || place_try_search_path(pl_plugin_own_library(), path, capacity))
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER,
                   "%.300s/%.100s contains Plenum's library, and there are no plugins in %.200s/plenum or beside the "
                   "libraries in its rpath: set PLENUM_PLUGIN_DIR",
                   file, slash + 1, file);
}

static int place_configured(const char *configured, char *path, size_t capacity)
{
    if (configured[0] != '/')
        return pl_fail(MPI_ERR_OTHER, "PLENUM_PLUGIN_DIR is \"%s\": it must be an absolute path", configured);
    if ((size_t)snprintf(path, capacity, "%s", configured) >= capacity)
        return pl_fail(MPI_ERR_OTHER, "PLENUM_PLUGIN_DIR is longer than %zu bytes", capacity - 1);
    return MPI_SUCCESS;
}

int pl_plugin_directory(char *path, size_t capacity)
{
    char file[PATH_MAX];
    const char *configured = pl_config_text("plugin_dir");
    if (place_program_is_static())
        return pl_fail(MPI_ERR_OTHER, "this program is linked with a static libc, so it cannot load plugins, which are "
                                      "shared objects: link it without -static");
    if (configured && *configured)
        return place_configured(configured, path, capacity);
    if (!pl_plugin_own_file(file))
        return pl_fail(MPI_ERR_OTHER,
                       "cannot tell which file this library was loaded from, so plugins cannot be found");
    if (!pl_plugin_own_library())
        return place_beside_program(file, path, capacity);
    return place_beside_library(file, path, capacity);
}
