! SPDX-License-Identifier: BSD-3-Clause
! Procedures of Fortran that MPI calls: operations, error handlers, copy and delete functions, generalized requests.
module callback_state
  use mpi_f08
  implicit none
  integer :: handled = 0, handled_code = 0, copies = 0, deletes = 0, queries = 0, frees = 0, cancels = 0
  integer :: handled_object = 0
  integer(MPI_ADDRESS_KIND) :: seen_state = 0

contains

  ! A product of 2 x 2 matrices, which does not commute; an element is four integers.
  subroutine multiply(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len, i, bytes, right(2, 2)
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:, :, :), b(:, :, :)
    call MPI_Type_size(datatype, bytes)
    if (bytes /= 16) return
    call c_f_pointer(invec, a, [2, 2, len])
    call c_f_pointer(inoutvec, b, [2, 2, len])
    do i = 1, len
      right = b(:, :, i)
      b(:, :, i) = matmul(a(:, :, i), right)
    end do
  end subroutine

  subroutine largest(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    real, pointer :: a(:), b(:)
    if (datatype /= MPI_REAL) return
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
  end subroutine

  ! Several procedures at a time, each for its own operation.
  subroutine add_up(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) return
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
  end subroutine

  subroutine smallest(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) return
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = min(a, b)
  end subroutine

  subroutine other_comm_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    handled = handled + 100; handled_object = comm%MPI_VAL; handled_code = error_code
  end subroutine
  subroutine comm_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    handled = handled + 1; handled_object = comm%MPI_VAL; handled_code = error_code
  end subroutine
  subroutine win_error(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    handled = handled + 1; handled_object = win%MPI_VAL; handled_code = error_code
  end subroutine
  subroutine file_error(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    handled = handled + 1; handled_object = file%MPI_VAL; handled_code = error_code
  end subroutine
  subroutine session_error(session, error_code)
    type(MPI_Session) :: session
    integer :: error_code
    handled = handled + 1; handled_object = session%MPI_VAL; handled_code = error_code
  end subroutine

  subroutine comm_copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1; seen_state = extra_state
    attribute_val_out = attribute_val_in + extra_state
    flag = oldcomm%MPI_VAL /= 0 .and. comm_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine
  subroutine comm_delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletes = deletes + 1; seen_state = attribute_val + extra_state
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, comm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID)
  end subroutine
  subroutine type_refuse(datatype, type_keyval, attribute_val, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer :: type_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletes = deletes + 1
    ierror = merge(MPI_ERR_OTHER, MPI_SUCCESS, deletes == 1 .and. datatype /= MPI_DATATYPE_NULL .and. &
                   type_keyval + attribute_val + extra_state /= 0)
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    queries = queries + 1
    status%MPI_SOURCE = int(extra_state); status%MPI_TAG = 5
    call MPI_Status_set_elements(status, MPI_INTEGER, 3)
    call MPI_Status_set_cancelled(status, cancels > 0)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    frees = frees + 1; seen_state = extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (.not. complete .and. extra_state == 42) cancels = cancels + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use callback_state
  implicit none
  integer :: rank, ranks
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call operations
  call several
  call set_names
  call handlers
  call communicator_attributes
  call datatype_attributes
  call generalized
  call MPI_Finalize()

contains

  include 'expect.inc'

  subroutine operations
    type(MPI_Op) :: op, op_c
    type(MPI_Datatype) :: quad
    integer :: mine(2, 2, 3), product(2, 2, 3), expected(2, 2), i
    real :: x(4), y(4)
    logical :: commutes
    call MPI_Type_contiguous(4, MPI_INTEGER, quad)
    call MPI_Type_commit(quad)
    call MPI_Op_create(multiply, .false., op)
    call MPI_Op_commutative(op, commutes)
    call expect(.not. commutes, 'an operation that does not commute')
    do i = 1, 3
      mine(:, :, i) = reshape([1, rank, i, 1], [2, 2])
    end do
    call MPI_Allreduce(mine, product, 3, quad, op, MPI_COMM_WORLD)
    do i = 1, 3
      expected = reshape([1, 0, 0, 1], [2, 2])
      expected = fold(expected, i)
      call expect(all(product(:, :, i) == expected), 'a product in the order of ranks')
    end do
    call MPI_Op_create_c(largest, .true., op_c)
    x = [(real(merge(rank, -rank, mod(i, 2) == 0) + i), i = 1, 4)]
    call MPI_Allreduce(x, y, 4_MPI_COUNT_KIND, MPI_REAL, op_c, MPI_COMM_WORLD)
    call expect(all(y == [(real(merge(ranks - 1, 0, mod(i, 2) == 0) + i), i = 1, 4)]), 'a large count')
    call MPI_Op_free(op)
    call MPI_Op_free(op_c)
    call expect(op == MPI_OP_NULL, 'a freed operation')
    call MPI_Type_free(quad)
    ! More operations than a library without contexts could keep apart.
    do i = 1, 100
      call MPI_Op_create(multiply, .false., op)
      call MPI_Op_free(op)
    end do
  end subroutine

  ! The length of a name comes back, whether the name is asked for or not; more space has blanks.
  subroutine set_names
    type(MPI_Session) :: session
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    integer :: sets, n, length, whole
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets)
    call expect(sets >= 2, 'there are process sets')
    do n = 0, sets - 1
      name = 'unchanged'
      whole = 0
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, whole, name)
      call expect(whole > 0 .and. name == 'unchanged', 'the length of the name of a process set')
      length = len(name)
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, length, name)
      call expect(length == whole .and. len_trim(name) == whole, 'the name of a process set, and its length')
      call expect(n > 0 .or. index(name, '://') > 0, 'a process set is a URI')
      length = 3
      name = 'unchanged'
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, length, name)
      call expect(length == whole .and. len_trim(name) == 3, 'a part of the name of a process set')
    end do
    call MPI_Session_finalize(session)
  end subroutine

  subroutine several
    type(MPI_Op) :: sum, least, again
    type(MPI_Comm) :: one, two
    type(MPI_Errhandler) :: first, second
    integer :: mine(2), found(2), i, code
    call MPI_Op_create(add_up, .true., sum)
    call MPI_Op_create(smallest, .true., least)
    call MPI_Op_create(add_up, .true., again)
    mine = [rank + 1, -rank]
    do i = 1, 2
      call MPI_Allreduce(mine, found, 2, MPI_INTEGER, sum, MPI_COMM_WORLD)
      call expect(all(found == [ranks * (ranks + 1) / 2, -ranks * (ranks - 1) / 2]), 'one of several operations')
      call MPI_Allreduce(mine, found, 2, MPI_INTEGER, least, MPI_COMM_WORLD)
      call expect(all(found == [1, 1 - ranks]), 'another of several operations')
      call MPI_Allreduce(mine, found, 2, MPI_INTEGER, again, MPI_COMM_WORLD)
      call expect(all(found == [ranks * (ranks + 1) / 2, -ranks * (ranks - 1) / 2]), 'two operations of one procedure')
    end do
    call MPI_Op_free(sum)
    call MPI_Op_free(least)
    call MPI_Op_free(again)

    call MPI_Comm_dup(MPI_COMM_SELF, one)
    call MPI_Comm_dup(MPI_COMM_SELF, two)
    call MPI_Comm_create_errhandler(comm_error, first)
    call MPI_Comm_create_errhandler(other_comm_error, second)
    call MPI_Comm_set_errhandler(one, first)
    call MPI_Comm_set_errhandler(two, second)
    handled = 0
    call MPI_Send(mine, 1, MPI_INTEGER, 1, 0, one, code)
    call expect(handled == 1 .and. handled_object == one%MPI_VAL, 'one of several error handlers')
    call MPI_Send(mine, 1, MPI_INTEGER, 1, 0, two, code)
    call expect(handled == 101 .and. handled_object == two%MPI_VAL, 'another of several error handlers')
    handled = 0
    call MPI_Errhandler_free(first)
    call MPI_Errhandler_free(second)
    call MPI_Comm_free(one)
    call MPI_Comm_free(two)
  end subroutine

  function fold(start, i) result(m)
    integer, intent(in) :: start(2, 2), i
    integer :: m(2, 2), r
    m = start
    do r = 0, ranks - 1
      m = matmul(m, reshape([1, r, i, 1], [2, 2]))
    end do
  end function

  subroutine handlers
    type(MPI_Errhandler) :: handler, found
    type(MPI_Win) :: win
    type(MPI_File) :: file
    type(MPI_Session) :: session
    type(MPI_Group) :: group, part
    type(MPI_Comm) :: comm
    integer, target :: memory(1)
    integer :: code

    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_create_errhandler(comm_error, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Comm_get_errhandler(comm, found)
    call expect(found == handler, 'the handler of a communicator')
    call MPI_Errhandler_free(found)
    call MPI_Errhandler_free(handler)
    call MPI_Send(memory, -1, MPI_INTEGER, 0, 0, comm, code)
    call expect(handled == 1 .and. handled_object == comm%MPI_VAL .and. handled_code == MPI_ERR_COUNT .and. &
                code == MPI_ERR_COUNT, 'the handler of a communicator is called')
    call MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER)
    call expect(handled == 2 .and. handled_code == MPI_ERR_OTHER, 'MPI_Comm_call_errhandler')
    call MPI_Comm_free(comm)

    call MPI_Win_create(memory, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
    call MPI_Win_create_errhandler(win_error, handler)
    call MPI_Win_set_errhandler(win, handler)
    call MPI_Errhandler_free(handler)
    call MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC)
    call expect(handled == 3 .and. handled_object == win%MPI_VAL .and. handled_code == MPI_ERR_RMA_SYNC, &
                'the handler of a window')
    call MPI_Win_free(win)

    call MPI_File_create_errhandler(file_error, handler)
    call MPI_File_set_errhandler(MPI_FILE_NULL, handler)
    call MPI_Errhandler_free(handler)
    call MPI_File_open(MPI_COMM_SELF, '/nowhere/at/all', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    call expect(handled == 4 .and. handled_object == MPI_FILE_NULL%MPI_VAL .and. code == handled_code .and. &
                code /= MPI_SUCCESS, 'the handler of files')
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN)

    call MPI_Session_create_errhandler(session_error, handler)
    call MPI_Session_init(MPI_INFO_NULL, handler, session)
    call MPI_Errhandler_free(handler)
    call MPI_Session_call_errhandler(session, MPI_ERR_OTHER)
    call expect(handled == 5 .and. handled_object == session%MPI_VAL, 'the handler of a session')
    group = MPI_GROUP_EMPTY
    call MPI_Group_from_session_pset(session, 'mpi://NOWHERE', group)
    call expect(handled == 6 .and. group == MPI_GROUP_NULL, 'a process set that does not exist')
    call MPI_Group_from_session_pset(session, 'mpi://SELF  ', group)
    call MPI_Group_incl(group, 1, [1000000], part)
    call expect(handled == 7 .and. handled_object == session%MPI_VAL, 'an error of a group of a session')
    call MPI_Group_free(group)
    call MPI_Session_finalize(session)
    call expect(session == MPI_SESSION_NULL, 'a finalized session')
  end subroutine

  subroutine communicator_attributes
    type(MPI_Comm) :: comm, copy
    integer :: key, plain, dup
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_create_keyval(comm_copy, comm_delete, key, 1000_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, plain, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_get_attr(comm, key, value, found)
    call expect(.not. found, 'no attribute yet')
    call MPI_Comm_set_attr(comm, key, -5_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(comm, plain, 6_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(comm, dup, huge(value))
    call MPI_Comm_dup(comm, copy)
    call expect(copies == 1 .and. seen_state == 1000, 'the copy function')
    call MPI_Comm_get_attr(copy, key, value, found)
    call expect(found .and. value == 995, 'a copied attribute')
    call MPI_Comm_get_attr(copy, plain, value, found)
    call expect(.not. found, 'an attribute that is not copied')
    call MPI_Comm_get_attr(copy, dup, value, found)
    call expect(found .and. value == huge(value), 'an attribute that is copied as it is')
    call MPI_Comm_free(copy)
    call expect(deletes == 1 .and. seen_state == 1995, 'the delete function')
    call MPI_Comm_set_attr(comm, key, 8_MPI_ADDRESS_KIND)
    call expect(deletes == 2 .and. seen_state == 995, 'the delete function of a replaced attribute')
    call MPI_Comm_delete_attr(comm, key)
    call expect(deletes == 3 .and. seen_state == 1008, 'the delete function of a deleted attribute')
    call MPI_Comm_free_keyval(key)
    call expect(key == MPI_KEYVAL_INVALID, 'a freed key')
    call MPI_Comm_free_keyval(plain)
    call MPI_Comm_free_keyval(dup)
    call MPI_Comm_free(comm)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found)
    call expect(found .and. value >= 32767, 'MPI_TAG_UB is a value')
  end subroutine

  subroutine datatype_attributes
    type(MPI_Datatype) :: datatype
    integer :: key, code
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    deletes = 0
    call MPI_Type_contiguous(2, MPI_REAL, datatype)
    call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_refuse, key, 3_MPI_ADDRESS_KIND)
    call MPI_Type_set_attr(datatype, key, 17_MPI_ADDRESS_KIND)
    call MPI_Type_get_attr(datatype, key, value, found)
    call expect(found .and. value == 17, 'an attribute of a datatype')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Type_delete_attr(datatype, key, code)
    call expect(code /= MPI_SUCCESS, 'a delete function that refuses')
    call MPI_Type_get_attr(datatype, key, value, found)
    call expect(found .and. value == 17, 'an attribute that was not deleted')
    call MPI_Type_free(datatype)
    call expect(deletes == 2, 'the attributes of a freed datatype')
    call MPI_Type_free_keyval(key)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine

  subroutine generalized
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count
    logical :: done
    call MPI_Grequest_start(query, release, cancel, 42_MPI_ADDRESS_KIND, request)
    call MPI_Test(request, done, status)
    call expect(.not. done, 'a generalized request that is not complete')
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call MPI_Test_cancelled(status, done)
    call expect(queries == 1 .and. frees == 1 .and. cancels == 1 .and. seen_state == 42, 'the calls of a request')
    call expect(status%MPI_SOURCE == 42 .and. status%MPI_TAG == 5 .and. count == 3 .and. done, 'the status of a request')
  end subroutine
end program
