/* SPDX-License-Identifier: BSD-3-Clause */
#include <ISO_Fortran_binding.h>
#include <stdint.h>

int expressions_read(const CFI_cdesc_t *what, int value)
{
    return (intptr_t)what->base_addr == value ? 0 : *(const int *)what->base_addr;
}
