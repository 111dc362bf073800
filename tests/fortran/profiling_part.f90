! SPDX-License-Identifier: BSD-3-Clause
! The tool of profiling.f90. What has a choice buffer is BIND(C) with its linker name; the others are plain Fortran.
module profiling_part
  implicit none
  type record
    integer :: sends = 0, sends_mpi = 0, sends_mpif = 0, waits = 0, reductions = 0, sent_rank = 0, sent_size = 0
  end type
  type(record) :: seen
end module

subroutine MPI_Send_f08ts(buf, count, datatype, dest, tag, comm, ierror) bind(C, name='mpi_send_f08ts_')
  use :: mpi_f08, own => MPI_Send_f08ts
  use :: profiling_part
  implicit none
  type(*), dimension(..), intent(in) :: buf
  integer, intent(in) :: count, dest, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  seen%sends = seen%sends + 1
  seen%sent_rank = rank(buf)
  seen%sent_size = size(buf)
  call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

subroutine MPI_Allreduce_f08ts(sendbuf, recvbuf, count, datatype, op, comm, ierror) bind(C, name='mpi_allreduce_f08ts_')
  use :: mpi_f08, own => MPI_Allreduce_f08ts
  use :: profiling_part
  implicit none
  type(*), dimension(..), intent(in) :: sendbuf
  type(*), dimension(..) :: recvbuf
  integer, intent(in) :: count
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Op), intent(in) :: op
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  seen%reductions = seen%reductions + 1
  call PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror)
end subroutine

subroutine MPI_Wait_f08(request, status, ierror)
  use :: mpi_f08, own => MPI_Wait_f08
  use :: profiling_part
  implicit none
  type(MPI_Request), intent(inout) :: request
  type(MPI_Status) :: status
  integer, optional, intent(out) :: ierror
  seen%waits = seen%waits + 1
  call PMPI_Wait(request, status, ierror)
end subroutine

subroutine MPI_Send_fts(buf, count, datatype, dest, tag, comm, ierror) bind(C, name='mpi_send_fts_')
  use :: mpi, own => MPI_Send_fts
  use :: profiling_part
  implicit none
  type(*), dimension(..) :: buf
  integer :: count, datatype, dest, tag, comm, ierror
  seen%sends_mpi = seen%sends_mpi + 1
  call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

subroutine profiling_mpi(rank, ranks)
  use mpi
  implicit none
  integer, intent(in) :: rank, ranks
  integer :: a(5), b(3), request, ierror
  a = [1, 2, 3, 4, 5] + 10 * rank
  call MPI_Irecv(b, 3, MPI_INTEGER, mod(rank + ranks - 1, ranks), 2, MPI_COMM_WORLD, request, ierror)
  call MPI_Send(a(5:1:-2), 3, MPI_INTEGER, mod(rank + 1, ranks), 2, MPI_COMM_WORLD, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call expect(all(b == [5, 3, 1] + 10 * mod(rank + ranks - 1, ranks)), 'a section through a tool, module mpi')
contains
  include 'expect.inc'
end subroutine
