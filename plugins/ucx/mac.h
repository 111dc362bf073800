/* SPDX-License-Identifier: BSD-3-Clause */
/* A message authentication code: SipHash-2-4 with 128 bits of output, keyed with 128 bits. No locks, no state. */
#ifndef PLENUM_PLUGINS_UCX_MAC_H
#define PLENUM_PLUGINS_UCX_MAC_H

#include <stdbool.h>
#include <stddef.h>

enum { PL_UCX_MAC = 16, PL_UCX_KEY = 16 }; /* bytes */

void pl_ucx_mac(const unsigned char key[PL_UCX_KEY], const void *data, size_t length, unsigned char mac[PL_UCX_MAC]);

/* Compares in a time that does not depend on the codes. */
bool pl_ucx_mac_equal(const unsigned char a[PL_UCX_MAC], const unsigned char b[PL_UCX_MAC]);

#endif
