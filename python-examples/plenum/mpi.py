# SPDX-License-Identifier: BSD-3-Clause
"""MPI for a process that wants it for a while: a session, process sets, communicators, and data in buffers.

    from array import array
    from plenum import mpi

    with mpi.Session() as session, session.comm("mpi://WORLD", "org.example.sum") as comm:
        total = array("d", [comm.rank])
        comm.allreduce(total)

Objects are pickled: `comm.send_object()`, `recv_object()`, `bcast_object()`, `allgather_objects()`.

Nothing of MPI exists before a session is opened and nothing remains after it is closed; a process opens as many as it
wants, one after the other or side by side. Data are objects with a contiguous buffer (arrays of numpy, array,
bytearray, memoryview, ctypes arrays; bytes to send from); the type of their items is the MPI datatype. Errors are
exceptions with the library's message. An exception that leaves the `with` of a session or a communicator leaves it
open, since closing may wait for processes that wait for this one; the end of this process then ends the job. A program
that catches the exception may close().

One thread at a time uses a session, unless it was opened with THREAD_MULTIPLE.
"""
from __future__ import annotations

import ctypes
import enum
import pickle
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias

from . import _abi

ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED = _abi.ANY_SOURCE, _abi.ANY_TAG, _abi.PROC_NULL, _abi.UNDEFINED
THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE = _abi.THREAD_LEVELS

Buffer: TypeAlias = "bytes | bytearray | memoryview | ctypes.Array | Sequence"
"""What holds data: anything that memoryview() takes, with contiguous items of a C type."""

Op = enum.IntEnum("Op", _abi.OPS)
Op.__doc__ = "Reductions: Op.SUM, Op.MIN, Op.MAX ..."

_lib = _abi.load_mpi()


class Error(Exception):
    """An MPI function failed. `function` is its name, `error_class` the error class; the text is the library's."""

    def __init__(self, function: str, code: int) -> None:
        number, room, length = ctypes.c_int(), ctypes.create_string_buffer(_abi.MAX_ERROR_STRING), ctypes.c_int()
        _lib.MPI_Error_string(code, room, ctypes.byref(length))
        _lib.MPI_Error_class(code, ctypes.byref(number))
        super().__init__(room.value.decode(errors="replace"))
        self.function, self.code, self.error_class = function, code, number.value

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process gets the text of this one."""
        return Exception.__new__, (type(self), *self.args), self.__dict__


def _call(name: str, *arguments: object) -> None:
    code = getattr(_lib, name)(*arguments)
    if code != _abi.SUCCESS:
        raise Error(name, code)


def _number(name: str, *arguments: object) -> int:
    result = ctypes.c_int()
    _call(name, *arguments, ctypes.byref(result))
    return result.value


def _handle(name: str, *arguments: object) -> ctypes.c_void_p:
    result = ctypes.c_void_p()
    _call(name, *arguments, ctypes.byref(result))
    return result


class _Data:
    """Address, count and datatype of a buffer; keeps it in place while this object lives."""

    def __init__(self, buffer: Buffer, writable: bool) -> None:
        view = memoryview(buffer)
        code = view.format.lstrip("@=<")
        if not view.c_contiguous or code not in _abi.DATATYPES:
            raise TypeError(f"a buffer of contiguous C numbers is needed, and this one has items {view.format!r}")
        if writable and view.readonly:
            raise TypeError(f"{type(buffer).__name__} is read-only, and data are to be written to it")
        self.count = view.nbytes // view.itemsize
        self.datatype = _abi.DATATYPES[code]
        place = ctypes.c_char * view.nbytes
        flat = view.cast("B") if view.nbytes else b""
        self._kept = place.from_buffer_copy(flat) if view.readonly or not view.nbytes else place.from_buffer(flat)
        self.address = ctypes.addressof(self._kept)
        self.triple = (self.address, self.count, self.datatype)

    def bytes(self) -> bytes:
        """What is in the buffer now."""
        return ctypes.string_at(self.address, ctypes.sizeof(self._kept))


def _info_items(info: ctypes.c_void_p) -> Iterator[tuple[str, str]]:
    for n in range(_number("MPI_Info_get_nkeys", info)):
        key, value = ctypes.create_string_buffer(_abi.MAX_INFO_KEY), ctypes.create_string_buffer(_abi.MAX_INFO_VAL)
        _call("MPI_Info_get_nthkey", info, n, key)
        _call("MPI_Info_get_string", info, key, ctypes.byref(ctypes.c_int(len(value))), value,
              ctypes.byref(ctypes.c_int()))
        yield key.value.decode(errors="replace"), value.value.decode(errors="replace")


def library_version() -> str:
    """The library's line about itself."""
    room, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    _call("MPI_Get_library_version", room, ctypes.byref(length))
    return room.value.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Status:
    """What arrived: the source rank, the tag, and the number of items."""
    source: int
    tag: int
    count: int


