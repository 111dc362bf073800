! SPDX-License-Identifier: BSD-3-Clause
! A sentinel that a procedure has got as an array, and passes on.
subroutine steps_in_place(sent, totals, type, op, comm)
  use mpi_f08
  implicit none
  integer, intent(inout) :: totals(3)
  integer :: sent(*)
  integer, intent(in) :: type, op, comm
  call MPI_Allreduce(sent, totals, 3, MPI_Datatype(type), MPI_Op(op), MPI_Comm(comm))
end subroutine
