/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_H
#define SOLVER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns this process's rank among `expected` processes; -1: an error, printed. */
int solver_solve(int expected);

#ifdef __cplusplus
}
#endif

#endif
