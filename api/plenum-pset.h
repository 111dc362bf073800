/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file plenum-pset.h
 * Providers of process sets: the interface between the registry of a session and those who know sets.
 *
 * A provider in a shared object is the file NAME.so in Plenum's plugin directory (the variable plugin_dir), named in
 * the variable pset_providers; it exports a constant struct plenum_pset_provider under the name plenum_pset_provider.
 * It calls nothing of the library by name: what it may call is in struct plenum_pset_host. docs/psets.md shows a whole
 * one.
 *
 * A session opens a provider when it first needs it, and closes it at its end; several sessions of a process open it
 * several times. Calls for one `self` come one at a time, from any thread, except for `version`, which may come at any
 * time. Everything answers at once, with what this process knows: it must not wait for another process, nor call MPI.
 * All processes that ask for a set must be told the same members in the same order.
 *
 * Functions return MPI_SUCCESS or an MPI error class that host->fail() has recorded.
 */
#ifndef PLENUM_PSET_H
#define PLENUM_PSET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLENUM_PSET_ABI    1
#define PLENUM_PSET_SYMBOL "plenum_pset_provider"

/** Returned by `members` and `properties`: there is no such set (now). */
#define PLENUM_PSET_NONE (-1)

#if defined(__GNUC__)
#define PLENUM_PSET_FORMAT(string, first) __attribute__((format(printf, string, first)))
#else
#define PLENUM_PSET_FORMAT(string, first)
#endif

/** How a provider hands something over; everything is copied. A result other than 0 is to be returned at once. */
typedef int plenum_pset_name_function(void *to, const char *name, uint64_t version);
typedef int plenum_pset_range_function(void *to, int first, int last); /**< members first, first + 1, ..., last */
typedef int plenum_pset_property_function(void *to, const char *key, const char *value);

/** What the library tells a provider and does for it. Valid until the provider is closed. */
struct plenum_pset_host {
    uint32_t abi;
    int rank;        /**< of this process in its job */
    int size;        /**< processes in the job: the members of mpi://WORLD */
    const char *job; /**< name of the job, the same in all its processes */

    /** Records an error for the user, one line that names the thing, its value, and what was allowed; returns
     * `error_class`. */
    int (*fail)(int error_class, const char *format, ...) PLENUM_PSET_FORMAT(2, 3);

    /** A line for PLENUM_LOG=pset; level 0 is an error, 3 for debugging. */
    void (*log)(int level, const char *format, ...) PLENUM_PSET_FORMAT(2, 3);

    /** Are two names the same? Scheme and authority of a URI are in upper or lower case alike. */
    int (*same)(const char *a, const char *b);

    /** The members of a set of any provider; an error when there is none. */
    int (*members)(const struct plenum_pset_host *host, const char *name, plenum_pset_range_function *range, void *to);

    /** The name of the provider whose set of this name comes before one of the caller's; NULL: there is none. */
    const char *(*holder)(const struct plenum_pset_host *host, const char *name);
};

struct plenum_pset_provider {
    uint32_t abi;     /**< PLENUM_PSET_ABI */
    const char *name; /**< for messages and the property plenum_provider */

    /** The scheme of its sets, which is then its alone: "hwloc" for hwloc://... NULL: names of any scheme that nobody
     *  has for himself. */
    const char *scheme;

    /** @param[out] self  handed to all other functions */
    int (*open)(const struct plenum_pset_host *host, void **self);
    void (*close)(void *self);

    /** Names all sets that there are now, in an order that stays. */
    int (*list)(void *self, plenum_pset_name_function *name, void *to);

    /** The members of a set, each once, in order, and its version, which is another after each change; 0: it never
     *  changes. May know more sets than it lists. */
    int (*members)(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range, void *to);

    /** What else there is to say about a set: keys and values of MPI_Session_get_pset_info. NULL: nothing. */
    int (*properties)(void *self, const char *name, plenum_pset_property_function *property, void *to);

    /** Another number after each change of any set; `list` is asked again then, and watchers are told. Called often,
     *  and in the middle of communication: it may read memory, and no more. NULL: nothing ever changes. */
    uint64_t (*version)(void *self);
};

#ifdef __cplusplus
}
#endif
#endif
