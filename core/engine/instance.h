/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instances: an instance owns everything that communication needs. The World is one, every session is one.
 * Two instances share no lock and no queue.
 */
#ifndef PLENUM_CORE_ENGINE_INSTANCE_H
#define PLENUM_CORE_ENGINE_INSTANCE_H

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/engine/engine.h"
#include "core/job/process.h"
#include "core/object/object.h"
#include "mpi.h"

struct pl_comm;
struct pl_errhandler;
struct pl_info;
struct pl_psets;

/* An object of a higher room that closes with its instance: a file. */
struct pl_child {
    struct pl_list link;          /* in instance->children; instance->lock */
    void *object;                 /* borrowed */
    void (*orphan)(void *object); /* the instance closes while the user holds the object. The caller holds a reference
                                     and no lock */
};

struct pl_instance {
    struct pl_object obj; /* of kind PL_SESSION; the World's is hidden */
    bool world;
    bool open;
    bool strict;      /* what is left at the end is an error */
    int thread_level; /* MPI_THREAD_* */
    uint64_t serial;  /* different for every instance that this process ever opens */
    struct pl_engine engine;
    struct pl_lock lock;              /* the fields below */
    struct pl_list comms;             /* of pl_comm.siblings */
    struct pl_list children;          /* of pl_child.link */
    struct pl_errhandler *errhandler; /* of the session, and first one of its communicators; retained */
    struct pl_info *info;             /* the hints in use; set once, when it opens */
    struct pl_bsend *bsend;           /* session's attached buffer */
    _Atomic(struct pl_psets *) psets; /* registry of process sets (sessions/psets/psets.h); NULL until somebody asks */
};

/* Opens one; reference counts the process (core/job/process.h). Never waits for another process. `kinds`: memory allocation
 * kinds that are wanted, NULL for those of the configuration. */
int pl_instance_open(bool world, int thread_level, const char *kinds, struct pl_instance **instance);

/* Completes what must be, frees all communicators that are left, gives every resource back but the locks, which what
 * the user still holds may take. Does not release. */
void pl_instance_close(struct pl_instance *instance);

/* Enters a child, or takes it out again if it is in. */
void pl_instance_add(struct pl_instance *instance, struct pl_child *child);
void pl_instance_remove(struct pl_instance *instance, struct pl_child *child);

/* A group of the instance (pl_group_create()). `instance` NULL: of none. */
struct pl_group *pl_instance_group(struct pl_instance *instance, int size, const uint64_t *procs);
struct pl_group *pl_instance_group_range(struct pl_instance *instance, int size, uint64_t first, int64_t stride);

/* This process's rank in the job, for reports of errors, while the instance (NULL: none) or the World is open; else
 * -1. */
int pl_instance_rank(const struct pl_instance *instance);

void pl_session_destroy(void *session);
extern const struct pl_kind_errors pl_session_errors;

/* The World while it is initialized and not yet finalized, else NULL. */
extern struct pl_instance *pl_world;
extern struct pl_comm *pl_world_comm, *pl_self_comm, *pl_parent_comm;

#endif
