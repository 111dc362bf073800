/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plugins: the parts of the library that live in shared objects of their own, loaded when something first needs them.
 * A job on one node never loads UCX, a job of our own launcher never loads the PMIx client.
 *
 * A plugin is the file plenum/NAME.so beside the library itself, or in the directory that PLENUM_PLUGIN_DIR names. It
 * exports one symbol, a const struct that begins with a uint32_t: the ABI number of its kind. It calls nothing in the
 * library by name; what it may call is handed to it.
 */
#ifndef PLENUM_CORE_OBJECT_PLUGIN_H
#define PLENUM_CORE_OBJECT_PLUGIN_H

/*
 * The struct that plugin `name` exports as `symbol` (PL_TRANSPORT_SYMBOL, PL_BOOTSTRAP_SYMBOL, ...); loads the plugin
 * the first time. It stays loaded: plugin.c says why.
 * NULL, with the reason recorded: it is not installed, cannot be loaded, is of another version, or lies in a place that
 * others can write. Any thread, any time.
 */
const void *pl_plugin_load(const char *name, const char *symbol);

#endif
