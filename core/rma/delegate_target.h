/* SPDX-License-Identifier: BSD-3-Clause */
/* The target of delegated operations: executes them while it makes progress. See delegate.h. Engine lock held in all
 * functions. */
#ifndef PLENUM_CORE_RMA_DELEGATE_TARGET_H
#define PLENUM_CORE_RMA_DELEGATE_TARGET_H

struct pl_win;

/* Progress executes delegated operations from open() to close(). */
void pl_delegate_open(struct pl_win *win);
void pl_delegate_close(struct pl_win *win);

/* Executes those that are there; returns the number of events. */
int pl_delegate_take(struct pl_win *win);

#endif
