/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of Plenum, repeated in api/plenum.h and the pkg-config file. */
#ifndef PLENUM_CORE_BASE_VERSION_H
#define PLENUM_CORE_BASE_VERSION_H

#define PL_VERSION "0.1.0"

/* What processes send to each other. Those with different numbers refuse to connect: a change of a message, of a card,
 * of how processes meet, or of the messages of a collective (core/coll/select.c) raises it. Below 256. A build for
 * tests may have another one (CPPFLAGS=-DPL_WIRE_VERSION=200u). */
#ifndef PL_WIRE_VERSION
#define PL_WIRE_VERSION 8u
#endif

#endif
