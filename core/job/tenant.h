/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tenants: the copies of this library that share a process and its rank.
 *
 * A program, and any of its shared objects, may contain a copy of the library (docs/private.md). Copies share nothing
 * and do not know each other. Each meets those of its name in the other processes, and has its own part of the job's
 * shared memory (core/job/segment.h), or its own names at another launcher's server.
 *
 * The name is the same in all processes, in whatever order copies are loaded. The copy of the program itself, in its
 * file or in libmpi_abi.so, has the name "". Any other has the name of the file that contains it. When another copy of
 * this process has the name already, a number is added: "libsolver.so#2".
 */
#ifndef PLENUM_CORE_JOB_TENANT_H
#define PLENUM_CORE_JOB_TENANT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job/segment.h"

enum { PL_TENANT_NAME = 280 };

/* The name of this copy; `number` is 1 if no other copy has it. */
void pl_tenant_name(uint32_t number, char name[PL_TENANT_NAME]);

/* A name as a number; never 0. */
uint64_t pl_tenant_key(const char *name);

/* A tenant other than the first has its place as long as one of its copies has MPI open. When all places have names, a
 * new name gets the one that nothing has opened for the longest time. Places are found, claimed and emptied under a
 * lock that is in the first part. One whose holder is dead, or does not drop it in many seconds, is taken from it. */
void pl_tenant_lock(struct pl_job_shared *first);
void pl_tenant_unlock(struct pl_job_shared *first);

/* Finds the tenant of this name in the first part, or enters it. 0 is the first one; -1: there are `limit` already. */
int pl_tenant_find(struct pl_job_shared *first, uint32_t limit, const char *name);

/* Enters the name at the place of another tenant. `empty` makes that place like new, or returns false: it is in use.
 * -1: all are. */
int pl_tenant_replace(struct pl_job_shared *first, uint32_t limit, const char *name, bool (*empty)(int tenant));

/* This copy in this process, as a word that no other copy has. It differs in the next program that the process
 * executes. */
uint64_t pl_tenant_copy(void);

/* Was this word written by the program that runs now in this process, not by one before exec()? */
bool pl_tenant_same_program(uint64_t copy);

/* Is the copy still loaded that wrote this word in this program? */
bool pl_tenant_is_loaded(uint64_t copy);

/* Is a copy of this program other than this one, of the same file name, still loaded? */
bool pl_tenant_is_other(uint64_t copy);

#endif
