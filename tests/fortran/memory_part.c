/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an allocation of the Fortran library fail: malloc() and calloc() of the program, which the library calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int left; /* allocations until one fails; 0: none fails */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);

void memory_fail(const int *number);
int memory_failed(void);
int memory_can_name(void);

/* The allocation of this number, counted from 1, fails. */
void memory_fail(const int *number)
{
    left = *number;
}

/* Whether it has failed. */
int memory_failed(void)
{
    int failed = left <= 0;
    left = 0;
    return failed;
}

/* Whether the C library has the functions by which errors name procedures of Fortran: Plenum's has. */
int memory_can_name(void)
{
    return dlsym(RTLD_DEFAULT, "MPIX_Comm_raise") != NULL;
}

static int memory_is_short(void *caller)
{
    static int busy; /* what dladdr() allocates */
    Dl_info info;
    if (left <= 0 || busy)
        return 0;
    busy = 1;
    int found = dladdr(caller, &info) && strstr(info.dli_fname, "libmpifort_abi") != NULL;
    busy = 0;
    return found && --left == 0 ? (left = -1) : 0;
}

__attribute__((noinline)) void *malloc(size_t bytes)
{
    return memory_is_short(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

__attribute__((noinline)) void *calloc(size_t count, size_t bytes)
{
    return memory_is_short(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

char *strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = memory_is_short(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
