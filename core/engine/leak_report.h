/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user has left alive in an instance that ends. */
#ifndef PLENUM_CORE_ENGINE_LEAK_REPORT_H
#define PLENUM_CORE_ENGINE_LEAK_REPORT_H

#include <stddef.h>

struct pl_instance;

/*
 * Looks for communicators, windows and files that were not freed, for requests and matched messages that were neither
 * completed nor freed, and for messages that have arrived and that nobody received. Each object is a line of the log
 * (PLENUM_LOG=session:warning), by name. `text` gets as many as fit, for an error; the number of all is returned.
 * The instance is open, and no other thread uses it.
 */
int pl_leak_report(struct pl_instance *instance, char *text, size_t room);

#endif