class Request:
    """An operation under way. It keeps its buffer; complete it by wait(), or by test() until that gives a Status."""

    def __init__(self, handle: ctypes.c_void_p, data: _Data, receives: bool) -> None:
        self._handle, self._data, self._receives = handle, data, receives
        self._status: Status | None = None

    def __del__(self) -> None:
        if self._status is None:
            _abandoned.append(self._data)  # MPI still reads or writes there

    def wait(self) -> Status:
        """Waits until the operation is complete. Source and tag are those of a message that was received."""
        if self._status is None:
            native = _abi.NativeStatus()
            _call("MPI_Wait", ctypes.byref(self._handle), ctypes.byref(native))
            self._complete(native)
        assert self._status
        return self._status

    def test(self) -> Status | None:
        """The status if the operation is complete; None if not yet. Never waits."""
        if self._status is None:
            native, done = _abi.NativeStatus(), ctypes.c_int()
            _call("MPI_Test", ctypes.byref(self._handle), ctypes.byref(done), ctypes.byref(native))
            if done.value:
                self._complete(native)
        return self._status

    def _complete(self, native: _abi.NativeStatus) -> None:
        sent = Status(UNDEFINED, UNDEFINED, self._data.count)
        self._status = _status(native, self._data.datatype) if self._receives else sent


_abandoned: list[_Data] = []
"""Buffers of requests that were lost before they were complete."""


def wait_all(requests: Iterable[Request]) -> list[Status]:
    """Waits for several requests."""
    return [request.wait() for request in requests]


class _Owned:
    """A handle that close() or the end of a `with` frees; otherwise it lives until the end of its session."""
    _give_back = ""
    _needs_others = False

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle = handle

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not (error and self._needs_others):
            self.close()

    def close(self) -> None:
        """Frees the object in MPI. May be called twice."""
        handle, self.handle = self.handle, ctypes.c_void_p()
        if handle:
            _call(self._give_back, ctypes.byref(handle))


def attach(place: str, rank: int, size: int) -> None:
    """Makes this process a rank of a pool of processes that were not launched together: "mpi://WORLD" is the pool then.

    `place` is a directory that the members share, or a file such as /proc/PID/fd/N. The call does not wait for other
    members. Call it before the first session, or when all are closed.
    """
    _call("MPIX_Attach", place.encode(), rank, size)


def detach() -> None:
    """Leaves the pool, when all sessions are closed."""
    _call("MPIX_Detach")


@contextmanager
def attached(place: str, rank: int, size: int, tag: str = "plenum.attached") -> Iterator[Comm]:
    """A communicator of a whole pool, for the time of a `with`: attach(), a session, and detach() at the end.

    After an exception, too, this process has left the pool. The others that wait for it get an Error then.
    """
    attach(place, rank, size)
    try:
        session = Session()
        try:
            comm = session.comm("mpi://WORLD", tag)
            yield comm
            comm.close()
        finally:
            session.close()
    finally:
        detach()


