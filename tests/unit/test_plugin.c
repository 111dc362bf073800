/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading of plugins: the real ones, and errors: bad places, other owners, damaged files. */
#include "unit.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/comm/topology_hw.h"
#include "core/engine/transport.h"
#include "core/job/process.h"
#include "core/object/plugin.h"

static char built[PATH_MAX + 64];
static const char *place;

/* The build's plugins lie two directories up and down again from this program. */
static void find_built(void)
{
    char exe[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    ck_assert_int_gt(length, 0);
    exe[length] = '\0';
    snprintf(built, sizeof built, "%s/../../lib/plenum", dirname(exe));
}

static void look_in(const char *directory)
{
    ck_assert_int_eq(setenv("PLENUM_PLUGIN_DIR", directory, 1), 0);
    ck_assert_int_eq(pl_config_load(), MPI_SUCCESS);
}

/* A copy of a plugin at a place of the test; `keep` bytes of it at most. */
static void copy(const char *name, size_t keep)
{
    char from[PATH_MAX + 128], to[PATH_MAX];
    static char data[1 << 20];
    snprintf(from, sizeof from, "%s/%s.so", built, name);
    snprintf(to, sizeof to, "%s/%s.so", place, name);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    ck_assert(in && out);
    size_t bytes = fread(data, 1, sizeof data, in);
    ck_assert_uint_gt(bytes, 0);
    fwrite(data, 1, bytes < keep ? bytes : keep, out);
    fclose(in);
    fclose(out);
}

static void make_place(void)
{
    find_built();
    place = unit_directory();
    look_in(place);
}

static void refused(const char *name, const char *symbol, const char *why)
{
    int class;
    ck_assert_ptr_null(pl_plugin_load(name, symbol));
    ck_assert_msg(strstr(pl_error_detail(&class), why) != NULL, "\"%s\" does not say \"%s\"", pl_error_detail(&class),
                  why);
}

START_TEST(test_real_ones)
{
    static const struct {
        const char *name, *symbol;
    } all[] = { { "ucx", PL_TRANSPORT_SYMBOL }, { "pmix", PL_BOOTSTRAP_SYMBOL }, { "hwloc", PL_TOPOLOGY_SYMBOL } };
    struct sigaction before[32], after;
#ifdef __SANITIZE_THREAD__
    setenv("UCX_MEM_EVENTS", "n", 0); /* ucx_node.h says why */
#endif
    find_built();
    look_in(built);
    for (int n = 1; n < 32; n++)
        sigaction(n, NULL, &before[n]);
#ifdef __s390x__
    enum { FIRST = 1 }; /* there is no UCX */
#else
    enum { FIRST = 0 };
#endif
    for (int i = FIRST; i < 3; i++) {
        const void *ops = pl_plugin_load(all[i].name, all[i].symbol);
        ck_assert_msg(ops != NULL, "%s: %s", all[i].name, pl_error_detail(NULL));
        ck_assert_ptr_eq(ops, pl_plugin_load(all[i].name, all[i].symbol));
    }
    for (int n = 1; n < 32; n++)
        if (sigaction(n, NULL, &after) == 0)
            ck_assert_msg(after.sa_handler == before[n].sa_handler, "a plugin has taken signal %d", n);
}
END_TEST

START_TEST(test_refused_places)
{
    char path[PATH_MAX];
    make_place();
    refused("hwloc", PL_TOPOLOGY_SYMBOL, "No such file");
    copy("hwloc", SIZE_MAX);
    snprintf(path, sizeof path, "%s/hwloc.so", place);
    chmod(path, 0666);
    refused("hwloc", PL_TOPOLOGY_SYMBOL, "all users may write");
    chmod(path, 0644);
    chmod(place, 0777);
    refused("hwloc", PL_TOPOLOGY_SYMBOL, "all users may write");
    chmod(place, 0700);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path, 12345, 12345), 0);
        refused("hwloc", PL_TOPOLOGY_SYMBOL, "belongs to user 12345");
        ck_assert_int_eq(chown(path, 0, 0), 0);
    }
    ck_assert_ptr_nonnull(pl_plugin_load("hwloc", PL_TOPOLOGY_SYMBOL));
    look_in("plugins");
    refused("hwloc", PL_TOPOLOGY_SYMBOL, "absolute path");
    look_in("/nowhere");
    refused("hwloc", PL_TOPOLOGY_SYMBOL, "/nowhere");
}
END_TEST

START_TEST(test_refused_files)
{
    static const size_t cuts[] = { 0, 1, 63, 64, 1000, 5000 };
    char path[PATH_MAX];
    make_place();
    snprintf(path, sizeof path, "%s/hwloc.so", place);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    refused("hwloc", PL_TOPOLOGY_SYMBOL, "is damaged");
    ck_assert_int_eq(unlink(path), 0);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        copy("hwloc", cuts[i]);
        refused("hwloc", PL_TOPOLOGY_SYMBOL, "is damaged");
    }
    copy("hwloc", SIZE_MAX);
    refused("hwloc", PL_TRANSPORT_SYMBOL, "does not export");
    refused("hwloc", "plenum_something", "does not export");
}
END_TEST

UNIT_MAIN("plugin", test_real_ones, test_refused_places, test_refused_files)
