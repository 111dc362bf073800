! SPDX-License-Identifier: BSD-3-Clause
! Attributes of two languages (MPI-5.0, section 19.3.7): set in Fortran or in C, with keys of Fortran or of C, read in
! both, copied and deleted by callbacks of both; for communicators, datatypes and windows.
module attributes_callbacks
  use mpi_f08
  implicit none
  integer(MPI_ADDRESS_KIND), parameter :: BIG = 1234567890123_MPI_ADDRESS_KIND
  integer(MPI_ADDRESS_KIND) :: copied = 0, deleted = 0
  integer :: deletions = 0
contains
  subroutine copy_comm(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copied = attribute_val_in
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_comm(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deleted = attribute_val
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine copy_type(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Datatype) :: oldtype
    integer :: type_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in * extra_state
    flag = attribute_val_in /= 5
    ierror = MPI_SUCCESS
  end subroutine
end module

program attributes
  use attributes_callbacks
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    ! The part in C. A value is the number that the attribute points to, if `numbers`, or the attribute itself.
    integer(c_int) function c_key(numbers) bind(C)
      import
      integer(c_int), value :: numbers
    end function
    subroutine c_set(comm, key, address) bind(C)
      import
      integer(c_int), value :: comm, key
      integer(c_intptr_t), value :: address
    end subroutine
    integer(c_intptr_t) function c_get(comm, key, numbers) bind(C)
      import
      integer(c_int), value :: comm, key, numbers
    end function
    integer(c_intptr_t) function c_get_type(datatype, key) bind(C)
      import
      integer(c_int), value :: datatype, key
    end function
    integer(c_intptr_t) function c_get_win(win, key) bind(C)
      import
      integer(c_int), value :: win, key
    end function
    integer(c_intptr_t) function c_deleted() bind(C)
      import
    end function
  end interface

  call MPI_Init()
  call fortran_keys()
  call c_keys()
  call old_keys()
  call datatypes()
  call many()
  call windows()
  call predefined()
  call MPI_Finalize()
contains
  include 'expect.inc'

  integer(MPI_ADDRESS_KIND) function get(comm, key)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: key
    logical :: found
    get = -999
    call MPI_Comm_get_attr(comm, key, get, found)
    call expect(found, 'there is an attribute')
  end function

  ! A key of Fortran: attributes of both languages reach its callbacks, and copies stay in the language.
  subroutine fortran_keys()
    type(MPI_Comm) :: comm, other
    integer :: key, again, before
    call MPI_Comm_create_keyval(copy_comm, delete_comm, key, 7_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_set_attr(comm, key, BIG)
    call expect(get(comm, key) == BIG, 'an integer of Fortran in Fortran')
    call expect(c_get(comm%MPI_VAL, key, 1) == BIG, 'an integer of Fortran in C')
    call MPI_Comm_set_attr(comm, key, -1_MPI_ADDRESS_KIND)
    call expect(deleted == BIG, 'setting deletes the old value')
    call expect(c_get(comm%MPI_VAL, key, 1) == -1, 'a negative integer in C')
    call MPI_Comm_dup(comm, other)
    call expect(copied == -1 .and. get(other, key) == 6, 'the copy callback')
    call expect(c_get(other%MPI_VAL, key, 1) == 6, 'a copied integer in C')
    call MPI_Comm_free(other)
    call expect(deleted == 6, 'the delete callback')
    call c_set(comm%MPI_VAL, key, 8192_c_intptr_t)
    call expect(deleted == -1, 'C replaces an integer')
    call expect(get(comm, key) == 8192, 'a pointer of C in Fortran')
    call MPI_Comm_dup(comm, other)
    call expect(copied == 8192 .and. get(other, key) == 8199, 'a copied pointer in Fortran')
    call expect(c_get(other%MPI_VAL, key, 0) == 8199, 'a copied pointer in C')
    call MPI_Comm_free(other)
    call expect(deleted == 8199, 'a pointer is deleted')
    before = deletions
    again = key
    call MPI_Comm_free_keyval(key)
    call expect(key == MPI_KEYVAL_INVALID .and. get(comm, again) == 8192, 'a freed key with an attribute')
    call MPI_Comm_free(comm)
    call expect(deletions == before + 1, 'the callback of a freed key')
  end subroutine

  ! A key of C: callbacks of C have pointers to integers of Fortran; the predefined copy copies them as they are.
  subroutine c_keys()
    type(MPI_Comm) :: comm, other
    integer :: key
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    key = c_key(1)
    call MPI_Comm_set_attr(comm, key, BIG)
    call expect(c_get(comm%MPI_VAL, key, 1) == BIG .and. get(comm, key) == BIG, 'an integer with a key of C')
    call MPI_Comm_delete_attr(comm, key)
    call expect(c_deleted() == BIG, 'C deletes an integer of Fortran')
    call MPI_Comm_free_keyval(key)
    key = c_key(0)
    call MPI_Comm_set_attr(comm, key, BIG)
    call MPI_Comm_dup(comm, other)
    call expect(get(other, key) == BIG .and. c_get(other%MPI_VAL, key, 1) == BIG, 'MPI_COMM_DUP_FN of C')
    call MPI_Comm_set_attr(comm, key, 3_MPI_ADDRESS_KIND)
    call expect(get(other, key) == BIG .and. get(comm, key) == 3, 'a copy is independent')
    call c_set(comm%MPI_VAL, key, 4096_c_intptr_t)
    call expect(get(comm, key) == 4096 .and. c_get(comm%MPI_VAL, key, 0) == 4096, 'a pointer with a key of C')
    call MPI_Comm_free(other)
    call MPI_Comm_free(comm)
    call MPI_Comm_free_keyval(key)
  end subroutine

  ! The deprecated procedures have INTEGERs: module mpi declares them.
  subroutine old_keys()
    interface
      subroutine old_part(comm, key, found)
        integer, intent(in) :: comm
        integer, intent(out) :: key, found
      end subroutine
    end interface
    type(MPI_Comm) :: comm
    integer :: key, found
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call old_part(comm%MPI_VAL, key, found)
    call expect(found == -77, 'an INTEGER comes back')
    call expect(get(comm, key) == -77 .and. c_get(comm%MPI_VAL, key, 1) == -77, 'an INTEGER is extended')
    call MPI_Comm_free(comm)
  end subroutine

  subroutine datatypes()
    type(MPI_Datatype) :: datatype, other
    integer :: key, unused
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    call MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, key, 3_MPI_ADDRESS_KIND)
    call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, unused, 0_MPI_ADDRESS_KIND)
    call MPI_Type_dup(MPI_REAL, datatype)
    call MPI_Type_set_attr(datatype, key, BIG)
    call MPI_Type_set_attr(datatype, unused, BIG)
    call MPI_Type_dup(datatype, other)
    call MPI_Type_get_attr(other, key, value, found)
    call expect(found .and. value == 3 * BIG .and. c_get_type(other%MPI_VAL, key) == 3 * BIG, 'a copy in a datatype')
    call MPI_Type_get_attr(other, unused, value, found)
    call expect(.not. found, 'MPI_TYPE_NULL_COPY_FN')
    call MPI_Type_free(other)
    call MPI_Type_set_attr(datatype, key, 5_MPI_ADDRESS_KIND)
    call MPI_Type_dup(datatype, other)
    call MPI_Type_get_attr(other, key, value, found)
    call expect(.not. found, 'a copy that the callback refuses')
    call MPI_Type_free(other)
    call MPI_Type_free(datatype)
    call MPI_Type_free_keyval(key)
    call MPI_Type_free_keyval(unused)
  end subroutine

  ! So many that they share places of a table, of which every third goes, and some come again.
  subroutine many()
    integer, parameter :: COUNT = 3000
    type(MPI_Datatype) :: datatype(COUNT)
    integer :: key, i, wrong, missing
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    do i = 1, COUNT
      call MPI_Type_dup(MPI_INTEGER, datatype(i))
      call MPI_Type_set_attr(datatype(i), key, BIG + i)
    end do
    do i = 1, COUNT, 3
      call MPI_Type_delete_attr(datatype(i), key)
    end do
    do i = 1, COUNT, 6
      call MPI_Type_set_attr(datatype(i), key, BIG - i)
    end do
    wrong = 0
    missing = 0
    do i = 1, COUNT
      value = BIG
      call MPI_Type_get_attr(datatype(i), key, value, found)
      if (found .neqv. (mod(i, 3) /= 1 .or. mod(i, 6) == 1)) missing = missing + 1
      if (found .and. value /= merge(BIG - i, BIG + i, mod(i, 6) == 1)) wrong = wrong + 1
      call MPI_Type_free(datatype(i))
    end do
    call expect(missing == 0, 'each of many attributes is there until it is deleted')
    call expect(wrong == 0, 'each of many attributes has its value')
    call MPI_Type_free_keyval(key)
  end subroutine

  subroutine windows()
    type(MPI_Win) :: win
    integer, target :: memory(6)
    integer :: key
    integer(MPI_ADDRESS_KIND) :: value, base
    logical :: found
    call MPI_Win_create(memory, 24_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Win_set_attr(win, key, BIG)
    call MPI_Win_get_attr(win, key, value, found)
    call expect(found .and. value == BIG .and. c_get_win(win%MPI_VAL, key) == BIG, 'an attribute of a window')
    call MPI_Get_address(memory, base)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, found)
    call expect(found .and. value == base, 'the base of a window is an address')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, found)
    call expect(found .and. value == 24, 'the size of a window is a value')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, found)
    call expect(found .and. value == 4, 'the unit of a window is a value')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, found)
    call expect(found .and. value == MPI_WIN_FLAVOR_CREATE, 'the flavor of a window is a value')
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, found)
    call expect(found .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'the model is a value')
    call MPI_Win_free_keyval(key)
    call MPI_Win_free(win)
  end subroutine

  subroutine predefined()
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    call expect(get(MPI_COMM_WORLD, MPI_TAG_UB) >= 32767, 'MPI_TAG_UB is a value')
    call expect(get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL) * (get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL) - 1) == 0, &
        'MPI_WTIME_IS_GLOBAL is 0 or 1')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, found)
    if (found) call expect(value >= 0 .and. value < 1000, 'MPI_APPNUM is a value')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, found)
    if (found) call expect(value > 0 .and. value < 1000000, 'MPI_UNIVERSE_SIZE is a value')
  end subroutine
end program
