/* SPDX-License-Identifier: BSD-3-Clause */
/* See machine.h. */
#include "api/mpiexec/machine.h"

#include <string.h>
#include <unistd.h>

bool machine_is_this(const char *name, size_t length)
{
    static const char *const local[] = { "localhost", "127.0.0.1", "::1" };
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (strlen(local[i]) == length && memcmp(local[i], name, length) == 0)
            return true;
    size_t brief = strcspn(host, ".");
    return (strlen(host) == length || brief == length) && length > 0 && memcmp(host, name, length) == 0;
}
