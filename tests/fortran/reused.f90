! SPDX-License-Identifier: BSD-3-Clause
! The number of a request that is complete is that of a new one at once, before the call that completes the first returns:
! sections with copies keep to their requests.
! ranks: 1 2 3
module reused_state
  use mpi_f08
  implicit none
  integer, asynchronous :: late(5)
  integer :: rank
  type(MPI_Request) :: new
  type(MPI_Datatype) :: one
  logical :: wanted = .false.
contains
  subroutine reused_meanwhile() bind(C)
    if (.not. wanted) return
    wanted = .false.
    late = -1
    call MPI_Irecv(late(1:5:2), 3, one, rank, 5, MPI_COMM_WORLD, new)
  end subroutine
end module

program reused
  use reused_state
  implicit none
  integer, asynchronous :: early(6)
  integer :: ranks, next, prev, round, again, first
  type(MPI_Request) :: requests(2)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks); prev = mod(rank + ranks - 1, ranks)
  call MPI_Type_contiguous(1, MPI_INTEGER, one)
  call MPI_Type_commit(one)
  again = 0
  do round = 1, 20
    early = -1
    call MPI_Irecv(early(2:6:2), 3, one, prev, 4, MPI_COMM_WORLD, requests(1))
    requests(2) = MPI_REQUEST_NULL
    first = requests(1)%MPI_VAL
    call MPI_Send([1, 2, 3] * round + rank, 3, MPI_INTEGER, next, 4, MPI_COMM_WORLD)
    wanted = .true.
    if (mod(round, 2) == 0) then
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    else
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    end if
    call expect(all(early(2:6:2) == [1, 2, 3] * round + prev) .and. all(early(1:5:2) == -1), 'what has come')
    call expect(all(late == -1) .and. new /= MPI_REQUEST_NULL, 'a receive that is not complete')
    if (new%MPI_VAL == first) again = again + 1
    call MPI_Send([7, 8, 9] * round, 3, MPI_INTEGER, rank, 5, MPI_COMM_WORLD)
    call MPI_Wait(new, MPI_STATUS_IGNORE)
    call expect(all(late == [7 * round, -1, 8 * round, -1, 9 * round]), 'a receive with the number of another request')
  end do
  call expect(again > 0, 'a number that is used again')
  call MPI_Type_free(one)
  call MPI_Finalize()
contains
  include 'expect.inc'
end program
