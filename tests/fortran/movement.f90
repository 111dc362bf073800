! SPDX-License-Identifier: BSD-3-Clause
! What an optimizing compiler may move or keep in registers (MPI-5.0, sections 19.1.10 to 19.1.20): each of the standard's
! remedies works when this is compiled with -O3: ASYNCHRONOUS, MPI_F_sync_reg, module variables, TARGET.
! ranks: 1 2 3
module movement_state
  use mpi_f08
  implicit none
  integer :: shared_value
end module

program movement
  use movement_state
  implicit none
  integer :: rank, ranks, next, prev, round
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks); prev = mod(rank + ranks - 1, ranks)
  do round = 1, 3
    call nonblocking()
    call by_sync_reg()
    call bottom()
    call in_module()
    call one_sided()
    call persistent()
    call split()
    call temporary()
  end do
  call MPI_Finalize()
contains
  include 'expect.inc'

  ! ASYNCHRONOUS protects variables and sections between the begin and the end of a call.
  subroutine nonblocking()
    integer, asynchronous :: got, sent, many(8), three(3)
    type(MPI_Request) :: r(4)
    got = -1; sent = 100 * rank + round; many = -1; three = [1, 2, 3] * round
    call MPI_Irecv(got, 1, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Irecv(many(2:8:3), 3, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, r(2))
    call MPI_Isend(sent, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(3))
    call MPI_Isend(three, 3, MPI_INTEGER, next, 2, MPI_COMM_WORLD, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
    call expect(got == 100 * prev + round, 'a variable that is ASYNCHRONOUS')
    call expect(all(many == [-1, 1, -1, -1, 2, -1, -1, 3] * merge(round, 1, many > 0)), 'a section that is ASYNCHRONOUS')
  end subroutine

  ! A call after completion, and one before the start, for a variable without attributes.
  subroutine by_sync_reg()
    integer :: got, sent(4)
    type(MPI_Request) :: r(2)
    got = -1; sent = [rank, 2, 3, round]
    call MPI_Irecv(got, 1, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(sent(1:4:3), 2, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, r(2))
    call MPI_Send(sent(4), 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(got)
    call MPI_F_sync_reg(sent(1:4:3))
    call expect(got == round .and. all(sent == [rank, 2, 3, round]), 'MPI_F_sync_reg')
    call PMPI_F_sync_reg(sent)
  end subroutine

  ! The variable is no argument: its address is in the datatype.
  subroutine bottom()
    integer :: value
    integer(MPI_ADDRESS_KIND) :: place
    type(MPI_Datatype) :: datatype
    call MPI_Get_address(value, place)
    call MPI_Type_create_hindexed(1, [1], [place], MPI_INTEGER, datatype)
    call MPI_Type_commit(datatype)
    value = 17 * rank + round
    call MPI_F_sync_reg(value)
    call MPI_Sendrecv_replace(MPI_BOTTOM, 1, datatype, next, 3, prev, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(value)
    call expect(value == 17 * prev + round, 'a variable by MPI_BOTTOM')
    call MPI_Type_free(datatype)
  end subroutine

  ! Any procedure may change a variable of a module that it can use.
  subroutine in_module()
    type(MPI_Request) :: request
    integer :: sent
    shared_value = -1
    sent = rank + 5
    call MPI_Irecv(shared_value, 1, MPI_INTEGER, prev, 4, MPI_COMM_WORLD, request)
    call MPI_Send(sent, 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(shared_value)
    call expect(shared_value == prev + 5, 'a variable of a module')
  end subroutine

  ! Others write to a window's memory between calls that do not name it.
  subroutine one_sided()
    integer, asynchronous, target :: memory(4)
    integer :: mine
    type(MPI_Win) :: win
    memory = -1
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    mine = rank + 30 * round
    call MPI_Put(mine, 1, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    call expect(all(memory == [-1, -1, prev + 30 * round, -1]), 'the memory of a window')
    call MPI_Win_free(win)
  end subroutine

  ! A persistent request is given its buffer once, and started often.
  subroutine persistent()
    integer, asynchronous :: got(3), sent(3)
    type(MPI_Request) :: r(2)
    integer :: i
    call MPI_Recv_init(got(1:3:2), 2, MPI_INTEGER, prev, 6, MPI_COMM_WORLD, r(1))
    call MPI_Send_init(sent(1:3:2), 2, MPI_INTEGER, next, 6, MPI_COMM_WORLD, r(2))
    do i = 1, 4
      got = 0
      sent = [i, -9, rank]
      call MPI_Startall(2, r)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
      call expect(all(got == [i, 0, prev]), 'the sections of persistent requests')
    end do
    call MPI_Request_free(r(1))
    call MPI_Request_free(r(2))
  end subroutine

  ! The end of a split collective names the buffer again.
  subroutine split()
    integer, asynchronous :: buffer(6)
    type(MPI_File) :: file
    buffer = [1, 2, 3, 4, 5, 6] + rank
    call MPI_File_open(MPI_COMM_SELF, '/dev/null', MPI_MODE_WRONLY, MPI_INFO_NULL, file)
    call MPI_File_write_all_begin(file, buffer(1:6:5), 2, MPI_INTEGER)
    call MPI_File_write_all_end(file, buffer(1:6:5), MPI_STATUS_IGNORE)
    call MPI_File_close(file)
    call expect(all(buffer == [1, 2, 3, 4, 5, 6] + rank), 'the buffer of a split collective')
  end subroutine

  ! Variables in which a compiler may hold an inner array for a loop.
  subroutine temporary()
    real, asynchronous :: buffer(40, 20)
    type(MPI_Request) :: r(2)
    real :: work(20, 10)
    integer :: i, j
    buffer = rank
    call MPI_Irecv(buffer(40, 1:20), 20, MPI_REAL, prev, 7, MPI_COMM_WORLD, r(1))
    call MPI_Isend(buffer(1, 1:20), 20, MPI_REAL, next, 7, MPI_COMM_WORLD, r(2))
    do j = 1, 10
      do i = 2, 21
        work(i - 1, j) = buffer(i, j) * 2 + j
      end do
    end do
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call expect(all(buffer(40, :) == prev) .and. all(buffer(1:39, :) == rank), 'a part that is received during a loop')
    call expect(all(work(:, 10) == 2 * rank + 10), 'what the loop has made')
  end subroutine
end program
