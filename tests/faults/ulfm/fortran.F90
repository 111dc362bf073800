! SPDX-License-Identifier: BSD-3-Clause
! ranks: 3 4
! All procedures for failed processes, in each Fortran interface: compiled with -DF08 (modules mpi_f08 and mpi_f08_ext),
! -DMODULE (mpi and mpi_ext) or neither (mpif.h and mpif-ext.h). The last rank dies.
#ifdef F08
#define COMM type(MPI_Comm)
#define GROUP type(MPI_Group)
#define REQUEST type(MPI_Request)
#else
#define COMM integer
#define GROUP integer
#define REQUEST integer
#endif
program fortran
#if defined(F08)
  use mpi_f08
  use mpi_f08_ext
#elif defined(MODULE)
  use mpi
  use mpi_ext
#endif
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
#if !defined(F08) && !defined(MODULE)
  include 'mpif.h'
  include 'mpif-ext.h'
#endif
  interface
    integer(c_int) function c_raise(number) bind(C, name='raise')
      import
      integer(c_int), value :: number
    end function
  end interface
  integer, parameter :: never = 7
  COMM :: comm, left
  REQUEST :: request
  integer :: error, rank, ranks, dead, flag, count, wrong = 0
  logical :: revoked

  call MPI_Init(error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call MPI_Comm_rank(comm, rank, error)
  call MPI_Comm_size(comm, ranks, error)
  dead = ranks - 1
  call unharmed()
  if (rank == dead) call die()
  call fails()
  call acknowledge()
  call revoke()
  call MPIX_Comm_shrink(comm, left, error)
  call expect_left('shrink')
  call started()
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)
  if (wrong == 0) print '(a)', 'good'
  if (wrong /= 0) stop 1
