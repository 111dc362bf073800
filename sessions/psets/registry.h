/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of an instance's process sets: the providers (api/plenum-pset.h), and what the session has been told.
 *
 * It is created by the first question, and opens a provider only when the name may belong to it. So a process that uses
 * only mpi://WORLD and mpi://SELF never reads a file or the topology of the machine. A name is looked up with the
 * provider of its scheme, otherwise with the others in their order: the launcher, the user's file, plugins, published
 * sets. The first provider that has the name decides.
 *
 * Any thread; the registry has its own lock, which is not held while a watcher runs.
 */
#ifndef PLENUM_SESSIONS_PSETS_REGISTRY_H
#define PLENUM_SESSIONS_PSETS_REGISTRY_H

#include "core/base/vec.h"
#include "core/engine/instance.h"
#include "mpi-ext.h"
#include "sessions/psets/providers.h"

enum { PL_PSET_SLOTS = 24, PL_PSET_SHOWN = 80 /* bytes of a name in a message */ };

/* A provider and its state. */
struct pl_pset_slot {
    struct plenum_pset_host host; /* first: what the provider hands back */
    struct pl_psets *psets;
    const struct plenum_pset_provider *ops;
    void *self;
    bool open, listed;
    uint64_t listed_at; /* its version at that time */
};

/* A set that the watcher knows, or (version 0) one that is gone. */
struct pl_pset_seen {
    char *name;
    uint64_t version;
};

struct pl_pset_seens {
    PL_VEC(struct pl_pset_seen);
};

/* The members of a set, each once, in the order in which the provider gives them. */
struct pl_pset_members {
    const struct pl_pset_slot *slot; /* the provider */
    const char *name;
    int *rank; /* [count] */
    int count;
    unsigned char *is_in; /* [size]; allocated with the first member */
};

struct pl_psets {
    struct pl_lock lock; /* of everything below, except what the hook reads */
    _Atomic int refs;
    struct pl_instance *instance;
    /* Providers with a scheme are asked only about it; the others in this order. */
    struct pl_pset_slot slot[PL_PSET_SLOTS];
    int slots;
    bool complete;        /* the plugins are among them */
    int depth;            /* providers that are asking for sets of others */
    PL_VEC(char *) names; /* by their numbers */

    /* watch.c */
    MPIX_Session_pset_function *changed;
    void *context;
    unsigned watchers; /* that there have been */
    struct pl_pset_seens seen;
    bool telling; /* `teller` is calling the watcher */
    pthread_t teller;
    struct pl_hook hook; /* the engine's lock: hook, hooked, noticed */
    bool hooked;
    uint64_t noticed;
    struct pl_deferred deferred;
    _Atomic bool queued;
};

/* The registry of an instance, created at the first call. NULL: out of memory, recorded. */
struct pl_psets *pl_psets_of(struct pl_instance *instance);
void pl_psets_release(struct pl_psets *psets);

/* Ends the watcher, and closes the instance's registry. */
void pl_psets_close(struct pl_instance *instance);

/* Opens the provider of a slot, unless it is open. Lock held. */
int pl_pset_slot_open(struct pl_pset_slot *slot);

/* Loads the plugins. Lock held. */
int pl_psets_complete_locked(struct pl_psets *psets);

/* Looks up a set and its members; MPI_ERR_ARG, recorded: there is none. Lock held. */
int pl_psets_find_locked(struct pl_psets *psets, const char *name, struct pl_pset_members *members, uint64_t *version);
void pl_pset_members_fini(struct pl_pset_members *members);

#endif
