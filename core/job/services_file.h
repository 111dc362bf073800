/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory files of published names (core/job/services.h): that of this process, and those of others. The caller
 * holds the lock of the services while it uses this process's file. */
#ifndef PLENUM_CORE_JOB_SERVICES_FILE_H
#define PLENUM_CORE_JOB_SERVICES_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "core/job/services.h"

enum pl_service_state { PL_SERVICE_FREE, PL_SERVICE_CLAIMED, PL_SERVICE_PUBLISHED };

/* One name, as it lies in the file. While `state` is not PL_SERVICE_FREE nothing else changes. */
struct pl_service_entry {
    uint32_t state;
    int32_t owner;       /* pid: a forked child has the file as well, but is not the owner */
    uint64_t ticket;     /* time of the claim, in ns; unique among the entries of a process */
    uint64_t runtime;    /* identifies the runtime that started the process; 0: no runtime of Plenum did */
    uint64_t restricted; /* 1: only its own runtime finds it */
    char name[PL_SERVICE_NAME_MAX], value[PL_SERVICE_VALUE_MAX];
};

/* This process's file. The first entry creates it. `*number` is the entry's. */
int pl_services_file_add(const struct pl_service_entry *entry, int *number);
void pl_services_file_set_state(int number, enum pl_service_state state);
bool pl_services_file_read(int number, struct pl_service_entry *entry); /* false: there is no such entry */
void pl_services_file_close(void);

/* Calls `see` for each entry of this name in the files of all processes of the user, this one included, until it
 * returns false. */
void pl_services_file_scan(const char *name, bool (*see)(void *context, const struct pl_service_entry *entry),
                           void *context);

#endif
