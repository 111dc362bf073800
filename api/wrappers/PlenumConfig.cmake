# SPDX-License-Identifier: BSD-3-Clause
# find_package(Plenum) gives the targets Plenum::MPI, an ordinary MPI, and Plenum::private and Plenum::private_shared: for
# a library whose MPI is its own (docs/private.md).
get_filename_component(PLENUM_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)

if(NOT TARGET Plenum::private)
  foreach(name MPI private private_shared)
    add_library(Plenum::${name} INTERFACE IMPORTED)
    set_target_properties(Plenum::${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${PLENUM_ROOT}/include")
  endforeach()
  set_target_properties(Plenum::MPI PROPERTIES
    INTERFACE_LINK_LIBRARIES "${PLENUM_ROOT}/lib/libmpi_abi.so")
  set_target_properties(Plenum::private PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS PLENUM_PRIVATE
    INTERFACE_LINK_LIBRARIES
    "${PLENUM_ROOT}/lib/libplenum_private.a;-ljansson;-pthread;-ldl;-lm;-Wl,-rpath,${PLENUM_ROOT}/lib")
  set_target_properties(Plenum::private_shared PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS PLENUM_PRIVATE
    INTERFACE_LINK_LIBRARIES "${PLENUM_ROOT}/lib/libplenum_private.so;-Wl,-rpath,${PLENUM_ROOT}/lib")
endif()
