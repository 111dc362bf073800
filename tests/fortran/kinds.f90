! SPDX-License-Identifier: BSD-3-Clause
! Each kind of parameter: strings, LOGICALs, indices, sentinels, sizes, large counts, precisions, PMPI, spawning.
! seconds: 120
program kinds
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  type(MPI_Comm) :: parent
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_get_parent(parent)
  if (parent /= MPI_COMM_NULL) then
    call child()
    stop
  end if
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call strings()
  call infos()
  call logicals()
  call indices()
  call sentinels()
  call precisions()
  call sizes()
  call without_ierror()
  call errors()
  call spawning()
  call MPI_Finalize()
contains
  include 'expect.inc'

  ! Blanks at the end do not count in names that are given, and fill what is returned.
  subroutine strings()
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=MPI_MAX_PROCESSOR_NAME) :: processor
    character(len=300) :: long
    type(MPI_Comm) :: comm
    integer :: length
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_set_name(comm, ' a name ' // repeat(' ', 200))
    name = repeat('x', len(name))
    call MPI_Comm_get_name(comm, name, length)
    call expect(name == ' a name' .and. length == 7, 'the name of a communicator')
    call expect(len_trim(name) == 7, 'blanks after a name')
    long = repeat('y', 300)
    call MPI_Comm_set_name(comm, long)
    call MPI_Comm_get_name(comm, name, length)
    call expect(length == MPI_MAX_OBJECT_NAME .and. name == long(1:len(name)), 'a name that fills its variable')
    call MPI_Comm_free(comm)
    text = repeat('x', len(text))
    call MPI_Error_string(MPI_ERR_RANK, text, length)
    call expect(length > 0 .and. len_trim(text) == length, 'an error string')
    call MPI_Get_processor_name(processor, length)
    call expect(length == len_trim(processor), 'the name of the processor')
  end subroutine

  ! Keys lose blanks on both sides; values at the end. A length has no terminator.
  subroutine infos()
    type(MPI_Info) :: info
    character(len=40) :: value
    character(len=3) :: short
    character(len=MPI_MAX_INFO_KEY) :: key
    integer :: length, count
    logical :: found
    call MPI_Info_create(info)
    call MPI_Info_set(info, '  plenum_key  ', 'a value  ')
    call MPI_Info_get_nkeys(info, count)
    call MPI_Info_get_nthkey(info, 0, key)
    call expect(count == 1 .and. key == 'plenum_key', 'a key')
    length = len(value); value = repeat('x', len(value))
    call MPI_Info_get_string(info, 'plenum_key ', length, value, found)
    call expect(found .and. length == 7 .and. value == 'a value', 'a value by MPI_Info_get_string')
    length = len(short)
    call MPI_Info_get_string(info, 'plenum_key', length, short, found)
    call expect(found .and. length == 7 .and. short == 'a v', 'a value that is cut')
    length = 0
    call MPI_Info_get_string(info, 'plenum_key', length, short, found)
    call expect(found .and. length == 7 .and. short == 'a v', 'the length alone')
    call MPI_Info_get_valuelen(info, 'plenum_key', length, found)
    call expect(found .and. length == 7, 'MPI_Info_get_valuelen')
    value = repeat('x', len(value))
    call MPI_Info_get(info, 'plenum_key', 7, value, found)
    call expect(found .and. value(1:7) == 'a value', 'a value by MPI_Info_get')
    length = huge(length); short = 'xxx'
    call MPI_Info_get_string(info, 'plenum_key', length, short, found)
    call expect(found .and. length == 7 .and. short == 'a v', 'the largest length')
    call MPI_Info_get_string(info, 'another', length, value, found)
    call expect(.not. found, 'a key that does not exist')
    call MPI_Info_free(info)
    call expect(info == MPI_INFO_NULL, 'a freed handle')
  end subroutine

  subroutine logicals()
    type(MPI_Comm) :: cart, part
    logical :: periods(2), flag
    integer :: dims(2), coords(2), mine(1)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart)
    call MPI_Cart_get(cart, 2, dims, periods, coords)
    call expect(periods(1) .and. .not. periods(2) .and. (periods(1) .neqv. periods(2)), 'an array of LOGICAL')
    call MPI_Cart_sub(cart, [.false., .true.], part)
    call MPI_Cart_coords(part, 0, 1, mine)
    call MPI_Comm_test_inter(part, flag)
    call expect(flag .eqv. .false., 'a LOGICAL')
    call MPI_Comm_free(part)
    call MPI_Comm_free(cart)
  end subroutine

  ! Requests are counted from one, and ranks from zero.
  subroutine indices()
    type(MPI_Request) :: r(3)
    type(MPI_Status) :: status, statuses(3)
    integer :: x(3), index, done, list(3)
    logical :: flag
    x = -1
    r(1) = MPI_REQUEST_NULL
    call MPI_Irecv(x(3), 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, r(3))
    call MPI_Irecv(x(2), 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, r(2))
    call MPI_Send(22, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
    call MPI_Waitany(3, r, index, status)
    call expect(index == 2 .and. x(2) == 22 .and. status%MPI_TAG == 2 .and. status%MPI_SOURCE == 0, 'MPI_Waitany')
    call MPI_Testsome(3, r, done, list, statuses)
    call expect(done == 0, 'MPI_Testsome of none')
    call MPI_Send(33, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF)
    call MPI_Waitsome(3, r, done, list, statuses)
    call expect(done == 1 .and. list(1) == 3 .and. statuses(1)%MPI_TAG == 3, 'MPI_Waitsome')
    call MPI_Testany(3, r, index, flag, MPI_STATUS_IGNORE)
    call expect(flag .and. index == MPI_UNDEFINED, 'MPI_Testany of none')
  end subroutine

  subroutine sentinels()
    integer :: x(4), i
    integer(MPI_ADDRESS_KIND) :: address
    type(MPI_Datatype) :: absolute
    type(MPI_Request) :: r(2)
    type(MPI_Comm) :: graph
    x = [(i, i = 1, 4)]
    call MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(x == ranks * [(i, i = 1, 4)]), 'MPI_IN_PLACE')
    call MPI_Get_address(x(2), address)
    call MPI_Type_create_hindexed(1, [2], [address], MPI_INTEGER, absolute)
    call MPI_Type_commit(absolute)
    call MPI_Irecv(MPI_BOTTOM, 1, absolute, 0, 1, MPI_COMM_SELF, r(1))
    call MPI_Isend([77, 88], 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(x)
    call expect(x(1) == ranks .and. x(2) == 77 .and. x(3) == 88 .and. x(4) == 4 * ranks, 'MPI_BOTTOM')
    call MPI_Type_free(absolute)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [rank], MPI_UNWEIGHTED, 1, [rank], MPI_UNWEIGHTED, &
        MPI_INFO_NULL, .false., graph)
    call MPI_Comm_free(graph)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, [integer ::], MPI_WEIGHTS_EMPTY, 0, [integer ::], &
        MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph)
    call MPI_Comm_free(graph)
  end subroutine

  subroutine precisions()
    integer, parameter :: long_real = selected_real_kind(15, 307), short_int = selected_int_kind(4)
    real(long_real) :: x, sum
    complex(long_real) :: z, zsum
    integer(short_int) :: i, isum
    type(MPI_Datatype) :: t
    integer :: bytes
    call MPI_Type_create_f90_real(15, 307, t)
    call MPI_Type_size(t, bytes)
    call expect(bytes == storage_size(x) / 8, 'MPI_Type_create_f90_real')
    x = 0.5_long_real
    call MPI_Allreduce(x, sum, 1, t, MPI_SUM, MPI_COMM_WORLD)
    call expect(sum == 0.5_long_real * ranks, 'a sum of reals by precision')
    call MPI_Type_create_f90_complex(15, 307, t)
    z = (1, -1)
    call MPI_Allreduce(z, zsum, 1, t, MPI_SUM, MPI_COMM_WORLD)
    call expect(zsum == z * ranks, 'MPI_Type_create_f90_complex')
    call MPI_Type_create_f90_integer(4, t)
    i = 3
    call MPI_Allreduce(i, isum, 1, t, MPI_SUM, MPI_COMM_WORLD)
    call expect(isum == 3 * ranks, 'MPI_Type_create_f90_integer')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, t)
    call expect(t == MPI_DOUBLE_PRECISION .or. t == MPI_REAL8, 'MPI_Type_match_size')
  end subroutine

  subroutine sizes()
    double precision :: x(3, 3), t
    complex :: z
    character :: c
    logical(1) :: l
    integer :: bytes
    integer(MPI_COUNT_KIND) :: large, lb
    type(MPI_Datatype) :: wide
    call MPI_Sizeof(x, bytes)
    call expect(bytes == 8, 'MPI_Sizeof of an array')
    call MPI_Sizeof(z, bytes)
    call expect(bytes == 8, 'MPI_Sizeof of a COMPLEX')
    call MPI_Sizeof(c, bytes)
    call expect(bytes == 1, 'MPI_Sizeof of a CHARACTER')
    call MPI_Sizeof(l, bytes)
    call expect(bytes == 1, 'MPI_Sizeof of a short LOGICAL')
    call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_INTEGER, wide)
    call MPI_Type_size(wide, large)
    call expect(large == 12000000000_MPI_COUNT_KIND, 'a large count')
    call MPI_Type_get_extent(wide, lb, large)
    call expect(lb == 0 .and. large == 12000000000_MPI_COUNT_KIND, 'a large extent')
    call MPI_Type_free(wide)
    t = MPI_Wtime()
    call expect(PMPI_Wtime() >= t .and. MPI_Wtick() > 0, 'the clock')
    call expect(MPI_Aint_diff(MPI_Aint_add(1000_MPI_ADDRESS_KIND, 24_MPI_ADDRESS_KIND), 1000_MPI_ADDRESS_KIND) == 24, &
        'arithmetic of addresses')
  end subroutine

  ! What has no ierror must not write one: the guard behind the arguments keeps its value.
  subroutine without_ierror()
    integer :: x
    x = 5
    call MPI_Pcontrol(1)
    call PMPI_Pcontrol(0)
    call MPI_F_sync_reg(x)
    call PMPI_Barrier(MPI_COMM_WORLD)
    call expect(x == 5, 'what has no ierror')
  end subroutine

  ! The explanation has the name of the procedure, and what was wrong.
  subroutine errors()
    character(len=MPI_MAX_ERROR_STRING) :: text
    type(MPI_Comm) :: comm
    integer :: code, length, class
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    call MPI_Send(1, 1, MPI_INTEGER, ranks + 7, 0, comm, code)
    call MPI_Error_class(code, class)
    call MPI_Error_string(code, text, length)
    call expect(class == MPI_ERR_RANK .and. index(text, 'MPI_Send') > 0, 'an error names its procedure')
    call MPI_Comm_free(comm)
  end subroutine

  subroutine spawning()
    type(MPI_Comm) :: inter
    integer :: codes(2), got
    character(len=24) :: arguments(4), rows(2, 3)
    character(len=1000) :: program
    call get_command_argument(0, program)
    arguments = [character(len=24) :: 'one', ' two words ', '3', ' ']
    call MPI_Comm_spawn(trim(program) // '   ', arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes)
    call MPI_Bcast(got, 1, MPI_INTEGER, 0, inter)
    call expect(got == 3014, 'arguments of MPI_Comm_spawn')
    call MPI_Comm_disconnect(inter)
    rows(1, :) = [character(len=24) :: 'one', ' two words', ' ']
    rows(2, :) = [character(len=24) :: 'one', ' ', ' ']
    call MPI_Comm_spawn_multiple(2, [program, program], rows, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, &
        MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE)
    call MPI_Bcast(got, 1, MPI_INTEGER, 0, inter)
    call expect(got == 3016, 'arguments of MPI_Comm_spawn_multiple')
    call MPI_Comm_disconnect(inter)
  end subroutine

  ! Says how many arguments there are, and how long they are together.
  subroutine child()
    integer :: i, n, total, length, all
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    n = command_argument_count()
    total = 0
    do i = 1, n
      call get_command_argument(i, length=length)
      total = total + length
    end do
    total = 1000 * n + total
    call MPI_Allreduce(total, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) then
      call MPI_Bcast(all, 1, MPI_INTEGER, MPI_ROOT, parent)
    else
      call MPI_Bcast(all, 1, MPI_INTEGER, MPI_PROC_NULL, parent)
    end if
    call MPI_Comm_disconnect(parent)
    call MPI_Finalize()
  end subroutine
end program
