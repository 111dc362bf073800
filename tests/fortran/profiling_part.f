! SPDX-License-Identifier: BSD-3-Clause
! The tool and the program with mpif.h.
      SUBROUTINE MPI_SEND(BUF, COUNT, DATATYPE, DEST, TAG, COMM, IERROR)
      USE PROFILING_PART
      IMPLICIT NONE
      INTEGER BUF(*), COUNT, DATATYPE, DEST, TAG, COMM, IERROR
      SEEN%SENDS_MPIF = SEEN%SENDS_MPIF + 1
      CALL PMPI_SEND(BUF, COUNT, DATATYPE, DEST, TAG, COMM, IERROR)
      END

      SUBROUTINE PROFILING_MPIF(RANK, RANKS)
      USE PROFILING_PART
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER RANK, RANKS, A(4), B(4), REQUEST, IERROR, I, PREV
      PREV = MOD(RANK + RANKS - 1, RANKS)
      DO I = 1, 4
        A(I) = I + 1000 * RANK
      END DO
      CALL MPI_IRECV(B, 4, MPI_INTEGER, PREV, 3, MPI_COMM_WORLD,        &
     &               REQUEST, IERROR)
      CALL MPI_SEND(A, 4, MPI_INTEGER, MOD(RANK + 1, RANKS), 3,         &
     &              MPI_COMM_WORLD, IERROR)
      CALL MPI_WAIT(REQUEST, MPI_STATUS_IGNORE, IERROR)
      IF (SEEN%SENDS_MPIF .NE. 1 .OR. ANY(B .NE. A + 1000 *             &
     &    (PREV - RANK))) THEN
        PRINT *, 'profiling: a tool for mpif.h'
        CALL MPI_ABORT(MPI_COMM_WORLD, 1, IERROR)
      END IF
      END