class Session(_Owned):
    """An instance of MPI that belongs to the code that opened it."""
    _give_back = "MPI_Session_finalize"
    _needs_others = True

    def __init__(self, thread_level: int = THREAD_SINGLE) -> None:
        info = _handle("MPI_Info_create")
        try:
            _call("MPI_Info_set", info, b"thread_level", _abi.THREAD_LEVELS[thread_level].encode())
            super().__init__(_handle("MPI_Session_init", info, _abi.ERRORS_RETURN))
        finally:
            _call("MPI_Info_free", ctypes.byref(info))

    def __enter__(self) -> Session:
        return self

    def psets(self) -> list[str]:
        """The names of the process sets."""
        names = []
        for n in range(_number("MPI_Session_get_num_psets", self.handle, _abi.INFO_NULL)):
            room = ctypes.create_string_buffer(_abi.MAX_PSET_NAME_LEN)
            length = ctypes.c_int(len(room))
            _call("MPI_Session_get_nth_pset", self.handle, _abi.INFO_NULL, n, ctypes.byref(length), room)
            names.append(room.value.decode(errors="replace"))
        return names

    def pset_info(self, pset: str) -> dict[str, str]:
        """The info of a process set: mpi_size, in Plenum plenum_version and plenum_provider too, and more."""
        info = _handle("MPI_Session_get_pset_info", self.handle, pset.encode())
        try:
            return dict(_info_items(info))
        finally:
            _call("MPI_Info_free", ctypes.byref(info))

    def publish(self, pset: str, members: Group) -> None:
        """Publishes a process set of the job, or changes it. All processes see it at their next query."""
        _call("MPIX_Session_pset_publish", self.handle, pset.encode(), members.handle)

    def withdraw(self, pset: str) -> None:
        """Withdraws a published process set."""
        _call("MPIX_Session_pset_withdraw", self.handle, pset.encode())

    def group(self, pset: str = "mpi://WORLD") -> Group:
        """The processes of a process set."""
        return Group(_handle("MPI_Group_from_session_pset", self.handle, pset.encode()))

    def comm(self, members: Group | str, tag: str) -> Comm:
        """A communicator of a group or of a process set. All members call this with the same tag."""
        if isinstance(members, Group):
            return Comm(_handle("MPI_Comm_create_from_group", members.handle, tag.encode(), _abi.INFO_NULL,
                                _abi.ERRORS_RETURN))
        with self.group(members) as group:
            return self.comm(group, tag)


class Group(_Owned):
    """Processes in order. Made by Session.group()."""
    _give_back = "MPI_Group_free"

    def __enter__(self) -> Group:
        return self

    @property
    def size(self) -> int:
        """The number of processes."""
        return _number("MPI_Group_size", self.handle)

    @property
    def rank(self) -> int:
        """The rank of this process, or UNDEFINED when it is not a member."""
        return _number("MPI_Group_rank", self.handle)

    def incl(self, ranks: Sequence[int]) -> Group:
        """A group of some of the processes, in the given order."""
        return Group(_handle("MPI_Group_incl", self.handle, len(ranks), (ctypes.c_int * len(ranks))(*ranks)))

    def translate(self, ranks: Sequence[int], other: Group) -> list[int]:
        """The ranks of processes of this group in another one; UNDEFINED for processes that are not members."""
        array = ctypes.c_int * len(ranks)
        result = array()
        _call("MPI_Group_translate_ranks", self.handle, len(ranks), array(*ranks), other.handle, result)
        return list(result)


