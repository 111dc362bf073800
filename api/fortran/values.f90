! SPDX-License-Identifier: BSD-3-Clause
! The compiler's values of .TRUE. and .FALSE., for C.
module plf_values
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private
  integer(c_int), public, bind(C, name="plf_true") :: plf_true = transfer(.true., 0_c_int)
  integer(c_int), public, bind(C, name="plf_false") :: plf_false = transfer(.false., 0_c_int)
end module plf_values
