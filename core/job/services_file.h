/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory files of published names: the own one, and those of others. See services.h. Locking: the caller's. */
#ifndef PLENUM_CORE_JOB_SERVICES_FILE_H
#define PLENUM_CORE_JOB_SERVICES_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "core/job/services.h"

enum pl_service_state { PL_SERVICE_FREE, PL_SERVICE_CLAIMED, PL_SERVICE_PUBLISHED };

/* One name, as it lies in the file. While `state` is not 0 nothing else changes. */
struct pl_service_entry {
    uint32_t state;
    int32_t owner;    /* pid: a forked child, which has the file too, is not the owner */
    uint64_t ticket;  /* the time when it was claimed, in ns: no two entries of a process have the same */
    uint64_t runtime; /* names the runtime that started the process; 0: none of ours did */
    uint64_t narrow;  /* 1: for the own runtime alone */
    char name[PL_SERVICE_NAME_MAX], value[PL_SERVICE_VALUE_MAX];
};

/* The own file. Writing gives the entry's number; the file comes with the first one. */
int pl_services_file_add(const struct pl_service_entry *entry, int *number);
void pl_services_file_set_state(int number, enum pl_service_state state);
bool pl_services_file_read(int number, struct pl_service_entry *entry); /* false: there are not so many */
void pl_services_file_close(void);

/* Shows the entries with this name in all files of the user's processes, the own one among them, until `see` says
 * false. */
void pl_services_file_scan(const char *name, bool (*see)(void *context, const struct pl_service_entry *entry),
                           void *context);

#endif
