! SPDX-License-Identifier: BSD-3-Clause
! A profiling tool in Fortran takes the place of procedures of all three interfaces, and one in C below sees the calls of
! all (MPI-5.0, sections 15.2 and 19.1.5). Buffers with gaps, sentinels and absent arguments pass through both.
! ranks: 1 2 3
program profiling
  use mpi_f08
  use profiling_part, only: seen
  implicit none
  interface
    subroutine profiling_mpi(rank, ranks)
      integer, intent(in) :: rank, ranks
    end subroutine
    subroutine profiling_mpif(rank, ranks)
      integer, intent(in) :: rank, ranks
    end subroutine
    integer function profiling_sends() bind(C)
    end function
    integer function profiling_strange() bind(C)
    end function
  end interface
  integer :: rank, ranks, next, prev, a(3, 4), b(3, 4), i, total, before
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks); prev = mod(rank + ranks - 1, ranks)
  a = reshape([(100 * rank + i, i = 1, 12)], shape(a))
  b = -1
  before = profiling_sends()
  call MPI_Irecv(b(2, 4:1:-1), 4, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, request)
  call MPI_Send(a(1:3:2, 2:3), 4, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call expect(all(b(2, 4:1:-1) == 100 * prev + [4, 6, 7, 9]), 'sections through a tool')
  call expect(count(b == -1) == 8, 'what lies between, through a tool')
  call expect(seen%sends == 1 .and. seen%sent_rank == 2 .and. seen%sent_size == 4, 'MPI_Send_f08ts in a tool')
  call expect(seen%waits == 1, 'MPI_Wait_f08 in a tool')
  call expect(profiling_sends() == before + 1, 'MPI_Send of C below MPI_Send_f08ts')
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect(total == ranks * (ranks + 1) / 2 .and. seen%reductions == 1, 'MPI_IN_PLACE through a tool')
  call profiling_mpi(rank, ranks)
  call expect(seen%sends_mpi == 1, 'MPI_Send_fts in a tool')
  call profiling_mpif(rank, ranks)
  call expect(profiling_strange() == 0, 'calls in C that no program has made')
  call expect(profiling_sends() == before + 3, 'MPI_Send of C below all interfaces')
  call MPI_Finalize()
contains
  include 'expect.inc'
end program
