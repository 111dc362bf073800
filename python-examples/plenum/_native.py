# SPDX-License-Identifier: BSD-3-Clause
"""Finds the libraries, and declares the functions of plenum.h.

A library is searched in the directory that PLENUM_LIB names, and only there. Without the variable the places are
build/lib of this file's source tree, lib of the installation or environment that this file belongs to, and then the
system's libraries.
"""
import ctypes
import ctypes.util
import os
import shutil
import sysconfig
from collections.abc import Mapping
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_long, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent.parent
"""The directory that holds this package."""


def find_library(name: str, soname: str) -> str:
    """The path of a library, or a name that the dynamic linker understands.

    `name` is what ctypes.util.find_library() takes ("plenum"), `soname` the file ("libplenum.so.1").
    """
    named = os.environ.get("PLENUM_LIB")
    if named:
        return os.path.abspath(os.path.join(named, soname))
    above = list(HOME.parents)[:2]  # PREFIX/lib of PREFIX/lib/python3.11/site-packages
    data = Path(sysconfig.get_path("data"), "lib")
    for directory in (HOME.parent / "build" / "lib", *above, data):
        if (directory / soname).exists():
            return str(directory / soname)
    return ctypes.util.find_library(name) or soname


def find_tool(name: str) -> str:
    """The path of mpiexec, mpicc and so on: beside the library, else in PATH.

    Raises FileNotFoundError when there is none.
    """
    library = find_library("plenum", "libplenum.so.1")
    beside = Path(library).parent.parent / "bin" / name if os.sep in library else None
    found = str(beside) if beside and os.access(beside, os.X_OK) else shutil.which(name)
    if not found:
        raise FileNotFoundError(f"there is no {name} beside {library} or in PATH; set PLENUM_LIB to the lib directory")
    return found


def python_path() -> str:
    """A value of PYTHONPATH with which another Python finds this package, and everything in this one's PYTHONPATH."""
    inherited = os.environ.get("PYTHONPATH")
    return f"{HOME}{os.pathsep}{inherited}" if inherited else str(HOME)


