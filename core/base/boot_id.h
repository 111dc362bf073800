/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLENUM_CORE_BASE_BOOT_ID_H
#define PLENUM_CORE_BASE_BOOT_ID_H

enum { PL_BOOT_ID_SIZE = 40 };

/* Identifies this run of the kernel, in fewer than PL_BOOT_ID_SIZE characters; "" if it cannot be read. Read once. Any
 * thread. */
const char *pl_boot_id(void);

#endif
