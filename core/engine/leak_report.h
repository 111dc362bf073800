/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that the user has not freed when an instance ends. */
#ifndef PLENUM_CORE_ENGINE_LEAK_REPORT_H
#define PLENUM_CORE_ENGINE_LEAK_REPORT_H

#include <stddef.h>

struct pl_instance;

/*
 * Finds communicators, windows and files that were not freed, requests and matched messages that were neither completed
 * nor freed, and messages that were not received. Logs a line for each communicator, window and file by name
 * (PLENUM_LOG=session:warning). Writes as many of them as fit to `text`, for an error, and returns the number of all.
 * The instance is open, and no other thread uses it.
 */
int pl_leak_report(struct pl_instance *instance, char *text, size_t capacity);

#endif