def load(name: str, soname: str, prototypes: Mapping[str, tuple[Any, ...]]) -> ctypes.CDLL:
    """Loads a library and gives its functions their types: (result, arguments...).

    Foreign calls give up the interpreter lock, so other threads run while one waits in them.
    """
    path = find_library(name, soname)
    try:
        library = ctypes.CDLL(path)
        for function_name, (result, *arguments) in prototypes.items():
            function = getattr(library, function_name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:  # there is none, or it is of another version
        raise ImportError(f"{path} cannot be used ({error}); run `make`, or set PLENUM_LIB to the directory that "
                          f"holds {soname}") from None
    return library


class NativeEvent(ctypes.Structure):
    """struct plenum_event; test_module compares it with the compiler's."""
    _fields_ = [("kind", c_int), ("flags", c_uint), ("job_id", c_uint64), ("job", c_void_p), ("user", c_void_p),
                ("rank", c_int), ("pid", c_int), ("code", c_int), ("signal", c_int), ("stream", c_int),
                ("text", c_void_p), ("length", c_size_t), ("object", c_char_p), ("report", c_char_p),
                ("time_us", c_int64), ("run_us", c_int64), ("user_us", c_int64), ("system_us", c_int64),
                ("peak", c_int64)]


class NativeHost(ctypes.Structure):
    """struct plenum_host; test_module compares it with the compiler's."""
    _fields_ = [("name", c_char * 256), ("reason", c_char * 256), ("state", c_int), ("slots", c_int), ("ranks", c_int),
                ("places", c_int * 8)]


class NativeProcess(ctypes.Structure):
    """struct plenum_process; test_module compares it with the compiler's."""
    _fields_ = [("state", c_int), ("pid", c_int), ("program", c_char_p), ("host", c_char * 256)]


EventPointer = POINTER(NativeEvent)
_PROTOTYPES = {
    "plenum_error": (c_char_p,),
    "plenum_runtime_open": (c_int, POINTER(c_void_p)),
    "plenum_runtime_close": (None, c_void_p),
    "plenum_runtime_stop": (None, c_void_p),
    "plenum_runtime_fd": (c_int, c_void_p),
    "plenum_runtime_next_event": (c_int, c_void_p, POINTER(EventPointer)),
    "plenum_runtime_resource": (c_int, c_void_p, c_char_p, c_int),
    "plenum_runtime_host": (c_int, c_void_p, c_int, POINTER(NativeHost), c_size_t),
    "plenum_runtime_host_add": (c_int, c_void_p, c_char_p, c_int, c_char_p),
    "plenum_runtime_host_resource": (c_int, c_void_p, c_char_p, c_char_p, c_int),
    "plenum_runtime_host_remove": (c_int, c_void_p, c_char_p),
    "plenum_runtime_set": (c_int, c_void_p, c_int, c_long),
    "plenum_runtime_want_pmix": (c_int, c_void_p),
    "plenum_event_free": (None, EventPointer),
    "plenum_event_describe": (c_int, EventPointer, c_char_p, c_size_t),
    "plenum_job_create": (c_int, c_void_p, POINTER(c_void_p)),
    "plenum_job_create_json": (c_int, c_void_p, c_char_p, POINTER(c_void_p)),
    "plenum_job_json": (c_void_p, c_void_p),
    "plenum_job_close": (None, c_void_p),
    "plenum_job_hold_output": (c_int, c_void_p, c_int),
    "plenum_job_id": (c_uint64, c_void_p),
    "plenum_job_process": (c_int, c_void_p, c_int, POINTER(NativeProcess), c_size_t),
    "plenum_job_report": (c_int, c_void_p),
    "plenum_job_size": (c_int, c_void_p),
    "plenum_job_add_program": (c_int, c_void_p, c_int, POINTER(c_char_p), POINTER(c_int)),
    "plenum_job_env": (c_int, c_void_p, c_int, c_char_p, c_char_p),
    "plenum_job_env_clear": (c_int, c_void_p),
    "plenum_job_wdir": (c_int, c_void_p, c_int, c_char_p),
    "plenum_job_path": (c_int, c_void_p, c_int, c_char_p),
    "plenum_job_pset": (c_int, c_void_p, c_char_p, POINTER(c_int * 2), c_int),
    "plenum_job_pset_publish": (c_int, c_void_p, c_char_p, POINTER(c_int * 2), c_int),
    "plenum_job_pset_withdraw": (c_int, c_void_p, c_char_p),
    "plenum_job_redirect": (c_int, c_void_p, c_int, c_int, c_int),
    "plenum_job_redirect_file": (c_int, c_void_p, c_int, c_int, c_char_p),
    "plenum_job_place": (c_int, c_void_p, c_int, c_char_p),
    "plenum_job_host": (c_int, c_void_p, c_int, c_char_p),
    "plenum_job_cpus": (c_int, c_void_p, c_int, c_char_p, c_size_t),
    "plenum_job_numbers": (c_int, c_void_p, c_int, c_char_p, c_char_p, c_size_t),
    "plenum_job_resource": (c_int, c_void_p, c_char_p, c_int, c_int),
    "plenum_job_set": (c_int, c_void_p, c_int, c_long),
    "plenum_job_launch": (c_int, c_void_p),
    "plenum_job_signal": (c_int, c_void_p, c_int, c_int),
    "plenum_job_cancel": (c_int, c_void_p),
    "plenum_job_wait": (c_int, c_void_p, c_int, POINTER(c_int)),
}


def load_runtime() -> ctypes.CDLL:
    """libplenum with the types of its functions."""
    return load("plenum", "libplenum.so.1", _PROTOTYPES)


def take_text(address: int) -> bytes:
    """Copies a text that the caller of the library must free, and frees it."""
    try:
        return ctypes.string_at(address)
    finally:
        libc = ctypes.CDLL(None)
        libc.free.argtypes = (c_void_p,)
        libc.free(address)
