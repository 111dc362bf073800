#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran interfaces of MPI from procedures.txt and mpi.h into a folder, and those of the extensions from
extensions.txt and mpi-ext.h.

    generate.py TABLE MPI_H EXTENSIONS MPI_EXT_H FOLDER

Written by declarations.py:

    mpif.h                 constants
    mpi_constants.f90      kinds, integer constants, sentinels: what the modules share
    mpi_f08_types.f90      TYPE(MPI_Comm) ..., their constants and operators
    mpi.f90, mpi_f08.f90   the modules
    mpif-ext.h, mpi_ext.f90, mpi_f08_ext.f90   constants and modules of the extensions

and by bodies.py:

    procedures_N.c         bodies: each converts its arguments, calls the C function, and converts back

A procedure has up to four linker names. `mpi_send_` takes buffers by address: mpif.h calls it. `mpi_send_fts_` (module
mpi) and `mpi_send_f08ts_` (mpi_f08) take descriptors; they are one function, since TYPE(MPI_Comm) is one INTEGER.
`mpi_send_c_f08ts_` is the large-count form. A procedure without buffers has `mpi_x_`, which module mpi calls as well,
`mpi_x_f08_` and `mpi_x_c_f08_`. Each has a twin with `pmpi_`; the name with `mpi_` is weak.
"""
import os
import sys

from bodies import write_bodies
from declarations import read_constants, write_declarations, write_extensions
from table import read_table


def main():
    """Writes everything."""
    table, header, extensions, extensions_header, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    procedures = read_table(table)
    write_declarations(header, procedures, folder)
    write_extensions(extensions_header, read_constants(header), read_table(extensions, 'MPIX_'), folder)
    write_bodies(procedures, folder)


if __name__ == '__main__':
    main()
