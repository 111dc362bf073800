! SPDX-License-Identifier: BSD-3-Clause
! Handles as numbers: those of freed objects, of another kind and of nothing are refused, by all interfaces, and a
! number that is used again is that of the new object.
program handles
  use mpi_f08
  implicit none
  integer, parameter :: many = 3000

  call MPI_Init()
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call wrong_numbers()
  call freed_communicator()
  call freed_types()
  call freed_requests()
  call finished()
  call MPI_Finalize()
contains
  include 'expect.inc'

  subroutine wrong_numbers()
    integer :: numbers(9), i, size, error
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: type
    ! The last numbers of constants, the first ones of objects, and those with which a binding could miscalculate.
    numbers = [-1, -huge(0) - 1, 1023, 1024, 1025, 4095, 2**24, huge(0) - 1, huge(0)]
    do i = 1, 9
      comm = MPI_Comm(numbers(i))
      call MPI_Comm_size(comm, size, error)
      call expect(error == MPI_ERR_COMM, 'a number without a communicator')
      call MPI_Send(size, 1, MPI_INTEGER, 0, 1, comm, error)
      call expect(error == MPI_ERR_COMM, 'a send without a communicator')
      call MPI_Send(size, 1, MPI_Datatype(numbers(i)), 0, 1, MPI_COMM_SELF, error)
      call expect(error == MPI_ERR_TYPE, 'a send without a datatype')
    end do
    call MPI_Type_contiguous(3, MPI_INTEGER, type)
    call MPI_Comm_size(MPI_Comm(type%MPI_VAL), size, error)
    call expect(error == MPI_ERR_COMM, 'the number of a datatype')
    call MPI_Type_free(type)
    call expect(type == MPI_DATATYPE_NULL, 'a freed datatype')
  end subroutine

  subroutine freed_communicator()
    type(MPI_Comm) :: comm, copy, other
    integer :: sent(2), received(2), error, round, size
    do round = 1, 3
      call MPI_Comm_dup(MPI_COMM_SELF, comm)
      copy = comm
      sent = [round, 7]
      received = 0
      call MPI_Sendrecv(sent, 2, MPI_INTEGER, 0, 1, received, 2, MPI_INTEGER, 0, 1, copy, MPI_STATUS_IGNORE)
      call expect(all(received == sent), 'a message on a communicator of the program')
      call MPI_Comm_free(comm)
      call expect(comm == MPI_COMM_NULL .and. copy /= comm, 'a freed communicator')
      call MPI_Send(sent, 2, MPI_INTEGER, 0, 1, copy, error)
      call expect(error == MPI_ERR_COMM, 'a send on a freed communicator')
      call MPI_Comm_size(copy, size, error)
      call expect(error == MPI_ERR_COMM, 'the size of a freed communicator')
      call MPI_Comm_dup(MPI_COMM_SELF, other)
      call MPI_Comm_size(other, size, error)
      call expect(error == MPI_SUCCESS .and. size == 1, 'a communicator after a freed one')
      call MPI_Comm_free(other)
    end do
  end subroutine

  subroutine freed_types()
    type(MPI_Datatype) :: types(many), copies(many)
    integer :: i, size, error
    do i = 1, many
      call MPI_Type_contiguous(i, MPI_INTEGER, types(i))
    end do
    copies = types
    do i = 1, many
      call MPI_Type_size(types(i), size)
      call expect(size == 4 * i, 'the size of a datatype')
      call MPI_Type_free(types(i))
      call MPI_Type_size(copies(i), size, error)
      call expect(error == MPI_ERR_TYPE, 'the size of a freed datatype')
    end do
  end subroutine

  subroutine freed_requests()
    type(MPI_Request) :: request, copy, requests(1)
    integer :: number, error
    call MPI_Recv_init(number, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_SELF, request)
    copy = request
    call MPI_Start(request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(request == copy, 'a persistent request after its completion')
    call MPI_Request_free(request)
    call expect(request == MPI_REQUEST_NULL, 'a freed request')
    request = copy
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect(error == MPI_ERR_REQUEST, 'a wait for a freed request')
    requests = copy
    call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, error)
    call expect(error /= MPI_SUCCESS, 'a wait for an array with a freed request')
  end subroutine

  ! Module mpi's and mpif.h's procedures have INTEGERs.
  subroutine finished()
    interface
      subroutine handles_other(comm)
        integer, intent(in) :: comm
      end subroutine
    end interface
    type(MPI_Comm) :: comm
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call handles_other(comm%MPI_VAL)
    call MPI_Comm_free(comm)
  end subroutine
end program handles
