# SPDX-License-Identifier: BSD-3-Clause
"""Runtime, Job and Event: plenum.h as Python objects.

The documentation of the functions is in plenum.h; here is what differs. Objects are context managers; what was closed
is not used again. Every function may be called from any thread.
"""
from __future__ import annotations

import ctypes
import enum
import json
import os
import select
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._native import EventPointer, NativeEvent, load_runtime, take_text

_lib = load_runtime()

ALL = -1
"""All programs of a job, or all its ranks."""

_SLICE = 0.2  # seconds that a wait stays in the library, so that Ctrl-C is heard


class ErrorCode(enum.IntEnum):
    """enum plenum_error."""
    OK = 0
    ARGUMENT = 1
    STATE = 2
    NOT_FOUND = 3
    NOT_EXECUTABLE = 4
    WDIR = 5
    LIMIT = 6
    MEMORY = 7
    TIMEOUT = 8
    SYSTEM = 9


class EventKind(enum.IntEnum):
    """enum plenum_event_kind."""
    STARTED = 1
    UNSTARTED = 2
    OUTPUT = 3
    EXITED = 4
    LOST = 5
    ABORTED = 6
    TIMEOUT = 7
    FINISHED = 8
    QUEUED = 9
    PSETS = 10
    REPORT = 11
    ERROR = 12


class EventFlag(enum.IntFlag):
    """enum plenum_event_flag."""
    EXPECTED = 1
    UNFINALIZED = 2
    PARTIAL = 4
    CORE = 8
    CANCELLED = 16


class JobOption(enum.IntEnum):
    """enum plenum_job_option."""
    TIME_LIMIT = 1
    GRACE = 2
    KEEP_GOING = 3
    PMIX = 4
    SLOTS = 5
    BIND = 6
    UNIVERSE = 7
    MAP = 8
    TERMINAL = 9


class RuntimeOption(enum.IntEnum):
    """enum plenum_runtime_option."""
    SLOTS = 1


class Bind(enum.IntEnum):
    """enum plenum_bind: values of JobOption.BIND."""
    NONE = 0
    CORE = 1
    SOCKET = 2
    NUMA = 3
    THREAD = 4


class Pmix(enum.IntEnum):
    """enum plenum_pmix: values of JobOption.PMIX."""
    OFF = 0
    ON = 1
    AUTO = 2


class Map(enum.IntEnum):
    """enum plenum_map: values of JobOption.MAP."""
    SLOT = 0
    SOCKET = 1
    NUMA = 2


class PlenumError(Exception):
    """A function of libplenum failed. `code` is the kind of error, the text is the library's."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class PlenumTimeout(PlenumError, TimeoutError):
    """The time limit has passed; nothing was changed."""


def _check(code: int) -> None:
    if code == ErrorCode.OK:
        return
    text = _lib.plenum_error().decode(errors="replace")
    raise (PlenumTimeout if code == ErrorCode.TIMEOUT else PlenumError)(code, text)


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, copied out of a struct plenum_event."""
    kind: int
    """An EventKind, or a plain number from a library that is newer than this module."""
    flags: EventFlag
    job_id: int
    job: Job | None
    """None when the job was closed."""
    rank: int
    """-1: the job as a whole."""
    pid: int
    code: int
    signal: int
    stream: int
    data: bytes
    """OUTPUT: whole lines as they were written."""
    object: str
    """ABORTED: the communicator, window, file or session by name."""
    message: str
    """The event in words; for OUTPUT and REPORT the text itself."""
    report: dict[str, Any] | None = None
    """REPORT: the same as `text`, as data (docs/RUNTIME.md)."""

    @property
    def text(self) -> str:
        """`data` as text."""
        return self.data.decode(errors="replace")

    @property
    def psets(self) -> dict[str, list[int]]:
        """PSETS: the ranks of each published set, as they are now."""
        found = {}
        for line in self.lines:
            name, _, ranges = line.split(" ")
            pairs = [part.split("-") for part in ranges.split(",") if part]
            found[name] = [rank for pair in pairs for rank in range(int(pair[0]), int(pair[-1]) + 1)]
        return found

    @property
    def lines(self) -> list[str]:
        """OUTPUT: the lines without their ends."""
        return self.text.splitlines()


def _describe(native: ctypes._Pointer[NativeEvent]) -> str:
    room = ctypes.create_string_buffer(1024)
    length = _lib.plenum_event_describe(native, room, len(room))
    if length >= len(room):
        room = ctypes.create_string_buffer(length + 1)
        _lib.plenum_event_describe(native, room, len(room))
    return room.value.decode(errors="replace")


