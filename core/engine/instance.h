/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instances: the World, and each session. An instance owns everything that communication needs; two instances share no
 * lock and no queue.
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
    struct pl_object obj; /* of kind PL_SESSION; the World's has no handle */
    bool world;
    bool open;
    bool strict;      /* objects that the user has not freed at the end are an error */
    bool served;      /* by a progress thread */
    int thread_level; /* MPI_THREAD_* */
    uint64_t serial;  /* unique among all instances of this process */
    struct pl_engine engine;
    struct pl_lock lock;              /* the fields below */
    struct pl_list comms;             /* of pl_comm.siblings */
    struct pl_list children;          /* of pl_child.link */
    struct pl_errhandler *errhandler; /* the session's, and the initial one of its communicators; retained */
    struct pl_info *info;             /* the hints in use; set once, when the instance opens */
    struct pl_bsend *bsend;           /* the session's attached buffer; NULL: none */
    _Atomic(struct pl_psets *) psets; /* registry of process sets (sessions/psets/registry.h), made when first needed */
};

/* Opens an instance, and the process with the first one (core/job/process.h). Never waits for another process. `kinds`:
 * the requested kinds of memory; `progress`: as the configuration variable; NULL: what the configuration has. */
int pl_instance_open(bool world, int thread_level, const char *kinds, const char *progress,
                     struct pl_instance **instance);

/* Starts the progress thread, if there is to be one, and ends it. It runs while no thread opens or closes the
 * instance. */
int pl_instance_serve(struct pl_instance *instance);
void pl_instance_serve_no_more(struct pl_instance *instance);

/* Closes children, orphans all communicators that are left, waits until sends are delivered, and releases all
 * resources except the locks, which objects that the user still holds may take. The instance stays referenced. */
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
