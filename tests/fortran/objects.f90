! SPDX-License-Identifier: BSD-3-Clause
! Objects of one language in the other (MPI-5.0, sections 19.3.4 to 19.3.10): datatypes with absolute addresses,
! operations, error handlers, requests, statuses and messages, made in Fortran and used in C, and the reverse.
! ranks: 1 2 3
module objects_callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: handled = 0, handled_class = 0
contains
  subroutine largest(invec, inoutvec, length, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) return ! as given, also by C
    call c_f_pointer(invec, a, [length])
    call c_f_pointer(inoutvec, b, [length])
    b = max(a, b)
  end subroutine
  subroutine handler(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    if (comm == MPI_COMM_NULL) return
    call MPI_Error_class(error_code, handled_class)
    handled = handled + 1
  end subroutine
end module

program objects
  use objects_callbacks
  implicit none
  interface
    ! Each returns 0, or the number of the check that failed.
    integer(c_int) function c_reduce(comm, op, rank, ranks) bind(C)
      import
      integer(c_int), value :: comm, op, rank, ranks
    end function
    integer(c_int) function c_fails(comm, errhandler) bind(C)
      import
      integer(c_int), value :: comm, errhandler
    end function
    integer(c_int) function c_uses_type(datatype, address) bind(C)
      import
      integer(c_int), value :: datatype
      integer(c_intptr_t), value :: address
    end function
    integer(c_int) function c_completes(request, status) bind(C)
      import
      integer(c_int) :: request, status(*)
    end function
    integer(c_int) function c_makes(kind) bind(C)
      import
      integer(c_int), value :: kind
    end function
    integer(c_int) function c_starts(comm, peer, buffer) bind(C)
      import
      integer(c_int), value :: comm, peer
      integer(c_int) :: buffer(*)
    end function
    subroutine c_sends(comm, peer) bind(C)
      import
      integer(c_int), value :: comm, peer
    end subroutine
    subroutine c_initializes() bind(C)
    end subroutine
    integer(c_int) function c_calls() bind(C)
      import
    end function
  end interface
  type(MPI_Comm) :: comm
  integer :: rank, ranks
  call c_initializes()
  call expect_told()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  call operations()
  call handlers()
  call datatypes()
  call requests()
  call messages()
  call MPI_Comm_free(comm)
  call MPI_Finalize()
contains
  include 'expect.inc'

  ! C has initialized the library (19.3.3), which knows of this compiler nonetheless.
  subroutine expect_told()
    logical :: initialized, yes, no, is_set
    type(MPI_Info) :: info
    call MPI_Initialized(initialized)
    yes = .false.; no = .true.; is_set = .false.
    call MPI_Abi_get_fortran_booleans(storage_size(yes) / 8, yes, no, is_set)
    call expect(initialized .and. is_set .and. yes .and. .not. no, 'truth values after C has initialized')
    call MPI_Abi_get_fortran_info(info)
    call expect(info /= MPI_INFO_NULL, 'types after C has initialized')
    call MPI_Info_free(info)
  end subroutine

  subroutine operations()
    type(MPI_Op) :: op
    integer :: mine(2), result(2)
    call MPI_Op_create(largest, .true., op)
    call expect(c_reduce(comm%MPI_VAL, op%MPI_VAL, rank, ranks) == 0, 'an operation of Fortran in C')
    call MPI_Op_free(op)
    op%MPI_VAL = c_makes(1)
    mine = [rank + 1, 3]
    call MPI_Allreduce(mine, result, 2, MPI_INTEGER, op, comm)
    call expect(all(result == [ranks * (ranks + 1) / 2, 3 * ranks]), 'an operation of C in Fortran')
    call MPI_Op_free(op)
    call expect(op == MPI_OP_NULL, 'an operation of C that Fortran frees')
  end subroutine

  subroutine handlers()
    type(MPI_Errhandler) :: errhandler, found
    integer :: code, class, calls
    call MPI_Comm_create_errhandler(handler, errhandler)
    call expect(c_fails(comm%MPI_VAL, errhandler%MPI_VAL) == 0, 'an error in C')
    call expect(handled == 1 .and. handled_class == MPI_ERR_TAG, 'an error handler of Fortran for an error in C')
    call MPI_Errhandler_free(errhandler)
    errhandler%MPI_VAL = c_makes(2)
    call MPI_Comm_set_errhandler(comm, errhandler)
    calls = c_calls()
    call MPI_Send(rank, -1, MPI_INTEGER, rank, 0, comm, code)
    call MPI_Error_class(code, class)
    call expect(c_calls() == calls + 1 .and. class == MPI_ERR_COUNT, 'an error handler of C for an error in Fortran')
    call MPI_Comm_get_errhandler(comm, found)
    call expect(found == errhandler, 'the handle of an error handler of C')
    call MPI_Errhandler_free(found)
    call MPI_Errhandler_free(errhandler)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL)
  end subroutine

  ! An address is the same number in both languages, and MPI_BOTTOM the same place.
  subroutine datatypes()
    integer, target, asynchronous :: first(2)
    double precision, target, asynchronous :: second
    integer(MPI_ADDRESS_KIND) :: places(2)
    type(MPI_Datatype) :: datatype
    integer :: size, got(4)
    first = [11, 22]; second = 0.5d0
    call MPI_Get_address(first, places(1))
    call MPI_Get_address(second, places(2))
    call MPI_Type_create_struct(2, [2, 1], places, [MPI_INTEGER, MPI_DOUBLE_PRECISION], datatype)
    call MPI_Type_commit(datatype)
    call expect(c_uses_type(datatype%MPI_VAL, places(1)) == 0, 'a datatype of Fortran in C')
    call MPI_F_sync_reg(first)
    call expect(all(first == [12, 23]), 'what C has written by addresses of Fortran')
    call MPI_Type_free(datatype)
    datatype%MPI_VAL = c_makes(3)
    call MPI_Type_size(datatype, size)
    got = 0
    call MPI_Sendrecv([1, 2, 3, 4], 1, datatype, rank, 5, got, 4, MPI_INTEGER, rank, 5, comm, MPI_STATUS_IGNORE)
    call expect(size == 8 .and. all(got == [1, 3, 0, 0]), 'a datatype of C in Fortran')
    call MPI_Type_free(datatype)
  end subroutine

  subroutine requests()
    integer, asynchronous :: got(2)
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: numbers(MPI_STATUS_SIZE), count
    got = 0
    call MPI_Irecv(got, 2, MPI_INTEGER, rank, 6, comm, request)
    call MPI_Send([7, 8], 2, MPI_INTEGER, rank, 6, comm)
    call expect(c_completes(request%MPI_VAL, numbers) == 0, 'a request of Fortran that C completes')
    call MPI_F_sync_reg(got)
    call MPI_Status_f2f08(numbers, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(request == MPI_REQUEST_NULL .and. all(got == [7, 8]) .and. count == 2 .and. status%MPI_TAG == 6, &
                'its data and status')
    request%MPI_VAL = c_starts(comm%MPI_VAL, rank, got)
    call MPI_Send([9], 1, MPI_INTEGER, rank, 8, comm)
    call MPI_Wait(request, status)
    call MPI_F_sync_reg(got)
    call expect(got(1) == 9 .and. got(2) == 8 .and. status%MPI_TAG == 8, 'a request of C that Fortran completes')
  end subroutine

  ! C sends what Fortran receives, with the types of each, which have one representation.
  subroutine messages()
    integer :: number
    real :: x
    double precision :: d
    complex :: z
    logical :: truth
    character(len=5) :: text
    type(MPI_Message) :: message
    type(MPI_Status) :: status
    call c_sends(comm%MPI_VAL, mod(rank + 1, ranks))
    call MPI_Mprobe(mod(rank + ranks - 1, ranks), 20, comm, message, status)
    call MPI_Mrecv(number, 1, MPI_INTEGER, message, status)
    call MPI_Recv(x, 1, MPI_REAL, MPI_ANY_SOURCE, 21, comm, status)
    call MPI_Recv(d, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 22, comm, status)
    call MPI_Recv(z, 1, MPI_COMPLEX, MPI_ANY_SOURCE, 23, comm, status)
    call MPI_Recv(truth, 1, MPI_LOGICAL, MPI_ANY_SOURCE, 24, comm, status)
    call MPI_Recv(text, 5, MPI_CHARACTER, MPI_ANY_SOURCE, 25, comm, status)
    call expect(number == -5 .and. x == 0.5 .and. d == 0.25d0 .and. z == (1.0, -1.0) .and. truth .and. text == 'hello', &
                'messages of C')
  end subroutine
end program
