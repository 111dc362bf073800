/* SPDX-License-Identifier: BSD-3-Clause */
/* In builds with a leak checker: what the PMIx library keeps to itself is not ours to report. Ignored elsewhere. */
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
