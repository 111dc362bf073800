! SPDX-License-Identifier: BSD-3-Clause
! Each way through a procedure: handles of constants and of the program in all combinations, with the optional ierror and
! without it, buffers that are variables, arrays and sentinels. Data are right, and errors reach ierror.
! ranks: 1 2 3
module steps_operations
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
contains
  subroutine add(invec, inoutvec, length, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    integer :: bytes
    call MPI_Type_size(datatype, bytes)
    call c_f_pointer(invec, a, [length * bytes / 4])
    call c_f_pointer(inoutvec, b, [length * bytes / 4])
    b = a + b
  end subroutine
end module

program steps
  use steps_operations
  implicit none
  type(MPI_Comm) :: comms(2)
  type(MPI_Datatype) :: types(2)
  type(MPI_Op) :: ops(2)
  integer :: rank, ranks, i, j, k
  external :: steps_in_place ! without an interface, as old programs call it
  interface
    subroutine steps_mpif(comm, type, op, number)
      integer, intent(in) :: comm, type, op, number
    end subroutine
  end interface

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  comms(1) = MPI_COMM_WORLD
  call MPI_Comm_dup(MPI_COMM_WORLD, comms(2))
  types(1) = MPI_INTEGER
  call MPI_Type_contiguous(1, MPI_INTEGER, types(2))
  call MPI_Type_commit(types(2))
  ops(1) = MPI_SUM
  call MPI_Op_create(add, .true., ops(2))
  call MPI_Comm_set_errhandler(comms(1), MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(comms(2), MPI_ERRORS_RETURN)
  do i = 1, 2
    do j = 1, 2
      call messages(comms(i), types(j))
      call requests(comms(i), types(j))
      do k = 1, 2
        if (j == 2 .and. k == 1) cycle ! no predefined operation takes a type of the program
        call sums(comms(i), types(j), ops(k))
        call steps_mpif(comms(i)%MPI_VAL, types(j)%MPI_VAL, ops(k)%MPI_VAL, rank + 1)
      end do
    end do
  end do
  call MPI_Op_free(ops(2))
  call MPI_Type_free(types(2))
  call MPI_Comm_free(comms(2))
  call MPI_Finalize()
contains
  include 'expect.inc'

  subroutine sums(comm, type, op)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Datatype), intent(in) :: type
    type(MPI_Op), intent(in) :: op
    integer :: one, total, several(3), totals(3), square(2, 2), wanted, error
    wanted = ranks * (ranks + 1) / 2
    one = rank + 1; total = 0; error = -7
    call MPI_Allreduce(one, total, 1, type, op, comm)
    call expect(total == wanted, 'a sum of variables')
    total = 0
    call MPI_Allreduce(one, total, 1, type, op, comm, error)
    call expect(total == wanted .and. error == MPI_SUCCESS, 'a sum of variables, with ierror')
    several = [1, 10, 100] * one; totals = 0
    call MPI_Allreduce(several, totals, 3, type, op, comm)
    call expect(all(totals == [1, 10, 100] * wanted), 'a sum of arrays')
    totals = several; error = -7
    call MPI_Allreduce(MPI_IN_PLACE, totals, 3, type, op, comm, error)
    call expect(all(totals == [1, 10, 100] * wanted) .and. error == MPI_SUCCESS, 'a sum in place')
    square = one
    call MPI_Allreduce(MPI_IN_PLACE, square, 4, type, op, comm)
    call expect(all(square == wanted), 'a sum of an array with two dimensions')
    totals = one
    call steps_in_place(MPI_IN_PLACE, totals, type%MPI_VAL, op%MPI_VAL, comm%MPI_VAL)
    call expect(all(totals == wanted), 'a sum in place, through a procedure')
    error = -7
    call MPI_Allreduce(one, total, -1, type, op, comm, error)
    call expect(error == MPI_ERR_COUNT, 'an error of a sum')
    call MPI_Allreduce(one, total, -1, type, op, comm)
  end subroutine

  subroutine messages(comm, type)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Datatype), intent(in) :: type
    integer :: sent(2), got(2), number, error
    type(MPI_Status) :: status
    type(MPI_Request) :: request
    sent = [rank + 1, 77]; got = 0; error = -7
    call MPI_Irecv(got, 2, type, MPI_ANY_SOURCE, 1, comm, request)
    call MPI_Send(sent, 2, type, mod(rank + 1, ranks), 1, comm, error)
    call expect(error == MPI_SUCCESS, 'a send, with ierror')
    call MPI_Wait(request, status)
    call expect(got(1) == status%MPI_SOURCE + 1 .and. got(2) == 77 .and. request == MPI_REQUEST_NULL, 'a message')
    call MPI_Isend(rank, 1, type, mod(rank + 1, ranks), 2, comm, request)
    number = -1; error = -7
    call MPI_Recv(number, 1, type, mod(rank + ranks - 1, ranks), 2, comm, MPI_STATUS_IGNORE, error)
    call expect(number == mod(rank + ranks - 1, ranks) .and. error == MPI_SUCCESS, 'a receive, with ierror')
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Send(sent, 1, type, ranks, 1, comm, error)
    call expect(error == MPI_ERR_RANK, 'an error of a send')
    call MPI_Send(sent, 1, type, ranks, 1, comm)
    number = rank
    call MPI_Bcast(number, 1, type, ranks - 1, comm)
    call expect(number == ranks - 1, 'a broadcast')
    number = rank; error = -7
    call MPI_Bcast(number, 1, type, 0, comm, error)
    call expect(number == 0 .and. error == MPI_SUCCESS, 'a broadcast, with ierror')
    call MPI_Barrier(comm)
    error = -7
    call MPI_Barrier(comm, error)
    call expect(error == MPI_SUCCESS, 'a barrier, with ierror')
  end subroutine

  ! An array of requests with constants among them, of any length, and errors that leave a request alone.
  subroutine requests(comm, type)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Datatype), intent(in) :: type
    integer, parameter :: lengths(3) = [2, 16, 40]
    type(MPI_Request) :: list(41)
    integer :: sent(41), got(41), n, m, error
    do m = 1, size(lengths)
      got = 0
      sent = [(100 * rank + n, n = 1, 41)]
      list = MPI_REQUEST_NULL
      do n = 1, lengths(m), 2
        call MPI_Irecv(got(n), 1, type, mod(rank + ranks - 1, ranks), n, comm, list(n), error)
        call expect(error == MPI_SUCCESS .and. list(n) /= MPI_REQUEST_NULL, 'a request, with ierror')
      end do
      do n = 1, lengths(m), 2
        call MPI_Send(sent(n), 1, type, mod(rank + 1, ranks), n, comm)
      end do
      error = -7
      call MPI_Waitall(lengths(m) + 1, list, MPI_STATUSES_IGNORE, error)
      call expect(error == MPI_SUCCESS .and. all(list%MPI_VAL == MPI_REQUEST_NULL%MPI_VAL), 'requests that are complete')
      call expect(all(got(1:lengths(m):2) == [(100 * mod(rank + ranks - 1, ranks) + n, n = 1, lengths(m), 2)]), 'their data')
    end do
    list(1) = MPI_REQUEST_NULL
    call MPI_Irecv(got, 1, type, ranks, 1, comm, list(1), error)
    call expect(error == MPI_ERR_RANK .and. list(1) == MPI_REQUEST_NULL, 'a request that was not made')
    call MPI_Waitall(0, list, MPI_STATUSES_IGNORE, error)
    call expect(error == MPI_SUCCESS, 'no requests')
  end subroutine
end program
