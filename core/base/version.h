/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of Plenum, repeated in api/plenum.h and the pkg-config file. */
#ifndef PLENUM_CORE_BASE_VERSION_H
#define PLENUM_CORE_BASE_VERSION_H

#define PL_VERSION "0.1.0"

#endif
