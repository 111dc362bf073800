/* SPDX-License-Identifier: BSD-3-Clause */
/* What the code asks of the compiler beyond C11; gcc and clang both have it. */
#ifndef PLENUM_CORE_BASE_COMPILER_H
#define PLENUM_CORE_BASE_COMPILER_H

#if __SIZEOF_POINTER__ != 8
#error "Plenum needs a 64-bit machine"
#endif

/* Code for one kind of processor stands beside code for any. MODE=portable leaves the former out, so that the latter is
 * tested where development happens (make check-portable). */
#if defined(__x86_64__) && !defined(PL_PORTABLE)
#define PL_X86_64 1
#else
#define PL_X86_64 0
#endif

/* A branch that nearly always goes one way. The other side moves out of the fast path. */
#define pl_likely(condition)   __builtin_expect(!!(condition), 1)
#define pl_unlikely(condition) __builtin_expect(!!(condition), 0)

/* Function attributes. They stand first in a declaration, or behind `static`. */
#define PL_COLD     __attribute__((cold)) /* of failures: laid out apart, and a branch to it is unlikely */
#define PL_NOINLINE __attribute__((noinline))
#define PL_PURE     __attribute__((pure))     /* without effects: a call whose result is not used is left out */
#define PL_NORETURN __attribute__((noreturn)) /* unlike _Noreturn, part of the type of a pointer to the function */
#define PL_EXPORT   __attribute__((visibility("default"))) /* also of objects: seen outside the shared object */

/* Argument number `text` is printf's format, and its values begin at argument `first`; 0: they are a va_list. */
#define PL_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Which sanitizer the code is built for: gcc defines a macro, clang has a feature. */
#if defined(__SANITIZE_ADDRESS__)
#define PL_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define PL_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PL_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define PL_THREAD_SANITIZER 1
#endif
#endif
#ifndef PL_ADDRESS_SANITIZER
#define PL_ADDRESS_SANITIZER 0
#endif
#ifndef PL_THREAD_SANITIZER
#define PL_THREAD_SANITIZER 0
#endif

/*
 * The unit in which caches move memory. What different threads or processes write stands in different lines:
 *
 *     struct counters {
 *         PL_CACHE_ALIGNED _Atomic uint32_t mine;
 *         PL_CACHE_ALIGNED _Atomic uint32_t theirs;
 *     };
 *
 * Shared memory is laid out by this number, so it is the same for all processes of a node.
 */
enum { PL_CACHE_LINE = 64 };
#define PL_CACHE_ALIGNED _Alignas(PL_CACHE_LINE)

#endif
