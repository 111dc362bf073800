! SPDX-License-Identifier: BSD-3-Clause
! Module mpi: handles are INTEGERs, and the types of mpi_f08's handles with their operators are there, too.
subroutine modules_mpi(comm, status)
  use mpi
  implicit none
  integer, intent(in) :: comm
  integer, intent(inout) :: status(*)
  type(MPI_Comm) :: typed, other
  type(MPI_Datatype) :: datatype
  type(MPI_Errhandler) :: errhandler
  type(MPI_File) :: file
  type(MPI_Group) :: group
  type(MPI_Info) :: info
  type(MPI_Message) :: message
  type(MPI_Op) :: op
  type(MPI_Request) :: request
  type(MPI_Session) :: session
  type(MPI_Win) :: win
  type(MPI_Status) :: f08_status
  integer, parameter :: supported = merge(1, 2, MPI_SUBARRAYS_SUPPORTED), protected = merge(1, 2, MPI_ASYNC_PROTECTS_NONBLOCKING)
  integer :: rank, error, count
  call expect(supported == 1 .and. protected == 1, 'constants of module mpi')
  typed%MPI_VAL = comm
  other = MPI_Comm(MPI_COMM_WORLD)
  call expect(typed == comm .and. typed /= other .and. other == MPI_COMM_WORLD .and. comm .eq. typed, 'handles in module mpi')
  datatype%MPI_VAL = MPI_INTEGER; errhandler%MPI_VAL = MPI_ERRORS_RETURN; file%MPI_VAL = MPI_FILE_NULL
  group%MPI_VAL = MPI_GROUP_NULL; info%MPI_VAL = MPI_INFO_NULL; message%MPI_VAL = MPI_MESSAGE_NULL; op%MPI_VAL = MPI_SUM
  request%MPI_VAL = MPI_REQUEST_NULL; session%MPI_VAL = MPI_SESSION_NULL; win%MPI_VAL = MPI_WIN_NULL
  call expect(datatype == MPI_INTEGER .and. errhandler == MPI_ERRORS_RETURN .and. file == MPI_FILE_NULL .and. &
              group == MPI_GROUP_NULL .and. info == MPI_INFO_NULL .and. message == MPI_MESSAGE_NULL .and. op == MPI_SUM .and. &
              request == MPI_REQUEST_NULL .and. session == MPI_SESSION_NULL .and. win == MPI_WIN_NULL, 'all types of handles')
  call MPI_Comm_rank(comm=typed%MPI_VAL, rank=rank, ierror=error)
  call MPI_Sendrecv(sendbuf=rank, sendcount=1, sendtype=MPI_INTEGER, dest=rank, sendtag=4, recvbuf=count, recvcount=1, &
                    recvtype=MPI_INTEGER, source=rank, recvtag=4, comm=comm, status=status(1:MPI_STATUS_SIZE), ierror=error)
  call expect(count == rank .and. status(MPI_TAG) == 4 .and. status(MPI_SOURCE) == rank, 'keywords in module mpi')
  call MPI_Status_f2f08(status, f08_status, error)
  call expect(f08_status%MPI_TAG == 4 .and. f08_status%MPI_SOURCE == rank, 'a status in module mpi')
contains
  include 'expect.inc'
end subroutine
