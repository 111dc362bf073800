# SPDX-License-Identifier: BSD-3-Clause
"""The part of the standard MPI ABI that plenum.mpi uses: numbers, and the types of the functions.

Handles are pointers; the predefined ones are small numbers, the same for every library that follows the ABI. Counts are
MPI_Count throughout: only the large-count functions are called.
"""
import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Any

from ._native import load

SUCCESS = 0
ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED = -1, -2, -3, -32766
IN_PLACE = 1
THREAD_LEVELS = {0x0: "MPI_THREAD_SINGLE", 0x400: "MPI_THREAD_FUNNELED", 0x800: "MPI_THREAD_SERIALIZED",
                 0x1000: "MPI_THREAD_MULTIPLE"}
COMM_NULL, GROUP_NULL, INFO_NULL, SESSION_NULL = 0x100, 0x108, 0x130, 0x120
ERRORS_RETURN = 0x143
MAX_ERROR_STRING, MAX_PSET_NAME_LEN, MAX_INFO_KEY, MAX_INFO_VAL = 512, 1024, 256, 1024

OPS = {"SUM": 0x21, "MIN": 0x22, "MAX": 0x23, "PROD": 0x24, "BAND": 0x28, "BOR": 0x29, "BXOR": 0x2a, "LAND": 0x30,
       "LOR": 0x31, "LXOR": 0x32}

DATATYPES = {"c": 0x247, "b": 0x244, "B": 0x245, "?": 0x238, "h": 0x208, "H": 0x20c, "i": 0x209, "I": 0x20d,
             "l": 0x20a, "L": 0x20e, "q": 0x20b, "Q": 0x20f, "f": 0x210, "d": 0x214, "Zf": 0x212,
             "Zd": 0x216}
"""Item formats of memoryview and array, and the datatypes that are the same in C."""


class NativeStatus(ctypes.Structure):
    """MPI_Status."""
    _fields_ = [("source", c_int), ("tag", c_int), ("error", c_int), ("internal", c_int * 5)]


_OUT, _COUNT, _STATUS, _INTS = POINTER(c_void_p), c_int64, POINTER(NativeStatus), POINTER(c_int)
_H = c_void_p  # a handle
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "MPI_Error_class": (c_int, _INTS),
    "MPI_Error_string": (c_int, c_char_p, _INTS),
    "MPI_Get_library_version": (c_char_p, _INTS),
    "MPI_Info_create": (_OUT,),
    "MPI_Info_set": (_H, c_char_p, c_char_p),
    "MPI_Info_free": (_OUT,),
    "MPI_Info_get_nkeys": (_H, _INTS),
    "MPI_Info_get_nthkey": (_H, c_int, c_char_p),
    "MPI_Info_get_string": (_H, c_char_p, _INTS, c_char_p, _INTS),
    "MPI_Session_init": (_H, _H, _OUT),
    "MPI_Session_finalize": (_OUT,),
    "MPI_Session_get_num_psets": (_H, _H, _INTS),
    "MPI_Session_get_nth_pset": (_H, _H, c_int, _INTS, c_char_p),
    "MPI_Group_from_session_pset": (_H, c_char_p, _OUT),
    "MPI_Session_get_pset_info": (_H, c_char_p, _OUT),
    "MPI_Group_size": (_H, _INTS),
    "MPI_Group_rank": (_H, _INTS),
    "MPI_Group_incl": (_H, c_int, _INTS, _OUT),
    "MPI_Group_translate_ranks": (_H, c_int, _INTS, _H, _INTS),
    "MPI_Group_free": (_OUT,),
    "MPI_Comm_create_from_group": (_H, c_char_p, _H, _H, _OUT),
    "MPI_Comm_size": (_H, _INTS),
    "MPI_Comm_rank": (_H, _INTS),
    "MPI_Comm_split": (_H, c_int, c_int, _OUT),
    "MPI_Comm_free": (_OUT,),
    "MPI_Send_c": (_H, _COUNT, _H, c_int, c_int, _H),
    "MPI_Recv_c": (_H, _COUNT, _H, c_int, c_int, _H, _STATUS),
    "MPI_Sendrecv_c": (_H, _COUNT, _H, c_int, c_int, _H, _COUNT, _H, c_int, c_int, _H, _STATUS),
    "MPI_Isend_c": (_H, _COUNT, _H, c_int, c_int, _H, _OUT),
    "MPI_Irecv_c": (_H, _COUNT, _H, c_int, c_int, _H, _OUT),
    "MPI_Wait": (_OUT, _STATUS),
    "MPI_Test": (_OUT, _INTS, _STATUS),
    "MPI_Mprobe": (c_int, c_int, _H, _OUT, _STATUS),
    "MPI_Mrecv_c": (_H, _COUNT, _H, _OUT, _STATUS),
    "MPI_Allgatherv_c": (_H, _COUNT, _H, _H, POINTER(_COUNT), POINTER(_COUNT), _H, _H),
    "MPI_Get_count_c": (_STATUS, _H, POINTER(c_int64)),
    "MPI_Probe": (c_int, c_int, _H, _STATUS),
    "MPI_Barrier": (_H,),
    "MPI_Bcast_c": (_H, _COUNT, _H, c_int, _H),
    "MPI_Gather_c": (_H, _COUNT, _H, _H, _COUNT, _H, c_int, _H),
    "MPI_Allgather_c": (_H, _COUNT, _H, _H, _COUNT, _H, _H),
    "MPI_Reduce_c": (_H, _H, _COUNT, _H, _H, c_int, _H),
    "MPI_Allreduce_c": (_H, _H, _COUNT, _H, _H, _H),
    "MPI_Abort": (_H, c_int),
}
_EXTENSIONS: dict[str, tuple[Any, ...]] = {  # of mpi-ext.h, and only in Plenum
    "MPIX_Session_pset_publish": (_H, c_char_p, _H),
    "MPIX_Session_pset_withdraw": (_H, c_char_p),
    "MPIX_Attach": (c_char_p, c_int, c_int),
    "MPIX_Detach": (),
}


def load_mpi() -> ctypes.CDLL:
    """libmpi_abi with the types of the functions that are used."""
    library = load("mpi_abi", "libmpi_abi.so.1", {name: (c_int, *arguments) for name, arguments in _ARGUMENTS.items()})
    for name, arguments in _EXTENSIONS.items():
        if hasattr(library, name):
            getattr(library, name).argtypes = arguments
    return library
