# SPDX-License-Identifier: BSD-3-Clause
"""Runtime, Job and Event: plenum.h as Python objects.

The documentation of the functions is in plenum.h; here is what differs. Objects are context managers; what was closed
is not used again. Every function may be called from any thread.
"""
from __future__ import annotations

import ctypes
import json
import os
import select
import time
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._handle import Handle
from ._native import EventPointer, NativeEvent, NativeHost, load_runtime, take_text
from .enums import ErrorCode, EventFlag, EventKind, HostState, JobOption, RuntimeOption, Scope
from .errors import PlenumClosed, PlenumError, PlenumTimeout

_lib = load_runtime()

ALL = -1
"""All programs of a job, or all its ranks."""

_SLICE = 0.2  # seconds that a wait stays in the library, so that Ctrl-C is heard


_EXCEPTIONS = {ErrorCode.TIMEOUT: PlenumTimeout, ErrorCode.CLOSED: PlenumClosed}


def _check(code: int) -> None:
    if code != ErrorCode.OK:
        text = _lib.plenum_error().decode(errors="replace")
        raise _EXCEPTIONS.get(code, PlenumError)(code, text)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process, or all processes of a job, have used."""
    seconds: float
    """From the start to the end."""
    user: float
    """Seconds of processor time in programs, with those of children that were waited for."""
    system: float
    """The same in the kernel."""
    peak: int
    """The most bytes of memory that one process has had."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host of a runtime."""
    name: str
    state: HostState
    slots: int
    ranks: int
    """That run there, or are being started."""
    reason: str
    """Why it is lost, in a line."""


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
    """ABORTED: the communicator, window, file or session by name; HOST: the name of the host."""
    message: str
    """The event in words; for OUTPUT and REPORT the text itself."""
    report: dict[str, Any] | None = None
    """REPORT: the same as `text`, as data (docs/RUNTIME.md)."""
    time: float = 0.0
    """When it happened, as time.time() counts."""
    usage: Usage | None = None
    """EXITED, LOST: of the process; FINISHED: of all processes of the job."""

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


_WITH_USAGE = (EventKind.EXITED, EventKind.LOST, EventKind.FINISHED)


def _to_event(native: ctypes._Pointer[NativeEvent], jobs: Mapping[int, Job]) -> Event:
    it = native.contents
    data = ctypes.string_at(it.text, it.length) if it.text else b""
    kind: int = EventKind(it.kind) if it.kind in EventKind.__members__.values() else it.kind
    whole = kind in (EventKind.OUTPUT, EventKind.REPORT)
    message = data.decode(errors="replace") if whole else _describe(native)
    named = (it.object or b"").decode(errors="replace")
    usage = Usage(it.run_us / 1e6, it.user_us / 1e6, it.system_us / 1e6, it.peak) if kind in _WITH_USAGE else None
    return Event(kind, EventFlag(it.flags), it.job_id, jobs.get(it.job_id), it.rank, it.pid, it.code, it.signal,
                 it.stream, data, named, message, json.loads(it.report) if it.report else None, it.time_us / 1e6, usage)


def _pairs(ranks: Iterable[int | tuple[int, int]]) -> tuple[ctypes.Array[Any], int]:
    """Ranks and pairs (first, last) as C has them."""
    pairs = [(one, one) if isinstance(one, int) else one for one in ranks]
    return ((ctypes.c_int * 2) * max(1, len(pairs)))(*pairs), len(pairs)


def _warn_unclosed(one: Runtime, text: str) -> None:
    """For __del__. At the interpreter's end `warnings` may be gone."""
    try:
        warnings.warn(text, ResourceWarning, stacklevel=3, source=one)
    except (AttributeError, TypeError):
        pass


