! SPDX-License-Identifier: BSD-3-Clause
! The constants of mpif.h: those that say what it does not have, and kinds.
      subroutine modules_mpif(comm, status)
      implicit none
      include 'mpif.h'
      integer comm, status(MPI_STATUS_SIZE), rank, error, count
      integer sections, protected
      parameter (sections=merge(1, 2, MPI_SUBARRAYS_SUPPORTED))
      parameter (protected=merge(1, 2, MPI_ASYNC_PROTECTS_NONBLOCKING))
      integer (kind=MPI_ADDRESS_KIND) address
      integer (kind=MPI_COUNT_KIND) bytes
      integer (kind=MPI_OFFSET_KIND) offset
      call MPI_COMM_RANK(comm, rank, error)
      call MPI_SEND(rank, 1, MPI_INTEGER, MPI_PROC_NULL, 1, comm, error)
      call MPI_SENDRECV(rank, 1, MPI_INTEGER, rank, 5, count, 1,
     &                  MPI_INTEGER, rank, 5, comm, status, error)
      call MPI_GET_ADDRESS(count, address, error)
      call MPI_TYPE_SIZE_X(MPI_INTEGER, bytes, error)
      offset = MPI_DISPLACEMENT_CURRENT
      if (sections .ne. 2 .or. protected .ne. 2 .or. count .ne. rank
     &    .or. status(MPI_TAG) .ne. 5 .or. status(MPI_SOURCE) .ne. rank
     &    .or. bytes .ne. 4 .or. address .eq. 0 .or. offset .eq. 0
     &    .or. MPI_VERSION .ne. 5 .or. MPI_ABI_VERSION .ne. 1) then
        print *, 'failed: the constants of mpif.h'
        call MPI_ABORT(MPI_COMM_WORLD, 1, error)
      end if
      end
