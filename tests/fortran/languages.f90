! SPDX-License-Identifier: BSD-3-Clause
! A program in four parts, one for each interface and C, which pass handles, statuses and attributes to each other.
program languages
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine with_mpi(comm, datatype, status, key)
      integer :: comm, datatype, status(*), key
    end subroutine
    subroutine with_mpif(comm, datatype, status, key)
      integer :: comm, datatype, status(*), key
    end subroutine
    integer(c_int) function with_c(comm, datatype, status, key) bind(C)
      import
      integer(c_int), value :: comm, datatype, key
      integer(c_int) :: status(*)
    end function
  end interface
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: datatype
  type(MPI_Status) :: status
  integer :: rank, f_status(MPI_STATUS_SIZE), key, count
  integer(MPI_ADDRESS_KIND) :: value
  real :: x(4), y(4)
  logical :: found

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Type_vector(2, 1, 2, MPI_REAL, datatype)
  call MPI_Type_commit(datatype)
  x = rank; y = -1
  call MPI_Sendrecv(x, 1, datatype, rank, 9, y, 1, datatype, rank, 9, comm, status)
  call MPI_Status_f082f(status, f_status)
  call expect(f_status(MPI_SOURCE) == rank .and. f_status(MPI_TAG) == 9, 'a status as integers')
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(comm, key, 1234567890123_MPI_ADDRESS_KIND)
  call with_mpi(comm%MPI_VAL, datatype%MPI_VAL, f_status, key)
  call with_mpif(comm%MPI_VAL, datatype%MPI_VAL, f_status, key)
  call expect(with_c(comm%MPI_VAL, datatype%MPI_VAL, f_status, key) == 0, 'the part in C')
  ! C has replaced the attribute by a pointer of its own, and changed the status.
  call MPI_Comm_get_attr(comm, key, value, found)
  call expect(found .and. value == 4096, 'an attribute of C is its pointer')
  call MPI_Status_f2f08(f_status, status)
  call MPI_Get_elements(status, MPI_INTEGER, count)
  call expect(status%MPI_TAG == 77 .and. count == 5, 'a status that C has changed')
  call MPI_Comm_free_keyval(key)
  call MPI_Type_free(datatype)
  call MPI_Comm_free(comm)
  call MPI_Finalize()
contains
  include 'expect.inc'
end program