contains
  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    print '(2a)', 'wrong: ', what
    wrong = 1
  end subroutine

  subroutine expect_class(class, what)
    integer, intent(in) :: class
    character(len=*), intent(in) :: what
    integer :: found, ignored
    call MPI_Error_class(error, found, ignored)
    call expect(found == class, what)
  end subroutine

  subroutine die()
    print '(a)', 'dies'
    flush (6)
    flag = c_raise(9_c_int)
  end subroutine

  ! The flags of ranks 0 to `last`, each of which has cleared its own.
  integer function flags_to(last)
    integer, intent(in) :: last
    integer :: i
    flags_to = -1
    do i = 0, last
      flags_to = ibclr(flags_to, i)
    end do
  end function

  integer function members(which)
    GROUP, intent(inout) :: which
    integer :: ignored
    call MPI_Group_size(which, members, ignored)
    if (members > 0) call MPI_Group_free(which, ignored)
  end function

  integer function failed_members()
    GROUP :: which
    call MPIX_Comm_get_failed(comm, which, error)
    call expect_class(MPI_SUCCESS, 'get_failed')
    failed_members = members(which)
  end function

  integer function acknowledged()
    GROUP :: which
    call MPIX_Comm_failure_get_acked(comm, which, error)
    call expect_class(MPI_SUCCESS, 'failure_get_acked')
    acknowledged = members(which)
  end function

  subroutine unharmed()
    revoked = .true.
    call MPIX_Comm_is_revoked(comm, revoked, error)
    call expect(error == MPI_SUCCESS .and. .not. revoked, 'it is not revoked at first')
    call expect(failed_members() == 0 .and. acknowledged() == 0, 'none has failed at first')
    flag = ibclr(-1, rank)
    call MPIX_Comm_agree(comm, flag, error)
    call expect(error == MPI_SUCCESS .and. flag == flags_to(dead), 'agree')
    flag = ibclr(-1, rank)
    call MPIX_Comm_iagree(comm, flag, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect(error == MPI_SUCCESS .and. flag == flags_to(dead), 'iagree')
    call MPIX_Comm_shrink(comm, left, error)
    call MPI_Comm_size(left, count, error)
    call expect(count == ranks, 'shrink, without a failure')
    call MPI_Comm_free(left, error)
#ifdef F08
    call optional_error()
#endif
  end subroutine

#ifdef F08
  subroutine optional_error()
    GROUP :: which
    COMM :: second
    call MPIX_Comm_is_revoked(comm, revoked)
    call expect(.not. revoked, 'is_revoked without ierror')
    call MPIX_Comm_get_failed(comm, which)
    call expect(members(which) == 0, 'get_failed without ierror')
    call MPIX_Comm_ack_failed(comm, 0, count)
    call expect(count == 0, 'ack_failed without ierror')
    call MPIX_Comm_failure_ack(comm)
    call MPIX_Comm_failure_get_acked(comm, which)
    call expect(members(which) == 0, 'failure_get_acked without ierror')
    flag = 5
    call MPIX_Comm_agree(comm, flag)
    call expect(flag == 5, 'agree without ierror')
    call MPIX_Comm_iagree(comm, flag, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(flag == 5, 'iagree without ierror')
    call MPIX_Comm_shrink(comm, left)
    call MPIX_Comm_ishrink(left, second, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Comm_size(second, count)
    call expect(count == ranks, 'ishrink without ierror')
    call MPIX_Comm_revoke(left)
    call MPI_Comm_free(left)
    call MPI_Comm_free(second)
  end subroutine
#endif

  ! What needs the dead rank fails; a receive that may be from it is held.
  subroutine fails()
    integer :: word(1)
    call MPI_Recv(word, 1, MPI_INTEGER, dead, never, comm, MPI_STATUS_IGNORE, error)
    call expect_class(MPIX_ERR_PROC_FAILED, 'a receive from the dead rank')
    call MPI_Irecv(word, 1, MPI_INTEGER, MPI_ANY_SOURCE, never, comm, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect_class(MPIX_ERR_PROC_FAILED_PENDING, 'a receive from any rank')
    call MPI_Cancel(request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    flag = ibclr(-1, rank)
    call MPIX_Comm_agree(comm, flag, error)
    call expect_class(MPIX_ERR_PROC_FAILED, 'agree, a failure not acknowledged')
    call expect(flag == flags_to(dead - 1), 'the flags of the living')
  end subroutine

  subroutine acknowledge()
    call expect(failed_members() == 1 .and. acknowledged() == 0, 'one has failed')
    count = -1
    if (rank == 0) then
      call MPIX_Comm_ack_failed(comm, 1, count, error)
      call expect(error == MPI_SUCCESS .and. count == 1, 'ack_failed')
    else
      call MPIX_Comm_failure_ack(comm, error)
      call expect(error == MPI_SUCCESS, 'failure_ack')
    end if
    call expect(acknowledged() == 1, 'one is acknowledged')
    flag = 12
    call MPIX_Comm_agree(comm, flag, error)
    call expect(error == MPI_SUCCESS .and. flag == 12, 'agree, all acknowledged')
  end subroutine

  subroutine revoke()
    if (rank == 0) call MPIX_Comm_revoke(comm, error)
    if (rank == 0) call expect(error == MPI_SUCCESS, 'revoke')
    revoked = .false.
    do while (.not. revoked)
      call MPIX_Comm_is_revoked(comm, revoked, error)
    end do
    call MPI_Barrier(comm, error)
    call expect_class(MPIX_ERR_REVOKED, 'a barrier in a revoked communicator')
  end subroutine

  subroutine expect_left(what)
    character(len=*), intent(in) :: what
    integer :: one(1), total(1)
    one = rank + 1
    total = -1
    call expect(error == MPI_SUCCESS, what)
    call MPI_Comm_size(left, count, error)
    call expect(count == ranks - 1, what//': the number of those that are left')
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, left, error)
    call expect(total(1) == ranks * (ranks - 1) / 2, what//': a sum of those that are left')
    call MPI_Comm_free(left, error)
  end subroutine

  ! The handle is there when the request is complete, however the program finds that.
  subroutine started()
    REQUEST :: two(2)
    logical :: done
    left = MPI_COMM_NULL
    call MPIX_Comm_ishrink(comm, left, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect_left('ishrink, MPI_Wait')
    call MPIX_Comm_ishrink(comm, left, request, error)
    done = .false.
    do while (.not. done)
      call MPI_Test(request, done, MPI_STATUS_IGNORE, error)
    end do
    call expect_left('ishrink, MPI_Test')
    flag = ibclr(-1, rank)
    call MPIX_Comm_iagree(comm, flag, two(1), error)
    call MPIX_Comm_ishrink(comm, left, two(2), error)
    call MPI_Waitall(2, two, MPI_STATUSES_IGNORE, error)
    call expect_left('ishrink, MPI_Waitall')
    call expect(flag == flags_to(dead - 1), 'iagree beside it')
    call MPIX_Comm_ishrink(comm, left, request, error)
    done = .false.
    do while (.not. done)
      call MPI_Request_get_status(request, done, MPI_STATUS_IGNORE, error)
    end do
    call expect_left('ishrink, MPI_Request_get_status')
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end subroutine
end program
