! SPDX-License-Identifier: BSD-3-Clause
! The part with module mpi.
subroutine with_mpi(comm, datatype, status, key)
  use mpi
  implicit none
  integer :: comm, datatype, status(MPI_STATUS_SIZE), key, ierror, bytes, count, request, rank, a(3, 2), b(3, 2)
  integer(MPI_ADDRESS_KIND) :: value
  logical :: found
  type(MPI_Status) :: f08_status
  call MPI_Type_size(datatype, bytes, ierror)
  call expect(bytes == 8, 'a datatype in module mpi')
  call MPI_Get_count(status, datatype, count, ierror)
  call expect(count == 1 .and. status(MPI_TAG) == 9, 'a status in module mpi')
  call MPI_Comm_get_attr(comm, key, value, found, ierror)
  call expect(found .and. value == 1234567890123_MPI_ADDRESS_KIND, 'an attribute in module mpi')
  call MPI_Comm_rank(comm, rank, ierror)
  a = reshape([1, 2, 3, 4, 5, 6], [3, 2]); b = -1
  call MPI_Irecv(b(2, :), 2, MPI_INTEGER, rank, 3, comm, request, ierror)
  call MPI_Send(a(3, :), 2, MPI_INTEGER, rank, 3, comm, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call expect(all(b(2, :) == [3, 6]) .and. all(b(1, :) == -1), 'sections in module mpi')
  call MPI_Status_f2f08(status, f08_status, ierror)
  call expect(f08_status%MPI_TAG == 9, 'a status of mpi_f08 in module mpi')
contains
  include 'expect.inc'
end subroutine
