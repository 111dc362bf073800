/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that contains a solver and its MPI, and has none otherwise. */
#include <stdio.h>

#include "solver.h"

int main(void)
{
    for (int i = 0; i < 3; i++)
        if (solver_solve(2) < 0)
            return 1;
    printf("well\n");
    return 0;
}