def _to_event(native: ctypes._Pointer[NativeEvent], jobs: dict[int, Job]) -> Event:
    it = native.contents
    data = ctypes.string_at(it.text, it.length) if it.text else b""
    kind: int = EventKind(it.kind) if it.kind in EventKind.__members__.values() else it.kind
    whole = kind in (EventKind.OUTPUT, EventKind.REPORT)
    message = data.decode(errors="replace") if whole else _describe(native)
    named = (it.object or b"").decode(errors="replace")
    return Event(kind, EventFlag(it.flags), it.job_id, jobs.get(it.job_id), it.rank, it.pid, it.code, it.signal,
                 it.stream, data, named, message, json.loads(it.report) if it.report else None)


def _pairs(ranks: Iterable[int | tuple[int, int]]) -> tuple[ctypes.Array[Any], int]:
    """Ranks and pairs (first, last) as C has them."""
    pairs = [(one, one) if isinstance(one, int) else one for one in ranks]
    return ((ctypes.c_int * 2) * max(1, len(pairs)))(*pairs), len(pairs)


class Runtime:
    """A runtime: it launches jobs and delivers their events. Closing it ends running jobs."""

    def __init__(self) -> None:
        self._handle = ctypes.c_void_p()
        self._jobs: dict[int, Job] = {}
        _check(_lib.plenum_runtime_open(ctypes.byref(self._handle)))

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kills running jobs and frees all resources, jobs included. May be called twice."""
        for job in self._jobs.values():
            job._handle = None
        self._jobs.clear()
        handle, self._handle = self._handle, ctypes.c_void_p()
        _lib.plenum_runtime_close(handle)

    def _open(self) -> ctypes.c_void_p:
        if not self._handle:
            raise PlenumError(ErrorCode.STATE, "the runtime is closed")
        return self._handle

    def fileno(self) -> int:
        """The descriptor to poll for reading; select and selectors take the runtime itself."""
        return _lib.plenum_runtime_fd(self._open())

    def set(self, option: RuntimeOption, value: int) -> None:
        """Sets an option; RuntimeOption.SLOTS makes jobs wait in a queue for free slots."""
        _check(_lib.plenum_runtime_set(self._open(), option, value))

    def job(self, description: str | Mapping[str, Any] | None = None) -> Job:
        """A new job: without programs, or described by JSON text or by what json.loads() would make of it."""
        handle = ctypes.c_void_p()
        if description is None:
            _check(_lib.plenum_job_create(self._open(), ctypes.byref(handle)))
        else:
            text = description if isinstance(description, str) else json.dumps(description)
            _check(_lib.plenum_job_create_json(self._open(), text.encode(), ctypes.byref(handle)))
        job = Job(self, handle)
        self._jobs[job.id] = job
        return job

    def next_event(self) -> Event | None:
        """Makes progress and takes the next event, without waiting; None if there is none yet."""
        native = EventPointer()
        _check(_lib.plenum_runtime_next_event(self._open(), ctypes.byref(native)))
        if not native:
            return None
        try:
            return _to_event(native, self._jobs)
        finally:
            _lib.plenum_event_free(native)

    def events(self) -> Iterator[Event]:
        """Waits for events and yields them, until all jobs that were launched have finished."""
        while True:
            event = self.next_event()
            if event:
                if event.job and event.kind == EventKind.FINISHED:
                    event.job.running = False
                yield event
            elif any(job.running for job in self._jobs.values()):
                select.select([self.fileno()], [], [])
            else:
                return


class Job:
    """A job: described by calls, launched once. Made by Runtime.job()."""

    def __init__(self, runtime: Runtime, handle: ctypes.c_void_p) -> None:
        self._runtime = runtime
        self._handle: ctypes.c_void_p | None = handle
        self.id: int = _lib.plenum_job_id(handle)
        self.running = False
        """Launched, and FINISHED has not come yet through Runtime.events() or AsyncRuntime."""

    def __enter__(self) -> Job:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Frees the job object; a running job goes on. May be called twice, and after the runtime was closed."""
        handle, self._handle = self._handle, None
        if handle:
            self._runtime._jobs.pop(self.id, None)
            _lib.plenum_job_close(handle)

    def _open(self) -> ctypes.c_void_p:
        if not self._handle:
            raise PlenumError(ErrorCode.STATE, f"job {self.id} is closed")
        return self._handle

    # --- describing it ---

    def add(self, argv: Sequence[str | os.PathLike[str]], ranks: int = 1) -> int:
        """Adds a program with its arguments; returns its number, for the functions below."""
        words = [os.fsencode(word) for word in argv]
        program = ctypes.c_int()
        array = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        _check(_lib.plenum_job_add_program(self._open(), ranks, array, ctypes.byref(program)))
        return program.value

    def env(self, name: str, value: str | None, program: int = ALL) -> None:
        """Sets a variable, or unsets it with None."""
        text = None if value is None else os.fsencode(value)
        _check(_lib.plenum_job_env(self._open(), program, os.fsencode(name), text))

    def env_clear(self) -> None:
        """Starts from an empty environment instead of this process's."""
        _check(_lib.plenum_job_env_clear(self._open()))

    def wdir(self, directory: str | os.PathLike[str], program: int = ALL) -> None:
        """The working directory."""
        _check(_lib.plenum_job_wdir(self._open(), program, os.fsencode(directory)))

    def path(self, directories: Iterable[str | os.PathLike[str]], program: int = ALL) -> None:
        """Where a program is looked up before PATH."""
        _check(_lib.plenum_job_path(self._open(), program, os.pathsep.encode().join(map(os.fsencode, directories))))

    def pset(self, name: str, ranks: Iterable[int | tuple[int, int]]) -> None:
        """A named process set, of ranks and of pairs (first rank, last rank)."""
        array, count = _pairs(ranks)
        _check(_lib.plenum_job_pset(self._open(), name.encode(), array, count))

    def pset_publish(self, name: str, ranks: Iterable[int | tuple[int, int]]) -> None:
        """Publishes a process set while the job runs, or changes it; its processes see it at their next query."""
        array, count = _pairs(ranks)
        _check(_lib.plenum_job_pset_publish(self._open(), name.encode(), array, count))

    def pset_withdraw(self, name: str) -> None:
        """Withdraws a published set, whichever process published it."""
        _check(_lib.plenum_job_pset_withdraw(self._open(), name.encode()))

    def redirect(self, rank: int, stream: int, file: int) -> None:
        """Connects a standard stream of a rank (or of ALL) to a descriptor; -1: /dev/null."""
        _check(_lib.plenum_job_redirect(self._open(), rank, stream, file))

    def redirect_file(self, rank: int, stream: int, file: str | os.PathLike[str]) -> None:
        """Connects a standard stream to a file that is opened at the start; %r stands for the rank."""
        _check(_lib.plenum_job_redirect_file(self._open(), rank, stream, os.fsencode(file)))

    def set(self, option: JobOption, value: int) -> None:
        """Sets an option; times are milliseconds."""
        _check(_lib.plenum_job_set(self._open(), option, value))

    def json(self) -> dict[str, Any]:
        """The description of the job; Runtime.job() accepts it."""
        return json.loads(take_text(_lib.plenum_job_json(self._open())))

    def cpus(self, rank: int) -> str:
        """The processors that a rank is bound to, such as "0-3,8"; "" when it is not bound."""
        room = ctypes.create_string_buffer(_lib.plenum_job_cpus(self._open(), rank, None, 0) + 1)
        _lib.plenum_job_cpus(self._open(), rank, room, len(room))
        return room.value.decode()

    # --- running it ---

    def launch(self) -> None:
        """Starts the processes. An exception means that nothing was started."""
        _check(_lib.plenum_job_launch(self._open()))
        self.running = True

    def signal(self, number: int, rank: int = ALL) -> None:
        """Sends a signal to a rank and the processes it started, or to ALL."""
        _check(_lib.plenum_job_signal(self._open(), rank, number))

    def report(self) -> None:
        """Asks all processes what they wait in; an event REPORT with the answer follows within half a second."""
        _check(_lib.plenum_job_report(self._open()))

    def cancel(self) -> None:
        """Ends the job: SIGTERM, SIGKILL after the grace time, or at once the second time. Does not wait."""
        _check(_lib.plenum_job_cancel(self._open()))

    def wait(self, timeout: float | None = None) -> int:
        """Waits until the job has finished and returns its exit code; PlenumTimeout after `timeout` seconds."""
        code = ctypes.c_int()
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE if until is None else max(0.0, min(_SLICE, until - time.monotonic()))
            try:
                _check(_lib.plenum_job_wait(self._open(), int(left * 1000), ctypes.byref(code)))
                return code.value
            except PlenumTimeout:
                if until is not None and time.monotonic() >= until:
                    raise

    @property
    def size(self) -> int:
        """The number of ranks in the description."""
        return _lib.plenum_job_size(self._open())
