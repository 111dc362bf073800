! SPDX-License-Identifier: BSD-3-Clause
! The same for mpif.h, whose buffers are addresses and whose ierror is always there.
      subroutine steps_mpif(comm, type, op, number)
      implicit none
      include 'mpif.h'
      integer comm, type, op, number
      integer total(2), sent(2), ranks, error, request
      asynchronous total
      call MPI_COMM_SIZE(comm, ranks, error)
      sent(1) = number
      sent(2) = 2 * number
      total(1) = 0
      total(2) = 0
      error = -7
      call MPI_ALLREDUCE(sent(1), total, 2, type, op, comm, error)
      if (error .ne. MPI_SUCCESS .or. total(1) .ne.
     &    ranks * (ranks + 1) / 2 .or. total(2) .ne. 2 * total(1)) then
        print *, 'FAIL: a sum with mpif.h'
        error stop 1
      end if
      call MPI_ALLREDUCE(MPI_IN_PLACE, sent, 2, type, op, comm, error)
      if (sent(1) .ne. total(1) .or. sent(2) .ne. total(2)) then
        print *, 'FAIL: a sum in place with mpif.h'
        error stop 1
      end if
      call MPI_IRECV(total, 1, type, MPI_ANY_SOURCE, 9, comm,
     &               request, error)
      call MPI_SEND(number, 1, type, mod(number, ranks), 9, comm,
     &              error)
      call MPI_WAIT(request, MPI_STATUS_IGNORE, error)
      if (error .ne. MPI_SUCCESS .or. total(1) .ne.
     &    mod(number + ranks - 2, ranks) + 1) then
        print *, 'FAIL: a message with mpif.h'
        error stop 1
      end if
      call MPI_BCAST(total, 1, type, ranks, comm, error)
      if (error .ne. MPI_ERR_ROOT) then
        print *, 'FAIL: an error with mpif.h', error
        error stop 1
      end if
      call MPI_BARRIER(comm, error)
      end
