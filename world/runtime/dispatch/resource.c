/* SPDX-License-Identifier: BSD-3-Clause */
/* See resource.h. */
#include "world/runtime/dispatch/resource.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/memory_libc.h"

const char *const pl_device_vars[PL_DEVICE_VARS] = { "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                                     "ZE_AFFINITY_MASK" };

bool pl_resource_is_name(const char *name)
{
    size_t length = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    return length > 0 && length < PL_RESOURCE_NAME && !name[length] && name[0] >= 'a' && name[0] <= 'z';
}

static int resource_count_files(const char *pattern)
{
    glob_t found;
    int count = glob(pattern, GLOB_NOSORT, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return count;
}

int pl_resource_count_gpus(void)
{
    for (int i = 0; i < PL_DEVICE_VARS; i++) {
        const char *list = secure_getenv(pl_device_vars[i]);
        int count = list && list[0] ? 1 : 0;
        for (; list && (list = strchr(list, ',')); list++)
            count++;
        if (count > 0)
            return count;
    }
    int count = resource_count_files("/dev/nvidia[0-9]*");
    return count > 0 ? count : resource_count_files("/dev/dri/renderD*");
}

bool pl_resource_set(struct pl_resource *r, const char *name, int count)
{
    struct pl_resource made = { .count = count, .taken = pl_calloc((size_t)count + 1, sizeof(bool)) };
    bool whole = made.taken;
    snprintf(made.name, sizeof made.name, "%s", name);
    for (int i = 0; strcmp(name, "gpu") == 0 && i < PL_DEVICE_VARS; i++) {
        const char *value = secure_getenv(pl_device_vars[i]);
        made.devices[i] = value && value[0] ? pl_strdup(value) : NULL;
        whole &= !value || !value[0] || made.devices[i];
    }
    pl_resource_fini(whole ? r : &made);
    if (whole)
        *r = made;
    return whole;
}

void pl_resource_fini(struct pl_resource *r)
{
    free(r->taken);
    for (int i = 0; i < PL_DEVICE_VARS; i++)
        free(r->devices[i]);
}

void pl_resource_take(struct pl_resource *r, int wanted, int *numbers)
{
    for (int i = 0, found = 0; found < wanted && i < r->count; i++)
        if (!r->taken[i]) {
            r->taken[i] = true;
            numbers[found++] = i;
        }
}

void pl_resource_give(struct pl_resource *r, int count, const int *numbers)
{
    for (int i = 0; i < count; i++)
        r->taken[numbers[i]] = false;
}
