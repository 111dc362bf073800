/* SPDX-License-Identifier: BSD-3-Clause */
/* A resource with a name: things with numbers from 0, each of which is free or taken. The caller holds a lock. */
#ifndef PLENUM_WORLD_RUNTIME_DISPATCH_RESOURCE_H
#define PLENUM_WORLD_RUNTIME_DISPATCH_RESOURCE_H

#include <stdbool.h>

enum { PL_RESOURCE_NAME = 32, PL_RESOURCE_MOST = 65536, PL_DEVICE_VARS = 3 };

struct pl_resource {
    char name[PL_RESOURCE_NAME];
    int count;
    bool of_hosts;                 /* the hosts of the runtime have it (job/host_resources.h), and this runtime none */
    bool *taken;                   /* [count] */
    char *devices[PL_DEVICE_VARS]; /* of "gpu": the values of pl_device_vars when it was set; NULL: not set */
};

/* The variables that say which GPUs a process uses. */
extern const char *const pl_device_vars[PL_DEVICE_VARS];

/* At most 31 letters a to z, digits and underscores, a letter first. */
bool pl_resource_is_name(const char *name);

/* The number of GPUs that this process may use: those that a variable lists, or that have a device file. */
int pl_resource_count_gpus(void);

/* Sets all fields anew; no number may be taken. False: out of memory, and nothing has changed. */
bool pl_resource_set(struct pl_resource *r, const char *name, int count);
void pl_resource_fini(struct pl_resource *r);

/* Takes the lowest free numbers; `wanted` must be free. */
void pl_resource_take(struct pl_resource *r, int wanted, int *numbers);
void pl_resource_give(struct pl_resource *r, int count, const int *numbers);

#endif
