/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and layouts of the standard ABI; check_abi compiles them behind <mpi.h>. */
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

_Static_assert(_Generic((MPI_Aint)0, intptr_t : 1, default : 0), "MPI_Aint");
_Static_assert(_Generic((MPI_Offset)0, int64_t : 1, default : 0), "MPI_Offset");
_Static_assert(_Generic((MPI_Count)0, int64_t : 1, default : 0), "MPI_Count");
_Static_assert(_Generic((MPI_Fint)0, int : 1, default : 0), "MPI_Fint");

_Static_assert(sizeof(MPI_Status) == 32, "size of a status");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, "MPI_SOURCE");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == 4, "MPI_TAG");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 8, "MPI_ERROR");
_Static_assert(offsetof(MPI_Status, MPI_internal) == 12, "MPI_internal");

_Static_assert(sizeof(MPI_Comm) == sizeof(void *), "a handle is a pointer");
_Static_assert(sizeof(MPI_T_source_order) == sizeof(int), "MPI_T_source_order");
_Static_assert(sizeof(MPI_T_cb_safety) == sizeof(int), "MPI_T_cb_safety");

/* A type may be defined again in C11 if it is the same. */
typedef void MPI_User_function(void *, void *, int *, MPI_Datatype *);
typedef void MPI_User_function_c(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void *, void *, void *, int *);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void *, void *);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);
typedef int MPI_Copy_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Delete_function(MPI_Comm, int, void *, void *);
typedef void MPI_Comm_errhandler_function(MPI_Comm *, int *, ...);
typedef void MPI_File_errhandler_function(MPI_File *, int *, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *, int *, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *, int *, ...);
typedef void MPI_Comm_errhandler_fn(MPI_Comm *, int *, ...);
typedef void MPI_File_errhandler_fn(MPI_File *, int *, ...);
typedef void MPI_Session_errhandler_fn(MPI_Session *, int *, ...);
typedef void MPI_Win_errhandler_fn(MPI_Win *, int *, ...);
typedef int MPI_Grequest_query_function(void *, MPI_Status *);
typedef int MPI_Grequest_free_function(void *);
typedef int MPI_Grequest_cancel_function(void *, int);
typedef int MPI_Datarep_extent_function(MPI_Datatype, MPI_Aint *, void *);
typedef int MPI_Datarep_conversion_function(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
typedef int MPI_Datarep_conversion_function_c(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
typedef void MPI_T_event_cb_function(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void MPI_T_event_free_cb_function(MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void MPI_T_event_dropped_cb_function(MPI_Count, MPI_T_event_registration, int, MPI_T_cb_safety, void *);
