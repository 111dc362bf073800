! SPDX-License-Identifier: BSD-3-Clause
! What MPI-5.0 says of types by precision (19.1.9), of constants and handles (2.5, 19.1.2), of absolute addresses
! (19.3.6) and of types that a compiler lacks (20.4), sentence by sentence.
! ranks: 1 2
program clauses
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  ! Named constants are constants: in the initialization of others, in bounds, as a case.
  type(MPI_Comm), parameter :: everyone = MPI_COMM_WORLD
  integer, parameter :: sections = merge(1, 2, MPI_SUBARRAYS_SUPPORTED), protected = merge(1, 2, MPI_ASYNC_PROTECTS_NONBLOCKING)
  integer(MPI_ADDRESS_KIND), parameter :: address = 1_MPI_ADDRESS_KIND
  integer :: bounds(MPI_STATUS_SIZE), rank, ranks, code
  call MPI_Init()
  call MPI_Comm_rank(everyone, rank)
  call MPI_Comm_size(everyone, ranks)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call expect(sections == 1 .and. protected == 1 .and. size(bounds) == MPI_STATUS_SIZE, 'constants')
  call expect(storage_size(address) == storage_size(0_c_intptr_t), 'MPI_ADDRESS_KIND has the size of an address')
  call handles()
  call by_precision()
  call by_size()
  call optional_types()
  call absolute()
  call MPI_Finalize()
