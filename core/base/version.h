/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of Plenum, repeated in api/plenum.h and the pkg-config file. */
#ifndef PLENUM_CORE_BASE_VERSION_H
#define PLENUM_CORE_BASE_VERSION_H

#define PL_VERSION "0.1.0"

/* What processes send to each other. Those with different numbers refuse to connect: a change of a message, of a card,
 * of how processes meet, or of the messages of a collective (core/coll/select.c) raises it. Below 64. A build for
 * tests may have another one (CPPFLAGS=-DPL_WIRE_VERSION=60u). */
#ifndef PL_WIRE_VERSION
#define PL_WIRE_VERSION 16u
#endif

/* How the machine stores numbers, which travel as they are: machines that differ refuse to connect, too. A build for
 * tests may claim to be another one. */
#define PL_NUMBERS_X86    0u /* little-endian, the long double of x86 */
#define PL_NUMBERS_LITTLE 1u /* little-endian, a long double of 128 bits: arm64, riscv64 */
#define PL_NUMBERS_POWER  2u /* little-endian, a long double made of two doubles: ppc64le */
#define PL_NUMBERS_BIG    3u /* big-endian: s390x */
#ifndef PL_NUMBERS
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PL_NUMBERS PL_NUMBERS_BIG
#elif __LDBL_MANT_DIG__ == 64
#define PL_NUMBERS PL_NUMBERS_X86
#elif __LDBL_MANT_DIG__ == 106
#define PL_NUMBERS PL_NUMBERS_POWER
#else
#define PL_NUMBERS PL_NUMBERS_LITTLE
#endif
#endif

/* A machine that stores numbers so. */
static inline const char *pl_numbers_name(unsigned numbers)
{
    static const char *const names[] = { "x86-64", "arm64", "ppc64le", "s390x" };
    return names[numbers & 3];
}

/* Both in one byte. */
#define PL_WIRE_MARK (PL_NUMBERS << 6 | PL_WIRE_VERSION)
#if PL_WIRE_VERSION > 63 || PL_NUMBERS > 3
#error "PL_WIRE_VERSION has 6 bits, PL_NUMBERS 2"
#endif

#endif
