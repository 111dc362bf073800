! SPDX-License-Identifier: BSD-3-Clause
! The procedures that MPI 3.0 removed, as an old program calls them: with mpif.h alone, and INTEGERs for addresses.
! ranks: 2
module removed_seen
  implicit none
  integer :: seen = 0, count = 0
end module

! An error handler.
subroutine note_error(comm, code)
  use removed_seen
  integer :: comm, code
  seen = code
  count = count + 1
end subroutine

program removed
  use removed_seen
  implicit none
  include 'mpif.h'
  external :: note_error
  integer, parameter :: wide = 6
  integer :: ierror, rank, handler, handlers(2), class, extent, lb, ub, address, type, types(2), lengths(2), places(2)
  integer :: a(wide), b(wide), status(MPI_STATUS_SIZE), i, code
  integer(kind=MPI_ADDRESS_KIND) :: value
  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)

  call MPI_ERRHANDLER_CREATE(note_error, handler, ierror)
  call MPI_ERRHANDLER_SET(MPI_COMM_WORLD, handler, ierror)
  call MPI_ERRHANDLER_GET(MPI_COMM_WORLD, handlers(1), ierror)
  call expect(handlers(1) == handler, 'the handler that was set')
  call MPI_SEND(a, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierror)
  call MPI_ERROR_CLASS(seen, class, ierror)
  call expect(count == 1 .and. class == MPI_ERR_COUNT, 'the handler is called')
  call MPI_ERRHANDLER_SET(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call expect(ierror == MPI_SUCCESS, 'a predefined handler')
  call MPI_ERRHANDLER_SET(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)

  ! Integers 1, 3, 5, then 2 and 6.
  call MPI_TYPE_HVECTOR(3, 1, 8, MPI_INTEGER, type, ierror)
  call MPI_TYPE_EXTENT(type, extent, ierror)
  call MPI_TYPE_LB(type, lb, ierror)
  call MPI_TYPE_UB(type, ub, ierror)
  call expect(extent == 20 .and. lb == 0 .and. ub == 20, 'the extent of a vector')
  call pass(type, [1, 0, 3, 0, 5, 0])
  call MPI_TYPE_FREE(type, ierror)
  lengths = 1
  places = [4, 20]
  call MPI_TYPE_HINDEXED(2, lengths, places, MPI_INTEGER, type, ierror)
  call MPI_TYPE_LB(type, lb, ierror)
  call MPI_TYPE_UB(type, ub, ierror)
  call expect(lb == 4 .and. ub == 24, 'the bounds of listed places')
  call pass(type, [0, 2, 0, 0, 0, 6])
  call MPI_TYPE_FREE(type, ierror)
  types = [MPI_INTEGER, MPI_REAL]
  lengths = [2, 1]
  places = [0, 12]
  call MPI_TYPE_STRUCT(2, lengths, places, types, type, ierror)
  call pass(type, [1, 2, 0, 4, 0, 0])
  call MPI_TYPE_FREE(type, ierror)

  ! Where an address fits depends on the machine: either it is that of the new procedure, or there is an error.
  address = -1
  call MPI_ADDRESS(a(1), address, code)
  call MPI_ERROR_CLASS(code, class, ierror)
  call MPI_GET_ADDRESS(a(1), value, ierror)
  if (value >= -huge(address) - 1_MPI_ADDRESS_KIND .and. value <= huge(address)) then
    call expect(code == MPI_SUCCESS .and. address == value, 'an address that fits')
  else
    call expect(class == MPI_ERR_ARG .and. address == -1, 'an address that does not fit')
  end if
  call MPI_ADDRESS(MPI_BOTTOM, address, ierror)
  call expect(ierror == MPI_SUCCESS .and. address == 0, 'the address of MPI_BOTTOM')

  call MPI_TYPE_STRUCT(-1, lengths, places, types, type, ierror)
  call MPI_ERROR_CLASS(ierror, class, i)
  call expect(class == MPI_ERR_COUNT .or. class == MPI_ERR_ARG, 'a negative count')
  call MPI_FINALIZE(ierror)
contains
  ! Rank 0 sends 1 to 6 with the type; rank 1 has zeros elsewhere.
  subroutine pass(type, wanted)
    integer, intent(in) :: type, wanted(wide)
    call MPI_TYPE_COMMIT(type, ierror)
    a = [(i, i = 1, wide)]
    b = 0
    if (rank == 0) call MPI_SEND(a, 1, type, 1, 3, MPI_COMM_WORLD, ierror)
    if (rank == 1) call MPI_RECV(b, 1, type, 0, 3, MPI_COMM_WORLD, status, ierror)
    call expect(rank /= 1 .or. all(b == wanted), 'the data')
  end subroutine
  include 'expect.inc'
end program
