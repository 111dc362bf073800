/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plugins: parts of the library in separate shared objects, which are loaded when they are first needed. A job on one
 * node never loads UCX; a job of Plenum's launcher never loads the PMIx client.
 *
 * A plugin is the file NAME.so in the folder "plenum" beside the library, or in the directory PLENUM_PLUGIN_DIR. It
 * exports one symbol, a const struct that begins with a uint32_t: the ABI number of its kind. It calls no function of
 * the library by name: the library passes it a table of functions.
 */
#ifndef PLENUM_CORE_OBJECT_PLUGIN_H
#define PLENUM_CORE_OBJECT_PLUGIN_H

/*
 * The struct that plugin `name` exports as `symbol` (PL_TRANSPORT_SYMBOL, PL_BOOTSTRAP_SYMBOL, ...). The first call
 * loads the plugin, which stays loaded (plugin.c says why). NULL, with the reason recorded: it is not installed, cannot
 * be loaded, has another version, or other users can write to it. Any thread, any time.
 */
const void *pl_plugin_load(const char *name, const char *symbol);

/* Keeps the library that contains this code loaded until the process ends. Called when something that cannot be taken
 * back has pointers into it: a plugin, or a launcher's connection. */
void pl_plugin_stay_loaded(void);

#endif
