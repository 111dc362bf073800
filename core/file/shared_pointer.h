/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared file pointer.
 *
 * Processes that can open each other's descriptors share a word of anonymous memory, which atomic instructions change:
 * no process waits for another, and nothing is left behind when they die. Elsewhere, as on several nodes, the pointer
 * is kept in a small hidden file beside the file. It is protected by a lock of the system, and exists from the
 * pointer's first use until the file is closed.
 */
#ifndef PLENUM_CORE_FILE_SHARED_POINTER_H
#define PLENUM_CORE_FILE_SHARED_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job/locator.h"

struct pl_file;

struct pl_file_pointer {
    _Atomic int64_t *word; /* etypes; NULL: in the hidden file */
    _Atomic int64_t own;   /* the word of a file that a single process has opened */
    int64_t first;         /* the value in the hidden file until it is set */
    int fd;                /* of the memory, until all processes have mapped it; else -1 */
};

/* Tells the other processes where the first process's memory is. */
struct pl_file_notice {
    uint64_t node; /* pl_locator_node() */
    uint64_t dev, ino;
    int32_t pid, fd; /* fd -1: there is no memory */
};

/* The first process creates the memory with pl_pointer_offer(). The others map it, if they can. Once all processes know
 * whether all could (`shared`), each of them settles on the memory or on the hidden file. */
void pl_pointer_offer(struct pl_file_pointer *pointer, struct pl_file_notice *notice);
bool pl_pointer_attach(struct pl_file_pointer *pointer, const struct pl_file_notice *notice);
void pl_pointer_settle(struct pl_file_pointer *pointer, bool shared, int64_t first);

/* Unmaps the memory. `last`: also removes the hidden file, if there is one; no other process may use it any more. */
void pl_pointer_release(struct pl_file *file, bool last);

/* Atomic among all processes, none of which waits for another. Add returns the value before. MPI_ERR_ARG: the sum would
 * be too large. */
int pl_pointer_add(struct pl_file *file, int64_t etypes, int64_t *before);
int pl_pointer_set(struct pl_file *file, int64_t etypes);

/* Advances the pointer by the etypes of each process, in the order of the ranks. Collective. */
int pl_pointer_add_ordered(struct pl_file *file, int64_t etypes, int64_t *before);

#endif
