! SPDX-License-Identifier: BSD-3-Clause
! The predefined callbacks of attributes and data representations, for module mpi.
module mpi_callbacks
  use mpi_constants
  implicit none
  public
  private :: copy_template, delete_template

  abstract interface
    subroutine copy_template(object, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
      import
      integer :: object, keyval, ierror
      integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
    subroutine delete_template(object, keyval, attribute_val, extra_state, ierror)
      import
      integer :: object, keyval, ierror
      integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
  end interface

  procedure(copy_template) :: MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN
  procedure(copy_template) :: MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN
  procedure(copy_template) :: MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN
  procedure(delete_template) :: MPI_COMM_NULL_DELETE_FN, MPI_TYPE_NULL_DELETE_FN, MPI_WIN_NULL_DELETE_FN
  external :: MPI_NULL_COPY_FN, MPI_DUP_FN, MPI_NULL_DELETE_FN, MPI_CONVERSION_FN_NULL
end module mpi_callbacks
