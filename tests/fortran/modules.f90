! SPDX-License-Identifier: BSD-3-Clause
! What the modules and mpif.h must have (MPI-5.0, sections 19.1.2 to 19.1.4, 19.1.9, 19.3.4, 19.3.5, 20.4): types of
! handles in both modules, arguments by keyword, constants of each kind, statuses, truth values, portable data.
! ranks: 1 2
module modules_types
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  ! Handles and statuses may be parts of types of both storage models.
  type, bind(C) :: interoperable
    integer(c_int) :: before
    type(MPI_Comm) :: comm
    type(MPI_Status) :: status
    integer(c_int) :: after
  end type
end module

program modules
  use modules_types
  implicit none
  interface
    subroutine modules_mpi(comm, status)
      integer, intent(in) :: comm
      integer, intent(inout) :: status(*)
    end subroutine
    subroutine modules_mpif(comm, status)
      integer, intent(in) :: comm
      integer, intent(inout) :: status(*)
    end subroutine
  end interface
  integer :: numbers(MPI_STATUS_SIZE), major, minor
  type(MPI_Comm) :: comm

  call booleans(.false.)
  call MPI_Init()
  call MPI_Comm_dup(comm=MPI_COMM_WORLD, newcomm=comm)
  call MPI_Abi_get_version(abi_major=major, abi_minor=minor)
  call expect(major == MPI_ABI_VERSION .and. minor == MPI_ABI_SUBVERSION .and. major == 1, 'the version of the ABI')
  call MPI_Get_version(major, minor)
  call expect(major == MPI_VERSION .and. minor == MPI_SUBVERSION, 'the version of MPI')
  call kinds()
  call keywords()
  call parts()
  call booleans(.true.)
  call portable()
  numbers = -1
  call modules_mpi(comm%MPI_VAL, numbers)
  call modules_mpif(comm%MPI_VAL, numbers)
  call MPI_Comm_free(comm)
  call MPI_Finalize()
