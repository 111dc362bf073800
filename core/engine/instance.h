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
#include "core/object/object.h"
#include "mpi.h"

struct pl_comm;
struct pl_errhandler;
struct pl_info;
struct pl_psets;

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
    struct pl_list files;             /* of pl_file.siblings */
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

void pl_session_destroy(void *session);

/* The World while it is initialized and not yet finalized, else NULL. */
extern struct pl_instance *pl_world;
extern struct pl_comm *pl_world_comm, *pl_self_comm, *pl_parent_comm;

/* How far the World Model has come. */
enum pl_world_state { PL_WORLD_BEFORE, PL_WORLD_INITIALIZED, PL_WORLD_FINALIZED };
extern _Atomic int pl_world_state;

#endif
