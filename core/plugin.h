/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plugins: the parts of the library that live in shared objects of their own, loaded when something first needs them.
 * A job on one node never loads UCX, a job of our own launcher never loads the PMIx client.
 *
 * A plugin is the file plenum/NAME.so beside the library itself, or in the directory that PLENUM_PLUGIN_DIR names. It
 * exports one symbol, a const struct that begins with a uint32_t: the ABI number of its kind. It calls nothing in the
 * library by name; what it may call is handed to it.
 *
 * Thread rule: any thread, any time, with any lock of a lower rank than PL_RANK_LEAF.
 */
#ifndef PLENUM_CORE_PLUGIN_H
#define PLENUM_CORE_PLUGIN_H

#include <stdint.h>

/*
 * Opens plugin `name` and gives the struct behind `symbol`. Counted: each successful open needs a pl_plugin_close().
 * PL_UNREACHABLE: it is not installed or cannot be loaded; MPI_ERR_OTHER: it is there, but of another ABI, damaged or
 * in a place that others can write. Both recorded with the file's name.
 */
int pl_plugin_open(const char *name, const char *symbol, uint32_t abi, const void **ops);

/* Gives it back. The memory stays mapped (plugin.c says why); what the plugin's own close function frees does not. */
void pl_plugin_close(const char *name);

/* How often `name` is open now. For tests and reports. */
int pl_plugin_users(const char *name);

#endif