contains
  include 'expect.inc'

  subroutine handles()
    type(MPI_Comm) :: comm
    integer :: number, class
    call expect(storage_size(comm) == storage_size(number), 'a handle has the size of an INTEGER')
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    number = comm%MPI_VAL
    call expect(comm == MPI_Comm(number) .and. .not. comm /= MPI_Comm(number), 'a handle of its number')
    call expect(comm == number .and. number == comm .and. comm /= MPI_COMM_SELF%MPI_VAL, 'handles and numbers')
    call expect(comm /= MPI_COMM_NULL .and. .not. comm == MPI_COMM_SELF, 'handles of different objects')
    call MPI_Comm_free(comm)
    call expect(comm == MPI_COMM_NULL, 'a handle that was freed')
    call MPI_Send(bounds, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, code)
    call MPI_Error_class(code, class)
    select case (class)
    case (MPI_ERR_COUNT)
    case default
      call expect(.false., 'a constant as a case')
    end select
  end subroutine

  ! The same arguments give the same handle, whose precision can be read, and which needs no commit.
  subroutine by_precision()
    type(MPI_Datatype) :: t, again
    type(MPI_Datatype) :: types(1)
    integer :: counts(3), combiner, numbers(2), bytes
    integer(MPI_ADDRESS_KIND) :: places(1), size
    call MPI_Type_create_f90_real(6, 30, t)
    call MPI_Type_create_f90_real(6, 30, again)
    call expect(t == again, 'the same precision twice')
    call MPI_Type_get_envelope(t, counts(1), counts(2), counts(3), combiner)
    call expect(combiner == MPI_COMBINER_F90_REAL .and. all(counts == [2, 0, 0]), 'the envelope of a real by precision')
    call MPI_Type_get_contents(t, 2, 0, 0, numbers, places, types)
    call expect(all(numbers == [6, 30]), 'the contents of a real by precision')
    call MPI_Type_create_f90_complex(6, 30, t)
    call MPI_Type_get_envelope(t, counts(1), counts(2), counts(3), combiner)
    call expect(combiner == MPI_COMBINER_F90_COMPLEX .and. all(counts == [2, 0, 0]), 'the envelope of a complex')
    call MPI_Type_create_f90_integer(8, t)
    call MPI_Type_create_f90_integer(8, again)
    call expect(t == again, 'the same range twice')
    call MPI_Type_get_envelope(t, counts(1), counts(2), counts(3), combiner)
    call expect(combiner == MPI_COMBINER_F90_INTEGER .and. all(counts == [1, 0, 0]), 'the envelope of an integer by range')
    call MPI_Type_get_contents(t, 1, 0, 0, numbers, places, types)
    call expect(numbers(1) == 8, 'the contents of an integer by range')
    ! Either may be left open; the kind is the one that the compiler selects.
    call MPI_Type_create_f90_real(12, MPI_UNDEFINED, t)
    call MPI_Type_size(t, bytes)
    call expect(bytes == storage_size(real(1, selected_real_kind(p=12))) / 8, 'a precision without a range')
    call MPI_Type_create_f90_real(MPI_UNDEFINED, 200, t)
    call MPI_Type_size(t, bytes)
    call expect(bytes == storage_size(real(1, selected_real_kind(r=200))) / 8, 'a range without a precision')
    call MPI_Type_create_f90_real(1000, 30, t, code)
    call expect(code /= MPI_SUCCESS, 'a precision that no kind has')
    call MPI_Type_create_f90_integer(1000, t, code)
    call expect(code /= MPI_SUCCESS, 'a range that no kind has')
    ! Sizes in external32 depend on precision and range alone.
    call MPI_Type_create_f90_real(6, 37, t)
    call MPI_Pack_external_size('external32', 1, t, size)
    call expect(size == 4, 'external32 of a short real')
    call MPI_Type_create_f90_real(15, 307, t)
    call MPI_Pack_external_size('external32', 3, t, size)
    call expect(size == 24, 'external32 of a long real')
    call MPI_Type_create_f90_integer(2, t)
    call MPI_Pack_external_size('external32', 5, t, size)
    call expect(size == 5, 'external32 of a short integer')
    call MPI_Type_create_f90_integer(18, t)
    call MPI_Pack_external_size('external32', 2, t, size)
    call expect(size == 16, 'external32 of a long integer')
  end subroutine

  ! A type of a class and a size is predefined, not a duplicate.
  subroutine by_size()
    type(MPI_Datatype) :: t
    integer :: i, bytes, counts(3), combiner
    integer, parameter :: classes(6) = [MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_REAL, &
                                        MPI_TYPECLASS_COMPLEX, MPI_TYPECLASS_COMPLEX]
    integer, parameter :: wanted(6) = [4, 8, 4, 8, 8, 16]
    do i = 1, size(classes)
      call MPI_Type_match_size(classes(i), wanted(i), t)
      call MPI_Type_size(t, bytes)
      call MPI_Type_get_envelope(t, counts(1), counts(2), counts(3), combiner)
      call expect(bytes == wanted(i) .and. combiner == MPI_COMBINER_NAMED, 'a type of a class and a size')
    end do
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, t, code)
    call expect(code /= MPI_SUCCESS, 'a size that no type has')
  end subroutine

  ! Only a type that the compiler lacks may have the size MPI_UNDEFINED.
  subroutine optional_types()
    use, intrinsic :: iso_fortran_env, only: integer_kinds, real_kinds
    call sized(MPI_INTEGER1, any(integer_kinds == 1), 1, 'MPI_INTEGER1')
    call sized(MPI_INTEGER2, any(integer_kinds == 2), 2, 'MPI_INTEGER2')
    call sized(MPI_INTEGER4, any(integer_kinds == 4), 4, 'MPI_INTEGER4')
    call sized(MPI_INTEGER8, any(integer_kinds == 8), 8, 'MPI_INTEGER8')
    call sized(MPI_INTEGER16, any(integer_kinds == 16), 16, 'MPI_INTEGER16')
    call sized(MPI_REAL2, any(real_kinds == 2), 2, 'MPI_REAL2')
    call sized(MPI_REAL4, any(real_kinds == 4), 4, 'MPI_REAL4')
    call sized(MPI_REAL8, any(real_kinds == 8), 8, 'MPI_REAL8')
    call sized(MPI_COMPLEX4, any(real_kinds == 2), 4, 'MPI_COMPLEX4')
    call sized(MPI_COMPLEX16, any(real_kinds == 8), 16, 'MPI_COMPLEX16')
    call sized(MPI_DOUBLE_COMPLEX, .true., 16, 'MPI_DOUBLE_COMPLEX')
  end subroutine

  subroutine sized(t, has, bytes, name)
    type(MPI_Datatype), intent(in) :: t
    logical, intent(in) :: has
    integer, intent(in) :: bytes
    character(len=*), intent(in) :: name
    integer :: found
    call MPI_Type_size(t, found)
    call expect(found == bytes .or. (found == MPI_UNDEFINED .and. .not. has), 'the size of ' // name)
  end subroutine

  ! A type of absolute addresses, relative to MPI_BOTTOM.
  subroutine absolute()
    integer, target, asynchronous :: first(2), second(3)
    double precision, target, asynchronous :: third
    integer(MPI_ADDRESS_KIND) :: places(3)
    type(MPI_Datatype) :: t
    integer :: got(7)
    first = [1, 2] + rank; second = [3, 4, 5] + rank; third = 6
    call MPI_Get_address(first, places(1))
    call MPI_Get_address(second(2), places(2))
    call MPI_Get_address(third, places(3))
    call MPI_Type_create_struct(3, [2, 2, 1], places, [MPI_INTEGER, MPI_INTEGER, MPI_DOUBLE_PRECISION], t)
    call MPI_Type_commit(t)
    got = 0
    call MPI_Sendrecv(MPI_BOTTOM, 1, t, mod(rank + 1, ranks), 1, got, 24, MPI_BYTE, mod(rank + ranks - 1, ranks), 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(got(1:4) == [1, 2, 4, 5] + mod(rank + ranks - 1, ranks)) .and. got(7) == 0, 'what is at absolute addresses')
    call expect(transfer(got(5:6), third) == 6, 'a real at an absolute address')
    call MPI_F_sync_reg(first)
    call MPI_Type_free(t)
  end subroutine
end program