contains
  include 'expect.inc'

  subroutine kinds()
    integer(MPI_ADDRESS_KIND) :: address
    integer(MPI_COUNT_KIND) :: count
    integer(MPI_OFFSET_KIND) :: offset
    type(MPI_Status) :: status
    integer :: bytes
    call MPI_Type_size(MPI_AINT, bytes)
    call expect(bytes == storage_size(address) / 8, 'MPI_ADDRESS_KIND')
    call MPI_Type_size(MPI_COUNT, bytes)
    call expect(bytes == storage_size(count) / 8 .and. huge(count) >= huge(address), 'MPI_COUNT_KIND')
    call MPI_Type_size(MPI_OFFSET, bytes)
    call expect(bytes == storage_size(offset) / 8, 'MPI_OFFSET_KIND')
    call expect(selected_int_kind(range(0)) == MPI_INTEGER_KIND, 'MPI_INTEGER_KIND')
    call expect(storage_size(status) == MPI_STATUS_SIZE * storage_size(0) .and. MPI_STATUS_SIZE == 8, 'the size of a status')
  end subroutine

  ! Names of arguments are those of the standard, also of the large-count forms and of PMPI.
  subroutine keywords()
    integer :: rank, ranks, got(2), count, error
    type(MPI_Status) :: status, copy
    type(MPI_Request) :: request
    logical :: flag
    call MPI_Comm_rank(comm=comm, rank=rank)
    call PMPI_Comm_size(size=ranks, comm=comm, ierror=error)
    got = 0
    call MPI_Irecv(comm=comm, tag=7, source=mod(rank + ranks - 1, ranks), datatype=MPI_INTEGER, count=2_MPI_COUNT_KIND, &
                   buf=got, request=request)
    call PMPI_Send(buf=[rank, 5], count=2, datatype=MPI_INTEGER, dest=mod(rank + 1, ranks), tag=7, comm=comm, ierror=error)
    call MPI_Wait(status=status, request=request)
    call expect(all(got == [mod(rank + ranks - 1, ranks), 5]) .and. error == MPI_SUCCESS, 'arguments by keyword')
    ! A status keeps everything when it is assigned, and through its form as INTEGERs.
    numbers = -1
    call MPI_Status_f082f(f08_status=status, f_status=numbers)
    call expect(numbers(MPI_SOURCE) == status%MPI_SOURCE .and. numbers(MPI_TAG) == 7 .and. &
                numbers(MPI_ERROR) == status%MPI_ERROR, 'the parts of a status')
    call MPI_Status_f2f08(f_status=numbers, f08_status=copy)
    call MPI_Get_count(copy, MPI_INTEGER, count)
    call MPI_Test_cancelled(copy, flag)
    call expect(count == 2 .and. .not. flag .and. copy%MPI_TAG == 7, 'a status that was converted twice')
    status = copy
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count == 2, 'a status that was assigned')
    call MPI_Status_set_source(status, 3)
    call MPI_Status_get_source(status, count)
    call expect(status%MPI_SOURCE == 3 .and. count == 3, 'a status that was set')
  end subroutine

  subroutine parts()
    type(interoperable) :: whole
    integer :: rank, got(2)
    logical :: flag
    whole%before = 1
    whole%comm = comm
    whole%after = 2
    call MPI_Comm_rank(whole%comm, rank)
    call MPI_Sendrecv([3, 4], 2, MPI_INTEGER, rank, 1, got, 2, MPI_INTEGER, rank, 1, whole%comm, whole%status)
    call MPI_Iprobe(rank, 99, whole%comm, flag, MPI_STATUS_IGNORE)
    call expect(whole%comm == comm .and. whole%comm .eq. comm%MPI_VAL .and. .not. (whole%comm .ne. comm), 'a component')
    call expect(all(got == [3, 4]) .and. whole%status%MPI_TAG == 1 .and. .not. flag, 'a message by components')
    call expect(whole%before == 1 .and. whole%after == 2, 'what lies beside a status')
  end subroutine

  ! The truth values are known before initialization, and cannot be set to others any more.
  subroutine booleans(initialized)
    logical, intent(in) :: initialized
    logical :: yes, no, is_set
    integer :: error
    yes = .false.; no = .true.; is_set = .false.
    call MPI_Abi_get_fortran_booleans(storage_size(yes) / 8, yes, no, is_set)
    if (.not. initialized .and. .not. is_set) return ! other libraries learn them at initialization
    call expect(is_set .and. yes .and. .not. no, 'truth values')
    if (.not. initialized) return
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Abi_set_fortran_booleans(storage_size(yes) / 8, .true., .false., error)
    call expect(error /= MPI_SUCCESS, 'truth values that are set twice')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  end subroutine

  ! Types by precision and range in external32: big-endian, of the sizes of 19.1.9, and back.
  subroutine portable()
    integer, parameter :: short = selected_int_kind(4), long = selected_int_kind(18), r6 = selected_real_kind(6, 30)
    integer(short) :: a(2), a_back(2)
    integer(long) :: b, b_back
    real(r6) :: c, c_back
    complex(kind(1d0)) :: d, d_back
    type(MPI_Datatype) :: types(4)
    integer(MPI_ADDRESS_KIND) :: place, size
    character :: bytes(64)
    call MPI_Type_create_f90_integer(4, types(1))
    call MPI_Type_create_f90_integer(18, types(2))
    call MPI_Type_create_f90_real(6, 30, types(3))
    call MPI_Type_create_f90_complex(15, 300, types(4))
    a = [258_short, -2_short]; b = 72623859790382856_long; c = 1; d = (1d0, -2d0)
    place = 0
    size = 64
    call MPI_Pack_external('external32', a, 2, types(1), bytes, size, place)
    call expect(place == 4 .and. all(ichar(bytes(1:4)) == [1, 2, 255, 254]), 'short integers in external32')
    call MPI_Pack_external('external32', b, 1, types(2), bytes, size, place)
    call expect(place == 12 .and. all(ichar(bytes(5:12)) == [1, 2, 3, 4, 5, 6, 7, 8]), 'a long integer in external32')
    call MPI_Pack_external('external32', c, 1, types(3), bytes, size, place)
    call expect(place == 16 .and. all(ichar(bytes(13:16)) == [63, 128, 0, 0]), 'a real in external32')
    call MPI_Pack_external('external32', d, 1, types(4), bytes, size, place)
    call expect(place == 32 .and. all(ichar(bytes(17:18)) == [63, 240]) .and. all(ichar(bytes(25:26)) == [192, 0]), &
                'a complex in external32')
    place = 0
    call MPI_Unpack_external('external32', bytes, size, place, a_back, 2, types(1))
    call MPI_Unpack_external('external32', bytes, size, place, b_back, 1, types(2))
    call MPI_Unpack_external('external32', bytes, size, place, c_back, 1, types(3))
    call MPI_Unpack_external('external32', bytes, size, place, d_back, 1, types(4))
    call expect(all(a == a_back) .and. b == b_back .and. c == c_back .and. d == d_back .and. place == 32, &
                'what comes back from external32')
  end subroutine
end program
