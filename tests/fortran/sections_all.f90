! SPDX-License-Identifier: BSD-3-Clause
! Array sections with gaps in all procedures that take buffers; sections_all.py writes the program.
! seconds: 120
include 'sections_all.inc'
