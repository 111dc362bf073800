! SPDX-License-Identifier: BSD-3-Clause
! Programs that ask the compiler for standard Fortran can use both modules: this one is compiled with -std=f2018.
! ranks: 1 2
program standard
  use mpi_f08
  use standard_part
  implicit none
  logical :: yes, no, is_set
  integer :: bytes, numbers(5), rank

  call MPI_Init()
  bytes = storage_size(yes) / 8
  yes = .false.
  no = .true.
  is_set = .false.
  call MPI_Abi_get_fortran_booleans(bytes, yes, no, is_set)
  call expect(is_set .and. yes .and. .not. no, 'the truth values of this compiler')
  call expect_info()
  call with_module_mpi(bytes)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  numbers = 0
  if (rank == 0) numbers(1:5:2) = [7, 8, 9]
  call MPI_Bcast(numbers(1:5:2), 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call expect(all(numbers == [7, 0, 8, 0, 9]), 'a section')
  call MPI_Finalize()
contains
  ! The C library knows the compiler's types.
  subroutine expect_info()
    type(MPI_Info) :: info
    character(len=8) :: value
    integer :: length
    logical :: found
    call MPI_Abi_get_fortran_info(info)
    call expect(info /= MPI_INFO_NULL, 'the types of this compiler')
    length = len(value)
    call MPI_Info_get_string(info, 'mpi_integer_size', length, value, found)
    call expect(found .and. value == '4', 'the size of INTEGER')
    length = len(value)
    call MPI_Info_get_string(info, 'mpi_integer8_supported', length, value, found)
    call expect(found .and. value == 'true', 'INTEGER of 8 bytes')
    length = len(value)
    call MPI_Info_get_string(info, 'mpi_complex32_supported', length, value, found)
    call expect(found .and. (value == 'true' .eqv. selected_real_kind(33) > 0), 'COMPLEX of 32 bytes')
    call MPI_Info_free(info)
  end subroutine

  include 'expect.inc'
end program
