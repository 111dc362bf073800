/* SPDX-License-Identifier: BSD-3-Clause */
/* The info keys that say on which hosts processes are spawned: lists, files, one machine, what is wrong. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/object/info.h"
#include "mpi.h"
#include "world/spawn_hosts.h"

static int hosts_of(const char *key, const char *value, bool spread, char **hosts)
{
    struct pl_info *info = pl_info_create();
    ck_assert_int_eq(pl_info_set(info, key, value), MPI_SUCCESS);
    int rc = pl_spawn_hosts(info, spread, hosts);
    pl_info_destroy(info);
    return rc;
}

static void expect_list(const char *key, const char *value, const char *list)
{
    char *hosts;
    ck_assert_int_eq(hosts_of(key, value, true, &hosts), MPI_SUCCESS);
    ck_assert_str_eq(hosts, list);
    free(hosts);
}

static void expect_error(const char *key, const char *value, bool spread, int class, const char *words)
{
    char *hosts;
    ck_assert_int_eq(hosts_of(key, value, spread, &hosts), class);
    ck_assert_ptr_null(hosts);
    ck_assert_msg(strstr(pl_error_detail(NULL), words) != NULL, "%s", pl_error_detail(NULL));
}

START_TEST(lists)
{
    expect_list("host", "alpha", "alpha");
    expect_list("host", "alpha:2,beta", "alpha:2,beta");
    expect_list("hosts", "a:65536,b:007,a", "a:65536,b:7,a");
    expect_list("host", "::1,a:b,fe80::", "::1,a:b,fe80::");
    expect_error("host", "a:0", true, MPI_ERR_INFO_VALUE, "\"a\" must be from 1 to 65536");
    expect_error("hosts", "a,b:65537", true, MPI_ERR_INFO_VALUE, "\"b\" must be");
    expect_error("host", "a:99999999999999999999", true, MPI_ERR_INFO_VALUE, "must be from 1");
    expect_error("host", "a,,b", true, MPI_ERR_INFO_VALUE, "is empty");
    expect_error("host", "a,", true, MPI_ERR_INFO_VALUE, "is empty");
    expect_error("host", ":4", true, MPI_ERR_INFO_VALUE, "is empty");
}
END_TEST

START_TEST(files)
{
    char name[] = "/tmp/spawn_hosts.XXXXXX";
    static const char text[] = "# hosts\n\n alpha slots=2 max_slots=9\nbeta:3\r\ngamma max_slots=4 # one\n  delta";
    int fd = mkstemp(name);
    ck_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    expect_list("hostfile", name, "alpha:2,beta:3,gamma,delta");
    ck_assert(ftruncate(fd, 8) == 0);
    expect_error("hostfile", name, true, MPI_ERR_SPAWN, "names no host");
    ck_assert(pwrite(fd, "\na slots=x\n", 11, 8) == 11);
    expect_error("hostfile", name, true, MPI_ERR_INFO_VALUE, "\"a\" must be from 1");
    close(fd);
    unlink(name);
    expect_error("hostfile", name, true, MPI_ERR_SPAWN, "cannot be read");
}
END_TEST

START_TEST(one_machine)
{
    char own[256] = "", *hosts = own;
    gethostname(own, sizeof own - 1);
    ck_assert_int_eq(hosts_of("host", "localhost", false, &hosts), MPI_SUCCESS);
    ck_assert_ptr_null(hosts); /* it says nothing more */
    hosts = own;
    ck_assert_int_eq(hosts_of("hosts", own, false, &hosts), MPI_SUCCESS);
    hosts = own;
    ck_assert_int_eq(hosts_of("soft", "nowhere", false, &hosts), MPI_SUCCESS);
    ck_assert_ptr_null(hosts);
    expect_error("host", "nowhere", false, MPI_ERR_SPAWN, "\"nowhere\"");
    expect_error("host", "localhost,nowhere", false, MPI_ERR_SPAWN, "\"nowhere\"");
}
END_TEST

UNIT_MAIN("spawn_hosts", lists, files, one_machine)
