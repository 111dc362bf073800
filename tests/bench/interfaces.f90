! SPDX-License-Identifier: BSD-3-Clause
! One block of calls in each Fortran interface, for interfaces.c: there and back, both ways at once, a sum over all.
subroutine block_f08(shape, turns, rank, comm) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  implicit none
  integer(c_int), value :: shape, turns, rank, comm
  type(MPI_Request) :: requests(2)
  integer(kind=MPI_ADDRESS_KIND) :: one(1), other(1)
  integer :: i
  one = rank
  do i = 1, turns
    if (shape == 2) then
      call MPI_Allreduce(one, other, 1, MPI_AINT, MPI_MAX, MPI_Comm(comm))
    else if (shape == 1) then
      call MPI_Irecv(other, 1, MPI_AINT, 1 - rank, 3, MPI_Comm(comm), requests(1))
      call MPI_Isend(one, 1, MPI_AINT, 1 - rank, 3, MPI_Comm(comm), requests(2))
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    else if (rank == 0) then
      call MPI_Send(one, 1, MPI_AINT, 1, 3, MPI_Comm(comm))
      call MPI_Recv(other, 1, MPI_AINT, 1, 3, MPI_Comm(comm), MPI_STATUS_IGNORE)
    else
      call MPI_Recv(other, 1, MPI_AINT, 0, 3, MPI_Comm(comm), MPI_STATUS_IGNORE)
      call MPI_Send(one, 1, MPI_AINT, 0, 3, MPI_Comm(comm))
    end if
  end do
end subroutine block_f08

subroutine block_mpi(shape, turns, rank, comm) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  implicit none
  integer(c_int), value :: shape, turns, rank, comm
  integer :: requests(2), i, ierror
  integer(kind=MPI_ADDRESS_KIND) :: one(1), other(1)
  one = rank
  do i = 1, turns
    if (shape == 2) then
      call MPI_Allreduce(one, other, 1, MPI_AINT, MPI_MAX, comm, ierror)
    else if (shape == 1) then
      call MPI_Irecv(other, 1, MPI_AINT, 1 - rank, 3, comm, requests(1), ierror)
      call MPI_Isend(one, 1, MPI_AINT, 1 - rank, 3, comm, requests(2), ierror)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    else if (rank == 0) then
      call MPI_Send(one, 1, MPI_AINT, 1, 3, comm, ierror)
      call MPI_Recv(other, 1, MPI_AINT, 1, 3, comm, MPI_STATUS_IGNORE, ierror)
    else
      call MPI_Recv(other, 1, MPI_AINT, 0, 3, comm, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(one, 1, MPI_AINT, 0, 3, comm, ierror)
    end if
  end do
end subroutine block_mpi

subroutine block_mpif(shape, turns, rank, comm) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  include 'mpif.h'
  integer(c_int), value :: shape, turns, rank, comm
  integer :: requests(2), i, ierror
  integer(kind=MPI_ADDRESS_KIND) :: one(1), other(1)
  one = rank
  do i = 1, turns
    if (shape == 2) then
      call MPI_Allreduce(one, other, 1, MPI_AINT, MPI_MAX, comm, ierror)
    else if (shape == 1) then
      call MPI_Irecv(other, 1, MPI_AINT, 1 - rank, 3, comm, requests(1), ierror)
      call MPI_Isend(one, 1, MPI_AINT, 1 - rank, 3, comm, requests(2), ierror)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    else if (rank == 0) then
      call MPI_Send(one, 1, MPI_AINT, 1, 3, comm, ierror)
      call MPI_Recv(other, 1, MPI_AINT, 1, 3, comm, MPI_STATUS_IGNORE, ierror)
    else
      call MPI_Recv(other, 1, MPI_AINT, 0, 3, comm, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(one, 1, MPI_AINT, 0, 3, comm, ierror)
    end if
  end do
end subroutine block_mpif

module least
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  implicit none
  interface
    subroutine least_send(buf, count, datatype, dest, tag, comm, ierror) bind(C)
      import
      type(*), dimension(..), intent(in) :: buf
      integer(c_int), intent(in) :: count, dest, tag
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), optional, intent(out) :: ierror
    end subroutine
    subroutine least_recv(buf, count, datatype, source, tag, comm, status, ierror) bind(C)
      import
      type(*), dimension(..) :: buf
      integer(c_int), intent(in) :: count, source, tag
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer(c_int), optional, intent(out) :: ierror
    end subroutine
    subroutine least_allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror) bind(C)
      import
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), optional, intent(out) :: ierror
    end subroutine
  end interface
end module least

subroutine block_least(shape, turns, rank, comm) bind(C)
  use least
  implicit none
  integer(c_int), value :: shape, turns, rank, comm
  integer(kind=MPI_ADDRESS_KIND) :: one(1), other(1)
  integer :: i
  one = rank
  do i = 1, turns
    if (shape == 2) then
      call least_allreduce(one, other, 1, MPI_AINT, MPI_MAX, MPI_Comm(comm))
    else if (rank == 0) then
      call least_send(one, 1, MPI_AINT, 1, 3, MPI_Comm(comm))
      call least_recv(other, 1, MPI_AINT, 1, 3, MPI_Comm(comm), MPI_STATUS_IGNORE)
    else
      call least_recv(other, 1, MPI_AINT, 0, 3, MPI_Comm(comm), MPI_STATUS_IGNORE)
      call least_send(one, 1, MPI_AINT, 0, 3, MPI_Comm(comm))
    end if
  end do
end subroutine block_least
