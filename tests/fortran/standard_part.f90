! SPDX-License-Identifier: BSD-3-Clause
! The part of standard.f90 that uses the module mpi.
module standard_part
  use mpi
  implicit none
  private
  public :: with_module_mpi
contains
  include 'expect.inc'

  subroutine with_module_mpi(bytes)
    integer, intent(in) :: bytes
    integer :: numbers(4), ierror
    logical :: yes, no, is_set
    yes = .false.
    no = .true.
    is_set = .false.
    call MPI_Abi_get_fortran_booleans(bytes, yes, no, is_set, ierror)
    call expect(ierror == MPI_SUCCESS .and. is_set .and. yes .and. .not. no, 'the truth values in module mpi')
    numbers = [1, 2, 3, 4]
    call MPI_Allreduce(MPI_IN_PLACE, numbers(1:3:2), 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
    call expect(ierror == MPI_SUCCESS .and. all(numbers == [1, 2, 3, 4]), 'a section in module mpi')
  end subroutine
end module
