/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of Open MPI's and MPICH's launchers that have no effect here, or that cannot be done. */
#ifndef PLENUM_MPIEXEC_OTHERS_H
#define PLENUM_MPIEXEC_OTHERS_H

#include <stdbool.h>
#include <stddef.h>

struct other {
    const char *name;
    int arguments;
    bool refused;
    const char *text; /* why it has no effect; refused: what to do instead */
};

/* NULL: the option is not known. */
const struct other *others_find(const char *name, size_t length);

#endif
