! SPDX-License-Identifier: BSD-3-Clause
! Threads of OpenMP call MPI at the same time: messages of sections, collectives on a communicator for each thread,
! operations, attributes and error handlers of Fortran.
! ranks: 1 2 3
module threads_callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  subroutine larger(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) return
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
  end subroutine

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in + extra_state
    flag = oldcomm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine
end module

program threads
  use mpi_f08
  use threads_callbacks
  implicit none
  integer, parameter :: many = 4, rounds = 25
  integer :: rank, ranks, next, prev, provided, t, wrong
  type(MPI_Comm) :: comms(many)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call expect(provided == MPI_THREAD_MULTIPLE, 'the level of threads')
  next = mod(rank + 1, ranks); prev = mod(rank + ranks - 1, ranks)
  do t = 1, many
    call MPI_Comm_dup(MPI_COMM_WORLD, comms(t))
  end do
  wrong = 0
  !$omp parallel do num_threads(many) schedule(static, 1) reduction(+:wrong)
  do t = 1, many
    wrong = wrong + mistakes(t, comms(t))
  end do
  !$omp end parallel do
  call expect(wrong == 0, 'what threads receive')
  do t = 1, many
    call MPI_Comm_free(comms(t))
  end do
  call MPI_Finalize()
contains
  include 'expect.inc'

  integer function mistakes(thread, comm)
    integer, intent(in) :: thread
    type(MPI_Comm), intent(in) :: comm
    integer, asynchronous :: a(4, 6), b(4, 6), sums(4, 6)
    integer :: round, key, i, code, class
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    type(MPI_Request) :: requests(3)
    type(MPI_Op) :: op
    type(MPI_Comm) :: child
    mistakes = 0
    do round = 1, rounds
      a = reshape([(1000 * rank + 100 * thread + round + i, i = 1, 24)], shape(a))
      b = -1; sums = -1
      call MPI_Op_create(larger, .true., op)
      call MPI_Irecv(b(4:1:-3, 1:6:2), 6, MPI_INTEGER, prev, thread, comm, requests(1))
      call MPI_Isend(a(1:4:3, 1:6:2), 6, MPI_INTEGER, next, thread, comm, requests(2))
      call MPI_Iallreduce(a(2:3, ::3), sums(2:3, ::3), 4, MPI_INTEGER, op, comm, requests(3))
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
      call MPI_Op_free(op)
      if (any(b(4:1:-3, 1:6:2) /= a(1:4:3, 1:6:2) + 1000 * (prev - rank))) mistakes = mistakes + 1
      if (count(b == -1) /= 18 .or. count(sums == -1) /= 20) mistakes = mistakes + 1
      if (any(sums(2:3, ::3) /= a(2:3, ::3) + 1000 * (ranks - 1 - rank))) mistakes = mistakes + 1
      call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, key, 5_MPI_ADDRESS_KIND)
      call MPI_Comm_set_attr(comm, key, int(round, MPI_ADDRESS_KIND))
      call MPI_Comm_dup(comm, child)
      call MPI_Comm_get_attr(child, key, value, found)
      if (.not. found .or. value /= round + 5) mistakes = mistakes + 1
      call MPI_Comm_delete_attr(comm, key)
      call MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN)
      call MPI_Send(a, -1, MPI_INTEGER, next, 0, child, code)
      call MPI_Error_class(code, class)
      if (class /= MPI_ERR_COUNT) mistakes = mistakes + 1
      call MPI_Comm_free(child)
      call MPI_Comm_free_keyval(key)
    end do
  end function
end program
