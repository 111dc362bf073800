! SPDX-License-Identifier: BSD-3-Clause
! What C must be told of the compiler: its values of .TRUE. and .FALSE., the bytes of its default types, and which of the
! optional types it has.
module plf_values
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, logical_kinds, real32, real64, real128
  implicit none
  private
  integer(c_int), public, bind(C, name="plf_true") :: plf_true = transfer(.true., 0_c_int)
  integer(c_int), public, bind(C, name="plf_false") :: plf_false = transfer(.false., 0_c_int)

  ! LOGICAL, INTEGER, REAL, DOUBLE PRECISION
  integer(c_int), public, bind(C, name="plf_bytes") :: plf_bytes(4) = &
    [storage_size(.true.), storage_size(0), storage_size(0.0), storage_size(0d0)] / 8

  ! INTEGER and LOGICAL of 1, 2, 4, 8, 16 bytes; REAL of 2, 4, 8, 16. The kinds of LOGICAL are those of INTEGER.
  integer, parameter :: int128 = selected_int_kind(38)
  integer, parameter :: whole(5) = [int8, int16, int32, int64, int128]
  logical, parameter :: has_logical(5) = [any(logical_kinds == int8), any(logical_kinds == int16), &
    any(logical_kinds == int32), any(logical_kinds == int64), any(logical_kinds == int128)]
  logical, parameter :: has_real(4) = [selected_real_kind(3, 4) /= selected_real_kind(6, 37), &
    real32 > 0, real64 > 0, real128 > 0]
  integer(c_int), public, bind(C, name="plf_has_integer") :: plf_has_integer(5) = merge(1_c_int, 0_c_int, whole > 0)
  integer(c_int), public, bind(C, name="plf_has_logical") :: plf_has_logical(5) = merge(1_c_int, 0_c_int, has_logical)
  integer(c_int), public, bind(C, name="plf_has_real") :: plf_has_real(4) = merge(1_c_int, 0_c_int, has_real)
end module plf_values
