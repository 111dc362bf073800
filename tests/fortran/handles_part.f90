! SPDX-License-Identifier: BSD-3-Clause
! The part of handles.f90 with module mpi: a message around all ranks, then the number of a freed communicator.
subroutine handles_other(comm)
  use mpi
  implicit none
  integer, intent(in) :: comm
  integer :: rank, ranks, own, copy, type, error, requests(2)
  double precision :: sent(3), received(3)
  call MPI_Comm_rank(comm, rank, error)
  call MPI_Comm_size(comm, ranks, error)
  call MPI_Type_contiguous(3, MPI_DOUBLE_PRECISION, type, error)
  call MPI_Type_commit(type, error)
  call MPI_Comm_dup(comm, own, error)
  sent = [rank + 0.5d0, 2d0, 3d0]
  received = 0
  call MPI_Irecv(received, 1, type, modulo(rank - 1, ranks), 4, own, requests(1), error)
  call MPI_Isend(sent, 1, type, modulo(rank + 1, ranks), 4, own, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  if (any(requests /= MPI_REQUEST_NULL) .or. any(received /= [modulo(rank - 1, ranks) + 0.5d0, 2d0, 3d0])) then
    print '(a)', 'failed: a message with a datatype and a communicator of the program'
    call MPI_Abort(comm, 1, error)
  end if
  copy = own
  call MPI_Comm_free(own, error)
  call MPI_Barrier(copy, error)
  if (error /= MPI_ERR_COMM .or. own /= MPI_COMM_NULL) then
    print '(a)', 'failed: a barrier on a freed communicator'
    call MPI_Abort(comm, 1, error)
  end if
  call MPI_Type_free(type, error)
end subroutine
