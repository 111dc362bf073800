! SPDX-License-Identifier: BSD-3-Clause
! Every procedure of mpi_f08 without its optional ierror; absent.py writes the program.
! ranks: 1 2
include 'absent.inc'
