! SPDX-License-Identifier: BSD-3-Clause
! The procedures of mpi_f08_ext while no process fails. Above a library that lacks them in C each returns an error.
! ranks: 1 2 3
program recovery
  use mpi_f08
  use mpi_f08_ext
  implicit none
  type(MPI_Comm) :: comm, other
  type(MPI_Group) :: group
  type(MPI_Request) :: request
  integer :: codes(10), number, flag, rank, ranks, left
  logical :: revoked

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  flag = ibclr(-1, rank)
  other = MPI_COMM_NULL
  request = MPI_REQUEST_NULL
  call MPIX_Comm_agree(comm, flag, codes(1))
  call MPIX_Comm_get_failed(comm, group, codes(2))
  call MPIX_Comm_ack_failed(comm, 0, number, codes(3))
  call MPIX_Comm_failure_ack(comm, codes(4))
  call MPIX_Comm_failure_get_acked(comm, group, codes(5))
  call MPIX_Comm_shrink(comm, other, codes(6))
  if (other /= MPI_COMM_NULL) call MPI_Comm_free(other)
  call MPIX_Comm_revoke(comm, codes(7))
  call MPIX_Comm_is_revoked(comm, revoked, codes(8))
  call MPIX_Comm_ishrink(comm, other, request, codes(9))
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPIX_Comm_iagree(comm, number, request, codes(10))
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (codes(1) == MPI_SUCCESS) then
    call expect(all(codes == MPI_SUCCESS), 'no error')
    call expect(flag == ishft(-1, ranks), 'the flags of all')
    call expect(group == MPI_GROUP_EMPTY .and. revoked, 'none has failed, and it is revoked')
    call MPI_Comm_size(other, left)
    call expect(left == ranks, 'all are left')
    call MPI_Comm_free(other)
  else
    call expect(all(codes == MPI_ERR_UNSUPPORTED_OPERATION), 'there is no such function')
    call expect(other == MPI_COMM_NULL .and. request == MPI_REQUEST_NULL, 'outputs keep their values')
  end if
  call MPI_Comm_free(comm)
  call MPI_Finalize()
contains
  include 'expect.inc'
end program
