/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of process sets, as its own files share it: psets.c asks, watch.c tells. */
#ifndef PLENUM_SESSIONS_PSETS_REGISTRY_H
#define PLENUM_SESSIONS_PSETS_REGISTRY_H

#include "core/engine/instance.h"
#include "sessions/psets/providers.h"
#include "sessions/psets/psets.h"

enum { PL_PSET_SLOTS = 24 };

/* A provider and what the registry knows of it. */
struct pl_pset_slot {
    struct plenum_pset_host host; /* first: what the provider hands back */
    struct pl_psets *psets;
    const struct plenum_pset_provider *ops;
    void *self;
    bool open, listed;
    uint64_t listed_at; /* its version when it was listed last */
};

/* A set that the watcher knows of, or (version 0) that is gone. */
struct pl_pset_seen {
    char *name;
    uint64_t version;
};

struct pl_pset_seens {
    struct pl_pset_seen *set; /* [count] */
    int count;
};

struct pl_psets {
    struct pl_lock lock; /* everything below, but for what the hook reads */
    _Atomic int refs;
    struct pl_instance *instance;
    struct pl_pset_slot slot[PL_PSET_SLOTS]; /* those with a scheme are asked for it alone; the others in this order */
    int slots;
    bool complete; /* the plugins are among them */
    int depth;     /* providers that ask for sets of others */
    char **name;   /* [names]: the numbers given out */
    int names;

    /* watch.c */
    MPIX_Session_pset_function *changed;
    void *context;
    unsigned watchers; /* how many there were */
    struct pl_pset_seens seen;
    bool telling; /* `teller` is calling the watcher */
    pthread_t teller;
    struct pl_hook hook; /* the engine's lock: hook, hooked, noticed */
    bool hooked;
    uint64_t noticed;
    struct pl_deferred deferred;
    _Atomic bool queued;
};

/* The registry of an instance, made when it is first asked for. NULL: no memory, recorded. */
struct pl_psets *pl_psets_of(struct pl_instance *instance);
void pl_psets_release(struct pl_psets *psets);

/* Opens the provider of a slot, unless it is open. Lock held. */
int pl_pset_slot_open(struct pl_pset_slot *slot);

/* Finds the plugins. Lock held. */
int pl_psets_complete_locked(struct pl_psets *psets);

/* Tells the watcher what has changed, if there is one; ends it. Lock not held. */
void pl_psets_tell(struct pl_psets *psets);
void pl_psets_watch_end(struct pl_psets *psets);

#endif
