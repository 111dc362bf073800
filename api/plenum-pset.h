/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file plenum-pset.h
 * Providers of process sets: the interface between the registry of a session and the code that knows sets.
 *
 * A provider in a shared object is the file NAME.so in Plenum's plugin directory (the variable plugin_dir), named in
 * the variable pset_providers; it exports a constant struct plenum_pset_provider under the name plenum_pset_provider.
 * It calls nothing of the library by name: what it may call is in struct plenum_pset_host. docs/psets.md shows a whole
 * one.
 *
 * **Life.** A session opens a provider when it first needs it, and closes it at its end; several sessions of a process
 * open it several times.
 *
 * **Threads.** Calls for one `self` come one at a time, from any thread, with a lock of the registry held, except for
 * `version`, which may come at any time and without it.
 *
 * **Blocking.** Every function answers at once, with what this process knows. It may read files and memory. It must not
 * wait for another process, nor call MPI.
 *
 * **Agreement.** All processes that ask for a set must be told the same members in the same order.
 *
 * **Errors.** Functions return MPI_SUCCESS or an MPI error class that plenum_pset_host::fail has recorded; it becomes
 * the error of the MPI call that asked.
 */
#ifndef PLENUM_PSET_H
#define PLENUM_PSET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the interface; a provider of another one is refused. @since 0.1 */
#define PLENUM_PSET_ABI 1
/** The symbol that a provider exports: a constant struct plenum_pset_provider. @since 0.1 */
#define PLENUM_PSET_SYMBOL "plenum_pset_provider"

/** Returned by `members` and `properties`: there is no such set (now). No error is recorded. @since 0.1 */
#define PLENUM_PSET_NONE (-1)

/** Lets the compiler check the arguments of a function with a format: number of the format, and of the first argument.
 *  @since 0.1 */
#if defined(__GNUC__)
#define PLENUM_PSET_FORMAT(string, first) __attribute__((format(printf, string, first)))
#else
#define PLENUM_PSET_FORMAT(string, first)
#endif

/** Takes the name of a set from a provider.
 *  Waits for no process. To be called in the thread that called the provider, before that call returns.
 *  @param[in] to       as the provider got it
 *  @param[in] name     a URI, NUL-terminated; copied. What is not a URI is left out
 *  @param[in] version  version of the set; 0: it never changes
 *  @return 0, or an error class that the provider must return at once: MPI_ERR_NO_MEM
 *  @since 0.1 */
typedef int plenum_pset_name_function(void *to, const char *name, uint64_t version);

/** Takes members of a set from a provider: the ranks first, first + 1, ..., last.
 *  A repeated rank is taken once, where it comes first. Waits for no process. To be called in the thread that
 *  called the provider, before that call returns.
 *  @param[in] to     as the provider got it
 *  @param[in] first  rank in the job, from 0
 *  @param[in] last   rank in the job, from `first` to plenum_pset_host::size - 1
 *  @return 0, or an error class that the provider must return at once: MPI_ERR_ARG (these are not ranks of the job),
 *          MPI_ERR_NO_MEM
 *  @since 0.1 */
typedef int plenum_pset_range_function(void *to, int first, int last);

/** Takes a key and a value for MPI_Session_get_pset_info() from a provider (MPI-5.0, section 11.3.3).
 *  Waits for no process. To be called in the thread that called the provider, before that call returns.
 *  @param[in] to     as the provider got it
 *  @param[in] key    below MPI_MAX_INFO_KEY bytes, NUL-terminated; copied. mpi_size, plenum_provider and plenum_version
 *                    are the registry's
 *  @param[in] value  below MPI_MAX_INFO_VAL bytes, NUL-terminated; copied
 *  @return 0, or an error class that the provider must return at once: MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE,
 *          MPI_ERR_NO_MEM
 *  @since 0.1 */
typedef int plenum_pset_property_function(void *to, const char *key, const char *value);

/** What the library offers to a provider. It and all that it points to are borrowed until the provider is
 *  closed. New fields are added at the end. @since 0.1 */
struct plenum_pset_host {
    uint32_t abi;    /**< PLENUM_PSET_ABI of the library */
    int rank;        /**< of this process in its job, from 0 */
    int size;        /**< processes in the job: the members of mpi://WORLD */
    const char *job; /**< name of the job, the same in all its processes */

    /** Records an error for the user. Does not block. Any thread; the error belongs to the thread that records it.
     *  @param[in] error_class  an MPI error class
     *  @param[in] format       of printf(): one line that names the thing, its value, and what is allowed; copied
     *  @return `error_class` */
    int (*fail)(int error_class, const char *format, ...) PLENUM_PSET_FORMAT(2, 3);