class Comm(_Owned):
    """A communicator. Made by Session.comm(); closing it is collective."""
    _give_back = "MPI_Comm_free"
    _needs_others = True

    def __init__(self, handle: ctypes.c_void_p) -> None:
        super().__init__(handle)
        self.rank: int = _number("MPI_Comm_rank", handle)
        self.size: int = _number("MPI_Comm_size", handle)

    def __enter__(self) -> Comm:
        return self

    def split(self, color: int, key: int = 0) -> Comm | None:
        """A communicator of the processes that pass the same color; None for a process that passes UNDEFINED."""
        handle = _handle("MPI_Comm_split", self.handle, color, key)
        return None if handle.value == _abi.COMM_NULL else Comm(handle)

    def abort(self, code: int) -> None:
        """Ends the job."""
        _call("MPI_Abort", self.handle, code)

    # --- point to point ---

    def send(self, data: Buffer, dest: int, tag: int = 0) -> None:
        """Sends all items of a buffer."""
        source = _Data(data, writable=False)
        _call("MPI_Send_c", *source.triple, dest, tag, self.handle)

    def recv(self, data: Buffer, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Status:
        """Receives into a buffer, which may be larger than the message."""
        target, native = _Data(data, writable=True), _abi.NativeStatus()
        _call("MPI_Recv_c", *target.triple, source, tag, self.handle, ctypes.byref(native))
        return _status(native, target.datatype)

    def sendrecv(self, data: Buffer, dest: int, into: Buffer, source: int, tag: int = 0) -> Status:
        """Sends one buffer and receives another at the same time. Either side may be PROC_NULL."""
        out, target, native = _Data(data, writable=False), _Data(into, writable=True), _abi.NativeStatus()
        _call("MPI_Sendrecv_c", *out.triple, dest, tag, *target.triple, source, tag, self.handle, ctypes.byref(native))
        return _status(native, target.datatype)

    def probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Status:
        """Waits for a message; the count is in bytes."""
        native = _abi.NativeStatus()
        _call("MPI_Probe", source, tag, self.handle, ctypes.byref(native))
        return _status(native, _abi.DATATYPES["c"])

    def isend(self, data: Buffer, dest: int, tag: int = 0) -> Request:
        """Starts to send all items of a buffer, which must not change before the request is complete."""
        source = _Data(data, writable=False)
        return Request(_handle("MPI_Isend_c", *source.triple, dest, tag, self.handle), source, False)

    def irecv(self, data: Buffer, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Starts to receive into a buffer, which may be larger than the message."""
        target = _Data(data, writable=True)
        return Request(_handle("MPI_Irecv_c", *target.triple, source, tag, self.handle), target, True)

    # --- objects, pickled ---

    def send_object(self, thing: object, dest: int, tag: int = 0) -> None:
        """Sends an object to a rank that calls recv_object()."""
        self.send(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL), dest, tag)

    def isend_object(self, thing: object, dest: int, tag: int = 0) -> Request:
        """Starts to send an object, which may change at once."""
        return self.isend(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL), dest, tag)

    def recv_object(self, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Any:
        """Receives an object. As with pickle.loads(), the sender is trusted."""
        message, native = ctypes.c_void_p(), _abi.NativeStatus()
        _call("MPI_Mprobe", source, tag, self.handle, ctypes.byref(message), ctypes.byref(native))
        room = bytearray(_status(native, _abi.DATATYPES["B"]).count)
        target = _Data(room, writable=True)
        _call("MPI_Mrecv_c", *target.triple, ctypes.byref(message), ctypes.byref(native))
        return pickle.loads(target.bytes())

    def bcast_object(self, thing: object = None, root: int = 0) -> Any:
        """Returns the root's object on every rank."""
        data = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL) if self.rank == root else b""
        size = array("q", [len(data)])
        self.bcast(size, root)
        room = bytearray(data or size[0])
        self.bcast(room, root)
        return pickle.loads(room)

    def allgather_objects(self, thing: object) -> list[Any]:
        """Returns the objects of all ranks on every rank."""
        data = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
        sizes = array("q", [0] * self.size)
        self.allgather(array("q", [len(data)]), sizes)
        starts = [sum(sizes[:rank]) for rank in range(self.size)]
        out, target = _Data(data, writable=False), _Data(bytearray(sum(sizes)), writable=True)
        counts = ctypes.c_int64 * self.size
        _call("MPI_Allgatherv_c", *out.triple, target.address, counts(*sizes), counts(*starts), target.datatype,
              self.handle)
        whole = target.bytes()
        return [pickle.loads(whole[start:start + size]) for start, size in zip(starts, sizes)]

    # --- collectives ---

    def barrier(self) -> None:
        """Waits until all ranks have called it."""
        _call("MPI_Barrier", self.handle)

    def bcast(self, data: Buffer, root: int = 0) -> None:
        """Sends the root's items to all ranks."""
        place = _Data(data, writable=True)
        _call("MPI_Bcast_c", *place.triple, root, self.handle)

    def gather(self, data: Buffer, into: Buffer | None = None, root: int = 0) -> None:
        """Puts the items of all ranks one after the other into a buffer of the root."""
        out = _Data(data, writable=False)
        target = _Data(into, writable=True) if self.rank == root and into is not None else None
        address, count = (target.address, target.count // self.size) if target else (None, 0)
        _call("MPI_Gather_c", *out.triple, address, count, out.datatype, root, self.handle)

    def allgather(self, data: Buffer, into: Buffer) -> None:
        """Puts the items of all ranks one after the other into a buffer of every rank."""
        out, target = _Data(data, writable=False), _Data(into, writable=True)
        _call("MPI_Allgather_c", *out.triple, target.address, target.count // self.size, target.datatype, self.handle)

    def reduce(self, data: Buffer, op: Op = Op.SUM, root: int = 0) -> None:
        """Combines item by item; the result replaces the root's data."""
        place = _Data(data, writable=True)
        send, receive = (_abi.IN_PLACE, place.address) if self.rank == root else (place.address, None)
        _call("MPI_Reduce_c", send, receive, place.count, place.datatype, op, root, self.handle)

    def allreduce(self, data: Buffer, op: Op = Op.SUM) -> None:
        """Combines item by item; the result replaces the data on every rank."""
        place = _Data(data, writable=True)
        _call("MPI_Allreduce_c", _abi.IN_PLACE, *place.triple, op, self.handle)


def _status(native: _abi.NativeStatus, datatype: int) -> Status:
    count = ctypes.c_int64()
    _call("MPI_Get_count_c", ctypes.byref(native), datatype, ctypes.byref(count))
    return Status(native.source, native.tag, count.value)
