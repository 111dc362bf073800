/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plugins are found, checked and loaded. See plugin.h.
 *
 * dlopen() itself counts and serializes, so that no state is needed. `lock` only keeps two threads from saving and
 * restoring signal handlers at the same time.
 */
#include "core/object/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/memory_plugin.h"
#include "core/base/plain_locale.h"
#include "core/comm/topology_hw.h"
#include "core/engine/transport.h"
#include "core/job/process.h"
#include "core/object/errhandler_registry.h"
#include "core/object/plugin_place.h"
#include "plenum-pset.h"

static struct pl_lock lock = PL_LOCK_INIT(PL_RANK_LEAF);

/*
 * The kinds of plugins, and the version of each that this library accepts. Some load a library that obeys variables of
 * its own, up to loading code that they name: UCX_MODULE_DIR, PMIX_MCA_*, HWLOC_PLUGINS_PATH. A program with more
 * rights than its user does not load these.
 */
static const struct plugin_kind {
    const char *symbol;
    uint32_t abi;
    bool obeys_environment;
} kinds[] = {
    { PL_TRANSPORT_SYMBOL, PL_TRANSPORT_ABI, true },
    { PL_BOOTSTRAP_SYMBOL, PL_BOOTSTRAP_ABI, true },
    { PL_TOPOLOGY_SYMBOL, PL_TOPOLOGY_ABI, true },
    { PLENUM_PSET_SYMBOL, PLENUM_PSET_ABI, false },
    { PLENUM_ERRHANDLER_SYMBOL, PLENUM_ERRHANDLER_ABI, false },
};

static const struct plugin_kind *plugin_kind_of(const char *symbol)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].symbol, symbol) == 0)
            return &kinds[i];
    return NULL;
}

/*
 * A plugin must belong to root, to this user, or to the owner of the library: these could run code in this process
 * anyway. The parent directories are those of the library, which is loaded already; checking them would add nothing.
 */
static int check_owner(const char *path)
{
    struct stat file, library;
    char own[PATH_MAX];
    if (stat(path, &file) != 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot use plugin %s", path);
    if (file.st_mode & S_IWOTH)
        return pl_fail(MPI_ERR_OTHER, "plugin not loaded: all users may write to %s (mode %04o)", path,
                       (unsigned)(file.st_mode & 07777));
    if (file.st_uid == 0 || file.st_uid == geteuid())
        return MPI_SUCCESS;
    if (pl_plugin_own_file(own) && stat(own, &library) == 0 && library.st_uid == file.st_uid)
        return MPI_SUCCESS;
    return pl_fail(MPI_ERR_OTHER,
                   "plugin not loaded: %s belongs to user %u, which is neither root nor this process's user", path,
                   (unsigned)file.st_uid);
}

/*
 * dlopen() that keeps the process's signal handlers. Libraries that a plugin needs may install some when they are
 * loaded (libucs: SEGV, BUS, FPE, ILL and HUP); a library must not change those of its program.
 *
 * A plugin stays mapped for good (RTLD_NODELETE): libucs has a thread, thread-specific data and exit handlers whose
 * code must not be unmapped, and other libraries may have such too. An idle mapping costs only address space.
 */
static void *load_quietly(const char *path)
{
    enum { SIGNALS = 32 };
    struct sigaction before[SIGNALS], after;
    for (int n = 1; n < SIGNALS; n++)
        sigaction(n, NULL, &before[n]);
    struct pl_plain_locale locale = pl_plain_locale_enter(); /* libucs reads its settings while it is loaded */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    pl_plain_locale_leave(&locale);
    for (int n = 1; n < SIGNALS; n++)
        if (sigaction(n, NULL, &after) == 0 && after.sa_handler != before[n].sa_handler)
            sigaction(n, &before[n], NULL);
    return handle;
}

/*
 * Does the file have all bytes that its program headers announce? The dynamic loader maps and touches them: a truncated
 * copy would end the process with a bus error.
 */
static bool is_whole(int fd)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    struct stat file;
    if (fstat(fd, &file) != 0 || pread(fd, &head, sizeof head, 0) != sizeof head)
        return false;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof part || head.e_phnum == 0)
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        if (pread(fd, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) != sizeof part)
            return false;
        if (part.p_filesz > (size_t)file.st_size || part.p_offset > (size_t)file.st_size - part.p_filesz)
            return false;
    }
    return true;
}

static int check_whole(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0)
        return pl_fail_errno(MPI_ERR_OTHER, "cannot read plugin %s", path);
    bool whole = is_whole(fd);
    close(fd);
    return whole ? MPI_SUCCESS : pl_fail(MPI_ERR_OTHER, "plugin not loaded: %s is damaged or no shared object", path);
}

void pl_plugin_stay_loaded(void)
{
    const char *own = pl_plugin_own_library();
    void *handle = own ? dlopen(own, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : NULL;
    if (handle)
        dlclose(handle);
}

/* Was the library that contains this code loaded by dlmopen()? */
static bool is_in_namespace(void)
{
    const char *own = pl_plugin_own_library();
    void *handle = own ? dlopen(own, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    Lmid_t namespace = LM_ID_BASE;
    if (handle) {
        dlinfo(handle, RTLD_DI_LMID, &namespace);
        dlclose(handle);
    }
    return namespace != LM_ID_BASE;
}

/* The path of a plugin's file, if it may be loaded. */
static int find_file(const char *name, char *path, size_t capacity)
{
    char directory[PATH_MAX];
    int err = pl_plugin_directory(directory, sizeof directory);
    if (err)
        return err;
    if ((size_t)snprintf(path, capacity, "%s/%s.so", directory, name) >= capacity)
        return pl_fail(MPI_ERR_OTHER, "the path of plugin %s is longer than %zu bytes", name, capacity - 1);
    if ((err = check_owner(directory)) || (err = check_owner(path)))
        return err;
    return check_whole(path);
}

const void *pl_plugin_load(const char *name, const char *symbol)
{
    char path[PATH_MAX];
    const struct plugin_kind *kind = plugin_kind_of(symbol);
    if (!kind || find_file(name, path, sizeof path) != MPI_SUCCESS)
        return NULL;
    if (kind->obeys_environment && getauxval(AT_SECURE)) {
        pl_fail(MPI_ERR_OTHER,
                "plugin %s not loaded: this program runs with more rights than its user, and the plugin's libraries "
                "would obey the user's environment",
                name);
        return NULL;
    }

    if (is_in_namespace() && strcmp(symbol, PL_BOOTSTRAP_SYMBOL) == 0) {
        pl_fail(MPI_ERR_OTHER,
                "plugin %s not loaded: this library was loaded by dlmopen() into a namespace of its own, where PMIx "
                "crashes: build it with mpicc --private, and load it by dlopen()",
                name);
        return NULL;
    }

    pl_lock_take(&lock);
    void *handle = load_quietly(path);
    pl_lock_drop(&lock);
    if (!handle) {
        pl_fail(MPI_ERR_OTHER, "cannot load plugin %s: %s", name, dlerror());
        return NULL;
    }

    const uint32_t *ops = dlsym(handle, symbol);
    if (!ops)
        pl_fail(MPI_ERR_OTHER, "plugin %s does not export %s", path, symbol);
    else if (*ops != kind->abi) {
        pl_fail(MPI_ERR_OTHER, "plugin %s is of version %u, this library needs %u", path, (unsigned)*ops,
                (unsigned)kind->abi);
        ops = NULL;
    }
    pl_plugin_stay_loaded();
    pl_memory_share(dlsym(handle, PL_MEMORY_SYMBOL));
    dlclose(handle);
    return ops;
}
