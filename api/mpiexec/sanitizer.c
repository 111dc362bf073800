/* SPDX-License-Identifier: BSD-3-Clause */
/* In builds with a leak checker: leaks of the PMIx library are not reported. No effect in other builds. */
const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix\n";
}
