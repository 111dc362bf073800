/* SPDX-License-Identifier: BSD-3-Clause */
/* The names and the GPUs of this machine. */
#ifndef PLENUM_MPIEXEC_MACHINE_H
#define PLENUM_MPIEXEC_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* Is `name` [length] a name of this machine: localhost, its host name, with or without its domain? */
bool machine_is_this(const char *name, size_t length);

/* The number of GPUs that may be used: those that CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or ZE_AFFINITY_MASK lists,
 * else those that have a device file. */
int machine_gpus(void);

#endif