class Runtime:
    """A runtime: it launches jobs and delivers their events. Closing it ends running jobs.

    It belongs to the process that made it: in a forked child its functions raise PlenumClosed and closing does nothing.
    """

    _handle: Handle | None = None

    def __init__(self) -> None:
        pointer = ctypes.c_void_p()
        self._jobs: weakref.WeakValueDictionary[int, Job] = weakref.WeakValueDictionary()
        self._running: dict[int, Job] = {}
        self._job_handles: dict[int, Handle] = {}  # those that close() has to close
        _check(_lib.plenum_runtime_open(ctypes.byref(pointer)))
        self._handle = Handle(pointer, "the runtime", _lib.plenum_runtime_stop, self._free)

    def __del__(self) -> None:
        handle = self._handle
        if handle and handle.is_open and not handle.is_foreign:
            _warn_unclosed(self, f"unclosed {self!r}: its jobs are ended now")
            self.close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kills running jobs and frees all resources, jobs included. May be called twice, and while other threads wait
        for jobs or events: they raise PlenumClosed."""
        self._use.close()

    def _free(self, pointer: ctypes.c_void_p) -> None:
        for handle in list(self._job_handles.values()):
            handle.close()
        for job in list(self._running.values()):
            job.running = False
        self._job_handles.clear()
        self._running.clear()
        _lib.plenum_runtime_close(pointer)

    def _forget(self, job: Job) -> None:
        self._running.pop(job.id, None)
        self._job_handles.pop(job.id, None)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._use.is_open

    @property
    def _use(self) -> Handle:
        if not self._handle:
            raise PlenumClosed(ErrorCode.CLOSED, "the runtime was not opened")
        return self._handle

    def fileno(self) -> int:
        """The descriptor to poll for reading; select and selectors take the runtime itself."""
        with self._use as handle:
            return _lib.plenum_runtime_fd(handle)

    def set(self, option: RuntimeOption, value: int) -> None:
        """Sets an option; RuntimeOption.SLOTS makes jobs wait in a queue for free slots."""
        with self._use as handle:
            _check(_lib.plenum_runtime_set(handle, option, value))

    def resources(self, counts: Mapping[str, int]) -> None:
        """Says how many there are of resources that jobs ask for, such as {"gpu": 2, "license": 4}."""
        for name, count in counts.items():
            with self._use as handle:
                _check(_lib.plenum_runtime_resource(handle, name.encode(), count))

    def add_host(self, name: str, slots: int = 1, command: str | None = None) -> None:
        """Starts an agent on a host; from now on all jobs run on hosts that were added.

        `command` starts a program there and passes its standard streams on: words, with %h for the name, such as
        "docker exec -i %h". None is ssh, and "" is this machine. An event HOST tells when the host is ready or lost.
        """
        with self._use as handle:
            _check(_lib.plenum_runtime_host_add(handle, name.encode(), slots,
                                                None if command is None else command.encode()))

    def remove_host(self, name: str) -> None:
        """The host gets no further ranks, and leaves with the last one that runs there."""
        with self._use as handle:
            _check(_lib.plenum_runtime_host_remove(handle, name.encode()))

    def hosts(self) -> list[Host]:
        """The hosts in the order in which they were added."""
        found: list[Host] = []
        native = NativeHost()
        with self._use as handle:
            while True:
                code = _lib.plenum_runtime_host(handle, len(found), ctypes.byref(native), ctypes.sizeof(native))
                if code == ErrorCode.NOT_FOUND:
                    return found
                _check(code)
                found.append(Host(native.name.decode(), HostState(native.state), native.slots, native.ranks,
                                  native.reason.decode(errors="replace")))

    def job(self, description: str | Mapping[str, Any] | None = None) -> Job:
        """A new job: without programs, or described by JSON text or by what json.loads() would make of it."""
        pointer = ctypes.c_void_p()
        with self._use as handle:
            if description is None:
                _check(_lib.plenum_job_create(handle, ctypes.byref(pointer)))
            else:
                text = description if isinstance(description, str) else json.dumps(description)
                _check(_lib.plenum_job_create_json(handle, text.encode(), ctypes.byref(pointer)))
            job = Job(self, pointer)
            self._jobs[job.id] = job
            self._job_handles[job.id] = job._handle
        return job

    def next_event(self) -> Event | None:
        """Makes progress and takes the next event, without waiting; None if there is none yet."""
        native = EventPointer()
        with self._use as handle:
            _check(_lib.plenum_runtime_next_event(handle, ctypes.byref(native)))
        if not native:
            return None
        try:
            event = _to_event(native, self._jobs)
        finally:
            _lib.plenum_event_free(native)
        if event.job and event.kind == EventKind.FINISHED:
            event.job.running = False
            self._running.pop(event.job_id, None)
        return event

    def events(self) -> Iterator[Event]:
        """Waits for events and yields them, until all jobs that were launched have finished. Ends when another thread
        closes the runtime."""
        while True:
            try:
                event = self.next_event()
                if not event:
                    if not self._running:
                        return
                    self._await_event()
            except PlenumClosed:
                if self._use.is_foreign:
                    raise
                return
            if event:
                yield event

    def _await_event(self) -> None:
        """Until there may be an event, or the runtime is being closed."""
        with self._use as handle:
            ready = select.poll()  # select() fails where the process has many descriptors
            ready.register(_lib.plenum_runtime_fd(handle), select.POLLIN)
            ready.poll()


class Job:
    """A job: described by calls, launched once. Made by Runtime.job().

    A job that still runs at the end of its `with` block is ended. The runtime keeps a job that runs; any other is freed
    with the last reference to it.
    """

    def __init__(self, runtime: Runtime, pointer: ctypes.c_void_p) -> None:
        self._runtime = runtime
        self.id: int = _lib.plenum_job_id(pointer)
        self._handle = Handle(pointer, f"job {self.id}", lambda pointer: None, _lib.plenum_job_close)
        self.running = False
        """Launched, and its event FINISHED was not taken yet."""

    def __enter__(self) -> Job:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.end()
        except PlenumClosed:
            pass  # the job has ended with its runtime
        self.close()

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle and handle.is_open:
            self.close()

    def close(self) -> None:
        """Frees the job object; a running job goes on. May be called twice, and after the runtime was closed."""
        self._handle.close()
        self._runtime._forget(self)

    def end(self) -> None:
        """Ends the job if it runs or is in the queue, and waits until it has ended."""
        if self.running:
            self.cancel()
            self.wait()

    # --- describing it ---

    def add(self, argv: Sequence[str | os.PathLike[str]], ranks: int = 1) -> int:
        """Adds a program with its arguments; returns its number, for the functions below."""
        if isinstance(argv, (str, bytes, os.PathLike)):
            raise TypeError(f"argv is {argv!r}: it must be a list of words, such as ['ls', '-l']; shlex.split() makes "
                            "one from a line of a shell")
        words = [os.fsencode(word) for word in argv]
        program = ctypes.c_int()
        array = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        with self._handle as handle:
            _check(_lib.plenum_job_add_program(handle, ranks, array, ctypes.byref(program)))
        return program.value

    def env(self, name: str, value: str | None, program: int = ALL) -> None:
        """Sets a variable, or unsets it with None."""
        text = None if value is None else os.fsencode(value)
        with self._handle as handle:
            _check(_lib.plenum_job_env(handle, program, os.fsencode(name), text))

    def env_clear(self) -> None:
        """Starts from an empty environment instead of this process's."""
        with self._handle as handle:
            _check(_lib.plenum_job_env_clear(handle))

    def wdir(self, directory: str | os.PathLike[str], program: int = ALL) -> None:
        """The working directory."""
        with self._handle as handle:
            _check(_lib.plenum_job_wdir(handle, program, os.fsencode(directory)))

    def path(self, directories: Iterable[str | os.PathLike[str]], program: int = ALL) -> None:
        """Where a program is looked up before PATH."""
        with self._handle as handle:
            _check(_lib.plenum_job_path(handle, program, os.pathsep.encode().join(map(os.fsencode, directories))))

    def pset(self, name: str, ranks: Iterable[int | tuple[int, int]]) -> None:
        """A named process set, of ranks and of pairs (first rank, last rank)."""
        array, count = _pairs(ranks)
        with self._handle as handle:
            _check(_lib.plenum_job_pset(handle, name.encode(), array, count))

    def pset_publish(self, name: str, ranks: Iterable[int | tuple[int, int]]) -> None:
        """Publishes a process set while the job runs, or changes it; its processes see it at their next query."""
        array, count = _pairs(ranks)
        with self._handle as handle:
            _check(_lib.plenum_job_pset_publish(handle, name.encode(), array, count))

    def pset_withdraw(self, name: str) -> None:
        """Withdraws a published set, whichever process published it."""
        with self._handle as handle:
            _check(_lib.plenum_job_pset_withdraw(handle, name.encode()))

    def redirect(self, rank: int, stream: int, file: int) -> None:
        """Connects a standard stream of a rank (or of ALL) to a descriptor; -1: /dev/null."""
        with self._handle as handle:
            _check(_lib.plenum_job_redirect(handle, rank, stream, file))

    def redirect_file(self, rank: int, stream: int, file: str | os.PathLike[str]) -> None:
        """Connects a standard stream to a file that is opened at the start; %r stands for the rank."""
        with self._handle as handle:
            _check(_lib.plenum_job_redirect_file(handle, rank, stream, os.fsencode(file)))

    def stdin(self, data: bytes, rank: int = 0) -> None:
        """What a rank (or ALL) reads from its standard input: a file in memory."""
        with os.fdopen(os.memfd_create("plenum-stdin"), "wb", buffering=0) as file:
            view = memoryview(data)
            while len(view):
                view = view[file.write(view):]
            for each in range(self.size) if rank == ALL else [rank]:
                reader = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY | os.O_CLOEXEC)  # with its own position
                try:
                    self.redirect(each, 0, reader)
                finally:
                    os.close(reader)

    def set(self, option: JobOption, value: int) -> None:
        """Sets an option; times are milliseconds. JobOption.PRIORITY also while the job waits in the queue."""
        with self._handle as handle:
            _check(_lib.plenum_job_set(handle, option, value))

    def resource(self, name: str, count: int, scope: Scope = Scope.EACH_RANK) -> None:
        """Asks for some of a resource of Runtime.resources(), for each rank or for all together."""
        with self._handle as handle:
            _check(_lib.plenum_job_resource(handle, name.encode(), count, scope))

    def numbers(self, rank: int, name: str) -> list[int]:
        """The numbers of a resource that a rank has, or would get if the job were launched now."""
        with self._handle as handle:
            room = ctypes.create_string_buffer(_lib.plenum_job_numbers(handle, rank, name.encode(), None, 0) + 1)
            _lib.plenum_job_numbers(handle, rank, name.encode(), room, len(room))
        return [int(number) for number in room.value.split(b",") if number]

    def json(self) -> dict[str, Any]:
        """The description of the job; Runtime.job() accepts it."""
        with self._handle as handle:
            address = _lib.plenum_job_json(handle)
            if not address:
                text = _lib.plenum_error().decode(errors="replace")
                if self._runtime.closed:
                    raise PlenumClosed(ErrorCode.CLOSED, text)
                raise PlenumError(ErrorCode.ARGUMENT, text)
            return json.loads(take_text(address))

    def cpus(self, rank: int) -> str:
        """The processors that a rank is bound to, such as "0-3,8"; "" when it is not bound."""
        with self._handle as handle:
            room = ctypes.create_string_buffer(_lib.plenum_job_cpus(handle, rank, None, 0) + 1)
            _lib.plenum_job_cpus(handle, rank, room, len(room))
        return room.value.decode()

    # --- running it ---

    def launch(self) -> None:
        """Starts the processes. An exception means that nothing was started."""
        with self._handle as handle:
            self._runtime._running[self.id] = self
            self.running = True
            try:
                _check(_lib.plenum_job_launch(handle))
            except PlenumError as error:
                if error.code != ErrorCode.STATE:  # it was launched before
                    self.running = False
                    self._runtime._running.pop(self.id, None)
                raise

    def signal(self, number: int, rank: int = ALL) -> None:
        """Sends a signal to a rank and the processes it started, or to ALL."""
        with self._handle as handle:
            _check(_lib.plenum_job_signal(handle, rank, number))

    def report(self) -> None:
        """Asks all processes what they wait in; an event REPORT with the answer follows within half a second."""
        with self._handle as handle:
            _check(_lib.plenum_job_report(handle))

    def hold_output(self, hold: bool) -> None:
        """Holds back OUTPUT events: the processes wait when their pipes are full."""
        with self._handle as handle:
            _check(_lib.plenum_job_hold_output(handle, hold))

    def cancel(self) -> None:
        """Ends the job: SIGTERM, SIGKILL after the grace time, or at once the second time. Does not wait."""
        with self._handle as handle:
            _check(_lib.plenum_job_cancel(handle))

    def wait(self, timeout: float | None = None) -> int:
        """Waits until the job has finished and returns its exit code; PlenumTimeout after `timeout` seconds."""
        code = ctypes.c_int()
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE if until is None else max(0.0, min(_SLICE, until - time.monotonic()))
            try:
                with self._handle as handle:
                    _check(_lib.plenum_job_wait(handle, int(left * 1000), ctypes.byref(code)))
                return code.value
            except PlenumTimeout:
                if until is not None and time.monotonic() >= until:
                    raise

    @property
    def size(self) -> int:
        """The number of ranks in the description."""
        with self._handle as handle:
            return _lib.plenum_job_size(handle)
