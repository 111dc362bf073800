/* SPDX-License-Identifier: BSD-3-Clause */
/* See machine.h. */
#include "api/mpiexec/machine.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool machine_is_this(const char *name, size_t length)
{
    static const char *const local[] = { "localhost", "127.0.0.1", "::1" };
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (strlen(local[i]) == length && memcmp(local[i], name, length) == 0)
            return true;
    size_t brief = strcspn(host, ".");
    return (strlen(host) == length || brief == length) && length > 0 && memcmp(host, name, length) == 0;
}

static int machine_count_files(const char *pattern)
{
    glob_t found;
    int count = glob(pattern, GLOB_NOSORT, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return count;
}

int machine_gpus(void)
{
    static const char *const lists[] = { "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *list = getenv(lists[i]);
        int count = list && list[0] ? 1 : 0;
        for (; list && (list = strchr(list, ',')); list++)
            count++;
        if (count > 0)
            return count;
    }
    int count = machine_count_files("/dev/nvidia[0-9]*");
    return count > 0 ? count : machine_count_files("/dev/dri/renderD*");
}
