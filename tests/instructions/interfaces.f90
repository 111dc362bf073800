! SPDX-License-Identifier: BSD-3-Clause
! Each call of interfaces.c in each Fortran interface, in a procedure of its own; calls of procedures that do nothing.
module steps_data
  implicit none
  integer, parameter :: tag = 3
  double precision, save, asynchronous :: out = 1, in = 0, all(1), several(4) = 1, received(4)
end module

module steps_f08
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  use steps_data
  implicit none
  type(MPI_Comm), bind(C, name='steps_f08_comm') :: comm
  type(MPI_Request), save :: requests(2)
  interface
    subroutine floor_send(buf, count, datatype, dest, tag, comm, ierror) bind(C)
      import
      type(*), dimension(..), intent(in) :: buf
      integer(c_int), intent(in) :: count, dest, tag
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), optional, intent(out) :: ierror
    end subroutine
    subroutine floor_allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror) bind(C)
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
contains
  subroutine step_f08_send() bind(C)
    call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, 0, tag, comm)
  end subroutine
  subroutine step_f08_recv() bind(C)
    call MPI_Recv(in, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, MPI_STATUS_IGNORE)
  end subroutine
  subroutine step_f08_isend() bind(C)
    call MPI_Isend(out, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, requests(1))
  end subroutine
  subroutine step_f08_irecv() bind(C)
    call MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, requests(2))
  end subroutine
  subroutine step_f08_wait() bind(C)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  end subroutine
  subroutine step_f08_waitall() bind(C)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end subroutine
  subroutine step_f08_bcast() bind(C)
    call MPI_Bcast(out, 1, MPI_DOUBLE_PRECISION, 0, comm)
  end subroutine
  subroutine step_f08_allreduce() bind(C)
    call MPI_Allreduce(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  end subroutine
  subroutine step_f08_allgather() bind(C)
    call MPI_Allgather(out, 1, MPI_DOUBLE_PRECISION, all, 1, MPI_DOUBLE_PRECISION, comm)
  end subroutine
  subroutine step_f08_barrier() bind(C)
    call MPI_Barrier(comm)
  end subroutine
  subroutine step_f08_send_array() bind(C)
    call MPI_Send(several, 1, MPI_DOUBLE_PRECISION, 0, tag, comm)
  end subroutine
  subroutine step_f08_allreduce_array() bind(C)
    call MPI_Allreduce(several, received, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  end subroutine
  subroutine step_floor_send() bind(C)
    call floor_send(out, 1, MPI_DOUBLE_PRECISION, 0, tag, comm)
  end subroutine
  subroutine step_floor_allreduce() bind(C)
    call floor_allreduce(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  end subroutine
  subroutine step_floor_send_array() bind(C)
    call floor_send(several, 1, MPI_DOUBLE_PRECISION, 0, tag, comm)
  end subroutine
  subroutine step_floor_allreduce_array() bind(C)
    call floor_allreduce(several, received, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  end subroutine
end module

module steps_mpi
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  use steps_data
  implicit none
  integer(c_int), bind(C, name='steps_mpi_comm') :: comm
  integer, save :: requests(2), ierror
contains
  subroutine step_mpi_send() bind(C)
    call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, ierror)
  end subroutine
  subroutine step_mpi_recv() bind(C)
    call MPI_Recv(in, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, MPI_STATUS_IGNORE, ierror)
  end subroutine
  subroutine step_mpi_isend() bind(C)
    call MPI_Isend(out, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, requests(1), ierror)
  end subroutine
  subroutine step_mpi_irecv() bind(C)
    call MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, requests(2), ierror)
  end subroutine
  subroutine step_mpi_wait() bind(C)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  end subroutine
  subroutine step_mpi_waitall() bind(C)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  end subroutine
  subroutine step_mpi_bcast() bind(C)
    call MPI_Bcast(out, 1, MPI_DOUBLE_PRECISION, 0, comm, ierror)
  end subroutine
  subroutine step_mpi_allreduce() bind(C)
    call MPI_Allreduce(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
  end subroutine
  subroutine step_mpi_allgather() bind(C)
    call MPI_Allgather(out, 1, MPI_DOUBLE_PRECISION, all, 1, MPI_DOUBLE_PRECISION, comm, ierror)
  end subroutine
  subroutine step_mpi_barrier() bind(C)
    call MPI_Barrier(comm, ierror)
  end subroutine
end module

module steps_mpif
  use, intrinsic :: iso_c_binding, only: c_int
  use steps_data
  implicit none
  include 'mpif.h'
  integer(c_int), bind(C, name='steps_mpif_comm') :: comm
  integer, save :: requests(2), ierror
contains
  subroutine step_mpif_send() bind(C)
    call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, ierror)
  end subroutine
  subroutine step_mpif_recv() bind(C)
    call MPI_Recv(in, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, MPI_STATUS_IGNORE, ierror)
  end subroutine
  subroutine step_mpif_isend() bind(C)
    call MPI_Isend(out, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, requests(1), ierror)
  end subroutine
  subroutine step_mpif_irecv() bind(C)
    call MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, 0, tag, comm, requests(2), ierror)
  end subroutine
  subroutine step_mpif_wait() bind(C)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  end subroutine
  subroutine step_mpif_waitall() bind(C)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  end subroutine
  subroutine step_mpif_bcast() bind(C)
    call MPI_Bcast(out, 1, MPI_DOUBLE_PRECISION, 0, comm, ierror)
  end subroutine
  subroutine step_mpif_allreduce() bind(C)
    call MPI_Allreduce(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
  end subroutine
  subroutine step_mpif_allgather() bind(C)
    call MPI_Allgather(out, 1, MPI_DOUBLE_PRECISION, all, 1, MPI_DOUBLE_PRECISION, comm, ierror)
  end subroutine
  subroutine step_mpif_barrier() bind(C)
    call MPI_Barrier(comm, ierror)
  end subroutine
end module
