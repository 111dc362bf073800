! SPDX-License-Identifier: BSD-3-Clause
! Each allocation of the Fortran library fails once: the procedure's error handler is called, with the name of the
! procedure as Fortran has it, the code is MPI_ERR_NO_MEM, and the next try succeeds. Others that wait get an error.
! seconds: 120
module memory_state
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: handled = 0, handled_by = 0 ! 1: no object; 2 communicator, 3 file, 4 session, 5 window
  character(len=MPI_MAX_ERROR_STRING) :: words

  interface
    subroutine memory_fail(number) bind(C)
      import
      integer(c_int) :: number
    end subroutine
    integer(c_int) function memory_can_name() bind(C)
      import
    end function
    integer(c_int) function memory_failed() bind(C)
      import
    end function
  end interface

contains

  subroutine note(object, code)
    integer, intent(in) :: object, code
    integer :: length
    handled = handled + 1
    handled_by = object
    call MPI_Error_string(code, words, length)
  end subroutine

  subroutine self_error(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    call note(1, code)
  end subroutine

  subroutine comm_error(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    call note(2, code)
  end subroutine

  subroutine file_error(file, code)
    type(MPI_File) :: file
    integer :: code
    call note(3, code)
  end subroutine

  subroutine session_error(session, code)
    type(MPI_Session) :: session
    integer :: code
    call note(4, code)
  end subroutine

  subroutine win_error(win, code)
    type(MPI_Win) :: win
    integer :: code
    call note(5, code)
  end subroutine

  subroutine sum_up(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_BYTE, 0)
    call MPI_Status_set_cancelled(status, .false.)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent(datatype, bytes, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: bytes, extra_state
    integer :: ierror
    bytes = 4
    ierror = MPI_SUCCESS
  end subroutine
end module

program memory
  use memory_state
  implicit none
  external :: MPI_Keyval_create, MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN
  integer, parameter :: MANY = 40
  type(MPI_Comm) :: parent, comm
  type(MPI_Session) :: session
  type(MPI_Win) :: win
  type(MPI_File) :: file
  type(MPI_Info) :: info
  type(MPI_Errhandler) :: handler
  type(MPI_Request) :: requests(MANY)
  character(len=125) :: key
  character(len=300) :: long, command
  integer :: rank, ranks, failures, place(4)
  logical :: alone

  call MPI_Init()
  call MPI_Comm_get_parent(parent)
  if (parent /= MPI_COMM_NULL) then
    call MPI_Comm_disconnect(parent)
    call MPI_Finalize()
    stop
  end if
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call prepare()
  call attempt(1, 'MPI_Info_get', 1)
  call attempt(2, 'MPI_Info_get_string', 1)
  call attempt(3, 'MPI_Session_get_nth_pset', 4)
  call attempt(4, 'MPI_Comm_create_keyval', 1)
  call attempt(5, 'MPI_Type_create_keyval', 1)
  call attempt(6, 'MPI_Win_create_keyval', 1)
  call attempt(7, 'MPI_Keyval_create', 1)
  call attempt(8, 'MPI_Comm_set_attr', 2)
  call attempt(9, 'MPI_Type_set_attr', 1)
  call attempt(10, 'MPI_Win_set_attr', 5)
  call attempt(11, 'MPI_Grequest_start', 1)
  call attempt(12, 'MPI_Register_datarep', 1)
  call attempt(13, 'MPI_Iallreduce', 2)
  call attempt(14, 'MPI_Waitall', 1)
  call attempt(15, 'MPI_Comm_set_name', 2)
  call attempt(16, 'MPI_Win_set_name', 5)
  call attempt(17, 'MPI_File_open', 3)
  call attempt(18, 'MPI_Allreduce_init', 2)
  call attempt(19, 'MPI_Comm_spawn', 2)
  call attempt(20, 'MPI_Comm_spawn_multiple', 2)
  call names()
  if (.not. alone) call others()
  call finish()
contains
  include 'expect.inc'

  subroutine prepare()
    character(len=4096) :: path
    integer :: status
    call get_environment_variable('LD_LIBRARY_PATH', path, status=status)
    alone = (status == 0 .and. index(path, '/alone') > 0) .or. memory_can_name() == 0
    key = repeat('k', len(key))
    long = repeat('x', len(long))
    call get_command_argument(0, path)
    command = repeat('/.', 60) // trim(path)
    if (path(1:1) /= '/') command = repeat('./', 60) // trim(path)
    call MPI_Comm_create_errhandler(self_error, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_create_errhandler(comm_error, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_File_create_errhandler(file_error, handler)
    call MPI_File_set_errhandler(MPI_FILE_NULL, handler)
    call MPI_Session_create_errhandler(session_error, handler)
    call MPI_Session_init(MPI_INFO_NULL, handler, session)
    call MPI_Win_create(place, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
    call MPI_Win_create_errhandler(win_error, handler)
    call MPI_Win_set_errhandler(win, handler)
    call MPI_Info_create(info)
    call MPI_Info_set(info, key, 'value')
  end subroutine

  ! Lets the first allocation of a procedure fail, then the second, until none has failed.
  subroutine attempt(number, name, object)
    integer, intent(in) :: number, object
    character(len=*), intent(in) :: name
    integer :: nth, code
    logical :: failed
    nth = 0
    do
      nth = nth + 1
      handled = 0
      code = -1
      words = ''
      call run(number, nth, code)
      failed = memory_failed() /= 0
      if (.not. failed) exit
      call expect(code == MPI_ERR_NO_MEM, name // ': another code than MPI_ERR_NO_MEM')
      call expect(handled == 1, name // ': the error handler is called once')
      call expect(handled_by == object, name // ': the error handler of another object')
      if (.not. alone) call expect(index(words, name // ': ') == 1, name // ': another name: ' // trim(words))
      failures = failures + 1
    end do
    call expect(code == MPI_SUCCESS .and. handled == 0, name // ': with enough memory')
    if (alone .or. all(number /= [8, 9, 10])) call expect(nth > 1, name // ': no allocation has failed')
  end subroutine

  subroutine run(number, nth, code)
    integer, intent(in) :: number, nth
    integer, intent(out) :: code
    integer :: keyval, length, i, total(8), part(8)
    integer(MPI_ADDRESS_KIND), parameter :: state = 42
    logical :: flag
    character(len=200) :: value
    character(len=122) :: datarep
    character(len=20) :: arguments(3), rows(2, 2)
    type(MPI_Request) :: request
    type(MPI_Comm) :: own, inter
    type(MPI_Errhandler) :: ours
    keyval = MPI_KEYVAL_INVALID
    if (number == 8) call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, state)
    if (number == 9) call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, keyval, state)
    if (number == 10) call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, state)
    if (number == 14) then
      do i = 1, MANY
        call MPI_Isend(place, 0, MPI_INTEGER, 0, i, comm, requests(i))
        call MPI_Recv(place, 0, MPI_INTEGER, 0, i, comm, MPI_STATUS_IGNORE)
      end do
    end if
    if (number >= 19) then
      call MPI_Comm_get_errhandler(comm, ours)
      call MPI_Comm_dup(MPI_COMM_SELF, own)
      call MPI_Comm_set_errhandler(own, ours)
      call MPI_Errhandler_free(ours)
    end if
    part = [(i, i = 1, 8)]
    total = 0
    arguments = [character(len=20) :: 'one', 'two', '']
    rows = reshape([character(len=20) :: 'one', 'two', '', ''], [2, 2])
    value = 'unset'
    call memory_fail(nth)
    select case (number)
    case (1)
      call MPI_Info_get(info, key, 150, value, flag, code)
      if (code == MPI_SUCCESS) call expect(flag .and. value == 'value', 'the value of a key')
    case (2)
      length = 150
      call MPI_Info_get_string(info, key, length, value, flag, code)
      if (code == MPI_SUCCESS) call expect(flag .and. value == 'value', 'the value of a key, with its length')
    case (3)
      length = 150
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, value, code)
      if (code == MPI_SUCCESS) call expect(value == 'mpi://WORLD' .or. value == 'mpi://SELF', 'a process set')
    case (4)
      call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, state, code)
      if (code == MPI_SUCCESS) call MPI_Comm_free_keyval(keyval)
    case (5)
      call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, keyval, state, code)
      if (code == MPI_SUCCESS) call MPI_Type_free_keyval(keyval)
    case (6)
      call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, state, code)
      if (code == MPI_SUCCESS) call MPI_Win_free_keyval(keyval)
    case (7)
      call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, keyval, 42, code)
      if (code == MPI_SUCCESS) call MPI_Comm_free_keyval(keyval)
    case (8)
      call MPI_Comm_set_attr(comm, keyval, state, code)
      if (code == MPI_SUCCESS) call MPI_Comm_delete_attr(comm, keyval)
    case (9)
      call MPI_Type_set_attr(MPI_INTEGER, keyval, state, code)
      if (code == MPI_SUCCESS) call MPI_Type_delete_attr(MPI_INTEGER, keyval)
    case (10)
      call MPI_Win_set_attr(win, keyval, state, code)
      if (code == MPI_SUCCESS) call MPI_Win_delete_attr(win, keyval)
    case (11)
      call MPI_Grequest_start(query, release, cancel, state, request, code)
      if (code == MPI_SUCCESS) then
        call MPI_Grequest_complete(request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
      end if
    case (12)
      datarep = repeat('r', len(datarep))
      call MPI_Register_datarep(datarep, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, state, code)
    case (13)
      call MPI_Iallreduce(part(1:8:2), total(2:8:2), 4, MPI_INTEGER, MPI_SUM, comm, request, code)
      if (code == MPI_SUCCESS) then
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(total == [0, 1, 0, 3, 0, 5, 0, 7]), 'a reduction of a section')
      end if
    case (14)
      call MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE, code)
      if (code /= MPI_SUCCESS) call expect(all(requests /= MPI_REQUEST_NULL), 'requests after an error')
      if (code == MPI_SUCCESS) call expect(all(requests == MPI_REQUEST_NULL), 'requests that are complete')
    case (15)
      call MPI_Comm_set_name(comm, long, code)
    case (16)
      call MPI_Win_set_name(win, long, code)
    case (17)
      call MPI_File_open(MPI_COMM_SELF, repeat('/', 130) // 'dev/null', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
      if (code == MPI_SUCCESS) call MPI_File_close(file)
    case (18)
      call MPI_Allreduce_init(part(1:8:2), total(2:8:2), 4, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request, code)
      if (code == MPI_SUCCESS) then
        call MPI_Start(request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(total == [0, 1, 0, 3, 0, 5, 0, 7]), 'a persistent reduction of a section')
        call MPI_Request_free(request)
      end if
    case (19)
      call MPI_Comm_spawn(command, arguments, 1, MPI_INFO_NULL, 0, own, inter, MPI_ERRCODES_IGNORE, code)
      if (code == MPI_SUCCESS) call MPI_Comm_disconnect(inter)
    case (20)
      call MPI_Comm_spawn_multiple(2, [command, command], rows, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, own, &
          inter, MPI_ERRCODES_IGNORE, code)
      if (code == MPI_SUCCESS) call MPI_Comm_disconnect(inter)
    end select
    if (number >= 19) call MPI_Comm_free(own)
    if (number == 8) call MPI_Comm_free_keyval(keyval)
    if (number == 9) call MPI_Type_free_keyval(keyval)
    if (number == 10) call MPI_Win_free_keyval(keyval)
  end subroutine

  ! An error of a large-count form names the procedure of Fortran, and those of C are named as before.
  subroutine names()
    integer :: code
    type(MPI_Op) :: op
    if (alone) return
    call MPI_Send(place, -1_MPI_COUNT_KIND, MPI_INTEGER, 0, 0, comm, code)
    call expect(code == MPI_ERR_COUNT .and. index(words, 'MPI_Send: ') == 1, 'MPI_Send: ' // trim(words))
    call MPI_Send(place(1:4:2), -1_MPI_COUNT_KIND, MPI_INTEGER, 0, 0, comm, code)
    call expect(index(words, 'MPI_Send: ') == 1, 'MPI_Send of a section: ' // trim(words))
    call MPI_Op_create_c(sum_up_c, .true., op)
    call MPI_Op_free(op)
    call MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, 1_MPI_ADDRESS_KIND, code)
    call expect(code == MPI_ERR_KEYVAL .and. index(words, 'MPI_Comm_set_attr: ') == 1, trim(words))
    call MPI_Win_create(place(1:4:2), 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, win, code)
    call expect(code == MPI_ERR_BUFFER .and. index(words, 'MPI_Win_create: the array section has gaps') == 1, &
        'MPI_Win_create: ' // trim(words))
  end subroutine

  subroutine sum_up_c(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
  end subroutine

  ! The root has no memory; the other processes must not wait for it.
  subroutine others()
    type(MPI_Comm) :: all_of_us, inter
    integer :: code
    if (ranks == 1) return
    call MPI_Comm_dup(MPI_COMM_WORLD, all_of_us)
    call MPI_Comm_set_errhandler(all_of_us, MPI_ERRORS_RETURN)
    if (rank == 0) call memory_fail(1)
    call MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, all_of_us, inter, MPI_ERRCODES_IGNORE, code)
    call expect(code /= MPI_SUCCESS, 'spawning with a root that is out of memory')
    code = memory_failed()
    call MPI_Comm_free(all_of_us)
  end subroutine

  subroutine finish()
    call MPI_Win_free(win)
    call MPI_Info_free(info)
    call MPI_Comm_free(comm)
    call MPI_Session_finalize(session)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) print '(i0, a)', failures, ' allocations have failed'
    call MPI_Finalize()
  end subroutine
end program
