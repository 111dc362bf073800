/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding, checking and loading of plugins. The interface is in plugin.h.
 *
 * Invariant: a slot with users has a handle. `plugins` is protected by `lock`, a leaf.
 */
#include "core/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config.h"
#include "core/error.h"
#include "core/lock.h"

enum { PLUGINS_MAX = 8, SIGNALS = 32 };

static struct plugin {
    char name[32];
    void *handle;
    int users;
} plugins[PLUGINS_MAX];

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);

/* The slot of a plugin, or the free one where it goes. NULL: the table is full. */
static struct plugin *slot_of(const char *name)
{
    for (int i = 0; i < PLUGINS_MAX; i++)
        if (!plugins[i].name[0] || strcmp(plugins[i].name, name) == 0)
            return &plugins[i];
    return NULL;
}

/* The directory of plugins: configured, or "plenum" beside the file that this function's code was loaded from. */
static int plugin_directory(char *path, size_t room)
{
    const char *configured = pl_config_text("plugin_dir");
    if (configured && *configured) {
        if (configured[0] != '/')
            return pl_fail(MPI_ERR_OTHER, "PLENUM_PLUGIN_DIR is \"%s\": it must be an absolute path", configured);
        if ((size_t)snprintf(path, room, "%s", configured) >= room)
            return pl_fail(MPI_ERR_OTHER, "PLENUM_PLUGIN_DIR is longer than %zu bytes", room - 1);
        return MPI_SUCCESS;
    }

    Dl_info self;
    char file[PATH_MAX];
    if (!dladdr((void *)&plugins, &self) || !self.dli_fname || !realpath(self.dli_fname, file))
        return pl_fail(PL_UNREACHABLE, "cannot tell which file this library was loaded from, so plugins are not found");
    *strrchr(file, '/') = '\0';
    if ((size_t)snprintf(path, room, "%s/plenum", file) >= room)
        return pl_fail(PL_UNREACHABLE, "the path of the library is longer than %zu bytes", room - 1);
    return MPI_SUCCESS;
}

/*
 * Only root, this user, or whoever owns the library itself may have put the file there: they could run code in this
 * process anyway. The directories above are those of the library, which is loaded already: to check them adds nothing.
 */
static int check_owner(const char *path)
{
    Dl_info self;
    struct stat library, file;
    if (stat(path, &file) != 0)
        return pl_fail_errno(errno == ENOENT ? PL_UNREACHABLE : MPI_ERR_OTHER, "cannot use plugin %s", path);
    if (file.st_mode & S_IWOTH)
        return pl_fail(MPI_ERR_OTHER, "plugin not loaded: everybody may write %s (mode %04o)", path,
                       (unsigned)(file.st_mode & 07777));
    if (file.st_uid == 0 || file.st_uid == geteuid())
        return MPI_SUCCESS;
    if (dladdr((void *)&plugins, &self) && self.dli_fname && stat(self.dli_fname, &library) == 0 &&
        library.st_uid == file.st_uid)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER, "plugin not loaded: %s belongs to user %u, who is neither root nor you", path,
                   (unsigned)file.st_uid);
}

/*
 * dlopen() that leaves the process's signal handlers alone. Libraries that a plugin needs may install some when they
 * are loaded (libucs: SEGV, BUS, FPE, ILL and HUP); a guest in somebody's process must not.
 *
 * They stay mapped for good (RTLD_NODELETE): libucs has a thread, thread-specific data and exit handlers whose code must
 * not go away, libpmix the same, and loading them again after a real unload leaks. An idle mapping costs address space only.
 */
static void *load_quietly(const char *path)
{
    struct sigaction before[SIGNALS], after;
    for (int n = 1; n < SIGNALS; n++)
        sigaction(n, NULL, &before[n]);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    for (int n = 1; n < SIGNALS; n++)
        if (sigaction(n, NULL, &after) == 0 && after.sa_handler != before[n].sa_handler)
            sigaction(n, &before[n], NULL);
    return handle;
}

static int load(const char *name, void **handle)
{
    char directory[PATH_MAX], path[PATH_MAX];
    int err = plugin_directory(directory, sizeof directory);
    if (err)
        return err;
    if ((size_t)snprintf(path, sizeof path, "%s/%s.so", directory, name) >= sizeof path)
        return pl_fail(PL_UNREACHABLE, "the path of plugin %s is longer than %zu bytes", name, sizeof path - 1);
    if ((err = check_owner(directory)) || (err = check_owner(path)))
        return err;
    *handle = load_quietly(path);
    if (!*handle)
        return pl_fail(PL_UNREACHABLE, "cannot load plugin %s: %s", name, dlerror());
    pl_log("plugin", 2, "loaded %s", path);
    return MPI_SUCCESS;
}

/* The struct behind the symbol, when it is of the ABI that is asked for. */
static int resolve(const char *name, void *handle, const char *symbol, uint32_t abi, const void **ops)
{
    const uint32_t *found = dlsym(handle, symbol);
    if (!found)
        return pl_fail(MPI_ERR_OTHER, "plugin %s does not export %s", name, symbol);
    if (*found != abi)
        return pl_fail(MPI_ERR_OTHER, "plugin %s has ABI %u, this library needs %u: they are of different versions", name,
                       (unsigned)*found, (unsigned)abi);
    *ops = found;
    return MPI_SUCCESS;
}

int pl_plugin_open(const char *name, const char *symbol, uint32_t abi, const void **ops)
{
    int err = MPI_SUCCESS;
    pl_lock_take(&lock);
    struct plugin *plugin = slot_of(name);
    if (!plugin || strlen(name) >= sizeof plugin->name) {
        err = pl_fail(MPI_ERR_OTHER, "no room for plugin %s: at most %d can be loaded", name, PLUGINS_MAX);
        goto unlock;
    }
    void *handle = plugin->handle;
    if (!handle && (err = load(name, &handle)))
        goto unlock;
    err = resolve(name, handle, symbol, abi, ops);
    if (err && !plugin->users) {
        dlclose(handle);
        goto unlock;
    }
    if (!err) {
        snprintf(plugin->name, sizeof plugin->name, "%s", name);
        plugin->handle = handle;
        plugin->users++;
    }
unlock:
    pl_lock_drop(&lock);
    return err;
}

void pl_plugin_close(const char *name)
{
    pl_lock_take(&lock);
    struct plugin *plugin = slot_of(name);
    assert(plugin && plugin->users > 0);
    if (--plugin->users == 0) {
        dlclose(plugin->handle);
        plugin->handle = NULL;
    }
    pl_lock_drop(&lock);
}

int pl_plugin_users(const char *name)
{
    pl_lock_take(&lock);
    struct plugin *plugin = slot_of(name);
    int users = plugin ? plugin->users : 0;
    pl_lock_drop(&lock);
    return users;
}
