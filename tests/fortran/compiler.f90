! SPDX-License-Identifier: BSD-3-Clause
! The C library learns this compiler's truth values (MPI-5.0, section 20.4), also where it says that they are set as soon
! as it knows the types.
! ranks: 1 2
program compiler
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function compiler_times_set() bind(C)
      import :: c_int
    end function
  end interface
  logical :: yes, no, is_set
  type(MPI_Info) :: info

  call MPI_Init()
  call expect(compiler_times_set() == 1, 'truth values that are set once')
  yes = .false.; no = .true.; is_set = .false.
  call MPI_Abi_get_fortran_booleans(storage_size(yes) / 8, yes, no, is_set)
  call expect(is_set .and. yes .and. .not. no, 'truth values')
  call MPI_Abi_get_fortran_info(info)
  call expect(info /= MPI_INFO_NULL, 'types')
  call MPI_Info_free(info)
  call MPI_Finalize()
contains
  include 'expect.inc'
end program
