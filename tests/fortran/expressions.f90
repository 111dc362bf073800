! SPDX-License-Identifier: BSD-3-Clause
! Buffers that are expressions: the data is in memory that the compiler makes for the call.
! ranks: 1 2 3
module expressions_part
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    ! The integer that the descriptor of the first argument leads to, or 0 where its address is `value` itself.
    integer(c_int) function expressions_read(what, value) bind(C)
      import :: c_int
      type(*), dimension(..), intent(in) :: what
      integer(c_int), value :: value
    end function
  end interface
end module

program expressions
  use mpi_f08
  use expressions_part
  implicit none
  integer :: rank, ranks, next, prev, got, both(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks); prev = mod(rank + ranks - 1, ranks)
  if (expressions_read(rank + 5, rank + 5) /= rank + 5) then
    print *, 'this compiler passes the value of a scalar expression as its address'
    call MPI_Finalize()
    stop 77, quiet=.true.
  end if
  call MPI_Sendrecv(rank + 5, 1, MPI_INTEGER, next, 1, got, 1, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call expect(got == prev + 5, 'a sum')
  call MPI_Allreduce(iand(rank, 1), got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect(got == ranks / 2, 'a function')
  call MPI_Allreduce([rank, 1] + 1, both, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect(both(1) == ranks * (ranks + 1) / 2 .and. both(2) == 2 * ranks, 'an array')
  call MPI_Finalize()
contains
  include 'expect.inc'
end program
