! SPDX-License-Identifier: BSD-3-Clause
! The part with mpif.h, in fixed form.
      subroutine with_mpif(comm, datatype, status, key)
      implicit none
      include 'mpif.h'
      integer comm, datatype, status(MPI_STATUS_SIZE), key, ierror
      integer bytes, count, rank, ranks, a(2), failed
      integer (kind=MPI_ADDRESS_KIND) value
      logical found
      call MPI_TYPE_SIZE(datatype, bytes, ierror)
      call MPI_GET_COUNT(status, datatype, count, ierror)
      call MPI_COMM_GET_ATTR(comm, key, value, found, ierror)
      call MPI_COMM_RANK(comm, rank, ierror)
      call MPI_COMM_SIZE(comm, ranks, ierror)
      a(1) = rank
      a(2) = 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, a, 2, MPI_INTEGER, MPI_SUM,
     &                   comm, ierror)
      if (bytes .ne. 8 .or. count .ne. 1 .or. .not. found .or.
     &    value .ne. 1234567890123_MPI_ADDRESS_KIND .or.
     &    status(MPI_TAG) .ne. 9 .or. a(2) .ne. ranks .or.
     &    a(1) .ne. ranks * (ranks - 1) / 2) then
        print *, 'failed: the part with mpif.h'
        call MPI_ABORT(MPI_COMM_WORLD, 1, failed)
      end if
      end