    /** Writes a line to the log, if PLENUM_LOG asks for it (`pset:debug`). Any thread, any time until the provider is
     *  closed.
     *  @param[in] level   0: error, 1: warning, 2: info, 3: debug
     *  @param[in] format  of printf(): one line of at most 511 bytes, without a newline; copied */
    void (*log)(int level, const char *format, ...) PLENUM_PSET_FORMAT(2, 3);

    /** Compares two names: scheme and authority of a URI are the same in upper and lower case. Does not block. Any
     *  thread.
     *  @param[in] a  a name; borrowed
     *  @param[in] b  a name; borrowed
     *  @return 1 when the two name the same set, else 0 */
    int (*same)(const char *a, const char *b);

    /** Asks for the members of a set of any provider. Only in a call of `open`, `list`, `members` or `properties`, and
     *  its thread.
     *  @param[in] host   the host itself
     *  @param[in] name   of the set; borrowed
     *  @param[in] range  called for each member or range of members, in their order
     *  @param[in] to     handed to `range`
     *  @return 0; an error class: MPI_ERR_ARG (no such set, or sets that refer to others more than 32 levels deep),
     *          MPI_ERR_NO_MEM, or what another provider reports; or what `range` returned */
    int (*members)(const struct plenum_pset_host *host, const char *name, plenum_pset_range_function *range, void *to);

    /** Finds the provider whose set of this name takes precedence over one of the caller's. Only in a call of `open`,
     *  `list`, `members` or `properties`, and its thread.
     *  @param[in] host  the host itself
     *  @param[in] name  of the set; borrowed
     *  @return the name of that provider, borrowed until this one is closed; NULL: there is none, or it has failed */
    const char *(*holder)(const struct plenum_pset_host *host, const char *name);
};

/** A provider: a constant table that the shared object exports as plenum_pset_provider. Functions are required unless
 *  they say otherwise. @since 0.1 */
struct plenum_pset_provider {
    uint32_t abi;     /**< PLENUM_PSET_ABI */
    const char *name; /**< for messages and the property plenum_provider; lives as long as the shared object */

    /** The scheme that belongs to this provider alone: "hwloc" for hwloc://... NULL: its sets may have any scheme that
     *  belongs to no other provider. */
    const char *scheme;

    /** Opens the provider for a session. After an error it is tried again with the next query.
     *  @param[in] host   borrowed until `close`
     *  @param[out] self  handed to all other functions; owned by the provider
     *  @return MPI_SUCCESS, or an error class of plenum_pset_host::fail */
    int (*open)(const struct plenum_pset_host *host, void **self);

    /** Closes the provider; once for each `open` that succeeded. No other call is under way.
     *  @param[in] self  of `open`; stolen */
    void (*close)(void *self);

    /** Names all sets that there are now, in an order that stays.
     *  @param[in] self  of `open`
     *  @param[in] name  to be called for each set
     *  @param[in] to    to be handed to `name`
     *  @return MPI_SUCCESS, what `name` returned if that is not 0, or an error class of plenum_pset_host::fail */
    int (*list)(void *self, plenum_pset_name_function *name, void *to);

    /** Gives the members of a set, each once, in order. May know more sets than `list` names.
     *  @param[in] self      of `open`
     *  @param[in] name      of the set, NUL-terminated; borrowed
     *  @param[out] version  different after each change of the set; 0, its value before the call: it never changes
     *  @param[in] range     to be called for each member or range of members
     *  @param[in] to        to be handed to `range`
     *  @return MPI_SUCCESS, PLENUM_PSET_NONE when there is no such set, what `range` returned if that is not 0, or an
     *          error class of plenum_pset_host::fail */
    int (*members)(void *self, const char *name, uint64_t *version, plenum_pset_range_function *range, void *to);

    /** Optional. Gives further keys and values of a set for MPI_Session_get_pset_info().
     *  @param[in] self      of `open`
     *  @param[in] name      of the set, NUL-terminated; borrowed
     *  @param[in] property  to be called for each key
     *  @param[in] to        to be handed to `property`
     *  @return MPI_SUCCESS, PLENUM_PSET_NONE when there is no such set, what `property` returned if that is not 0, or
     *          an error class of plenum_pset_host::fail */
    int (*properties)(void *self, const char *name, plenum_pset_property_function *property, void *to);

    /** Optional: a provider without it never changes. The version of all sets together; when it differs, `list` is
     *  called again and watchers are told. Called often, in the middle of communication, by any thread, and while
     *  another function of the provider runs: it may read memory, and no more.
     *  @param[in] self  of `open`
     *  @return a number that is different after each change of any set */
    uint64_t (*version)(void *self);
};

#ifdef __cplusplus
}
#endif
#endif
