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
from types import TracebackType
from typing import Any

from ._arguments import integer, setting, text, text_or_none, word, words
from ._event import Event, Host, Process, to_event
from ._handle import Handle
from ._native import EventPointer, NativeHost, NativeProcess, load_runtime, take_text
from .enums import ErrorCode, EventKind, HostState, JobOption, ProcessState, RuntimeOption, Scope
from .errors import PlenumClosed, PlenumError, PlenumTimeout

_lib = load_runtime()

ALL = -1
"""All programs of a job, or all its ranks."""
COUNT = -1
"""Runtime.host_resources(): the agent of the host counts."""

_SLICE = 0.2  # seconds that a wait stays in the library, so that Ctrl-C is heard


_EXCEPTIONS = {ErrorCode.TIMEOUT: PlenumTimeout, ErrorCode.CLOSED: PlenumClosed}


def _check(code: int) -> None:
    if code != ErrorCode.OK:
        text = _lib.plenum_error().decode(errors="replace")
        raise _EXCEPTIONS.get(code, PlenumError)(code, text)


def _pairs(ranks: Iterable[int | tuple[int, int]]) -> tuple[ctypes.Array[Any], int]:
    """Ranks and pairs (first, last) as C has them."""
    try:
        each = [(one, one) if isinstance(one, int) else one for one in ranks]
        pairs = [(integer("ranks", first), integer("ranks", last)) for first, last in each]
    except (TypeError, ValueError):
        raise TypeError(f"ranks is {ranks!r}: it must be a list of ranks and of pairs (first rank, last "
                        "rank)") from None
    return ((ctypes.c_int * 2) * max(1, len(pairs)))(*pairs), len(pairs)


def _counts(counts: Mapping[str, int]) -> list[tuple[bytes, int]]:
    """Resources and how many there are."""
    if not isinstance(counts, Mapping):
        raise TypeError(f"counts is {counts!r}: it must be a dict, such as {{'gpu': 2}}")
    return [(text("the name of a resource", name), integer(f"the count of {name}", count))
            for name, count in counts.items()]


def _bytes(data: bytes) -> memoryview:
    try:
        return memoryview(data).cast("B")
    except TypeError:
        raise TypeError(f"data is {type(data).__name__}: it must be bytes; str.encode() makes them") from None


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
            _check(_lib.plenum_runtime_set(handle, *setting(RuntimeOption, option, value)))

    def resources(self, counts: Mapping[str, int]) -> None:
        """Says how many there are of resources that jobs ask for, such as {"gpu": 2, "license": 4}."""
        for name, count in _counts(counts):
            with self._use as handle:
                _check(_lib.plenum_runtime_resource(handle, name, count))

    def add_host(self, name: str, slots: int = 1, command: str | None = None) -> None:
        """Starts an agent on a host; from now on all jobs run on hosts that were added.

        `command` starts a program there and passes its standard streams on: words, with %h for the name, such as
        "docker exec -i %h". None is ssh, and "" is this machine. An event HOST tells when the host is ready or lost.
        """
        with self._use as handle:
            _check(_lib.plenum_runtime_host_add(handle, text("name", name), integer("slots", slots),
                                                text_or_none("command", command)))

    def host_resources(self, host: str, counts: Mapping[str, int]) -> None:
        """Says how many a host has of resources that jobs ask for. {"gpu": COUNT}: its agent counts the GPUs."""
        for name, count in _counts(counts):
            with self._use as handle:
                _check(_lib.plenum_runtime_host_resource(handle, text("host", host), name, count))

    def remove_host(self, name: str) -> None:
        """The host gets no further ranks, and leaves with the last one that runs there."""
        with self._use as handle:
            _check(_lib.plenum_runtime_host_remove(handle, text("name", name)))

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
                whole = description if isinstance(description, str) else json.dumps(description)
                _check(_lib.plenum_job_create_json(handle, text("description", whole), ctypes.byref(pointer)))
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
            event = to_event(native, self._jobs)
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

    @property
    def runtime(self) -> Runtime:
        """The runtime that made it."""
        return self._runtime

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
        each = words("argv", argv)
        program = ctypes.c_int()
        array = (ctypes.c_char_p * (len(each) + 1))(*each, None)
        with self._handle as handle:
            _check(_lib.plenum_job_add_program(handle, integer("ranks", ranks), array, ctypes.byref(program)))
        return program.value

    def env(self, name: str, value: str | None, program: int = ALL) -> None:
        """Sets a variable, or unsets it with None."""
        coded = None if value is None else word("value", value)
        with self._handle as handle:
            _check(_lib.plenum_job_env(handle, integer("program", program), word("name", name), coded))

    def env_clear(self) -> None:
        """Starts from an empty environment instead of this process's."""
        with self._handle as handle:
            _check(_lib.plenum_job_env_clear(handle))

    def wdir(self, directory: str | os.PathLike[str], program: int = ALL) -> None:
        """The working directory."""
        with self._handle as handle:
            _check(_lib.plenum_job_wdir(handle, integer("program", program), word("directory", directory)))

    def path(self, directories: Iterable[str | os.PathLike[str]], program: int = ALL) -> None:
        """Where a program is looked up before PATH."""
        joined = os.pathsep.encode().join(words("directories", directories))
        with self._handle as handle:
            _check(_lib.plenum_job_path(handle, integer("program", program), joined))

    def place(self, rank: int, cores: str | None) -> None:
        """The cores of one rank: "0-2,5" of the machine, "1:0-2" or "1:*" of socket 1, "p3" in the kernel's numbering.
        For ALL: several such lists with blanks between them, which the ranks of each host take in turn."""
        with self._handle as handle:
            _check(_lib.plenum_job_place(handle, integer("rank", rank), text_or_none("cores", cores)))

    def host(self, rank: int, name: str | None) -> None:
        """The host on which one rank runs."""
        with self._handle as handle:
            _check(_lib.plenum_job_host(handle, integer("rank", rank), text_or_none("name", name)))

    def pset(self, name: str, ranks: Iterable[int | tuple[int, int]]) -> None:
        """A named process set, of ranks and of pairs (first rank, last rank)."""
        array, count = _pairs(ranks)
        with self._handle as handle:
            _check(_lib.plenum_job_pset(handle, text("name", name), array, count))

    def pset_publish(self, name: str, ranks: Iterable[int | tuple[int, int]]) -> None:
        """Publishes a process set while the job runs, or changes it; its processes see it at their next query."""
        array, count = _pairs(ranks)
        with self._handle as handle:
            _check(_lib.plenum_job_pset_publish(handle, text("name", name), array, count))

    def pset_withdraw(self, name: str) -> None:
        """Withdraws a published set, whichever process published it."""
        with self._handle as handle:
            _check(_lib.plenum_job_pset_withdraw(handle, text("name", name)))

    def redirect(self, rank: int, stream: int, file: int) -> None:
        """Connects a standard stream of a rank (or of ALL) to a descriptor; -1: /dev/null."""
        with self._handle as handle:
            _check(_lib.plenum_job_redirect(handle, integer("rank", rank), integer("stream", stream),
                                            integer("file", file)))

    def redirect_file(self, rank: int, stream: int, file: str | os.PathLike[str]) -> None:
        """Connects a standard stream to a file that is opened at the start; %r stands for the rank."""
        with self._handle as handle:
            _check(_lib.plenum_job_redirect_file(handle, integer("rank", rank), integer("stream", stream),
                                                 word("file", file)))

    def stdin(self, data: bytes, rank: int = 0) -> None:
        """What a rank (or ALL) reads from its standard input: a file in memory."""
        with os.fdopen(os.memfd_create("plenum-stdin"), "wb", buffering=0) as file:
            view = _bytes(data)
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
            _check(_lib.plenum_job_set(handle, *setting(JobOption, option, value)))

    def resource(self, name: str, count: int, scope: Scope = Scope.EACH_RANK) -> None:
        """Asks for some of a resource of Runtime.resources(), for each rank or for all together."""
        with self._handle as handle:
            _check(_lib.plenum_job_resource(handle, text("name", name), integer("count", count),
                                            integer("scope", scope)))

    def numbers(self, rank: int, name: str) -> list[int]:
        """The numbers of a resource that a rank has, or would get if the job were launched now."""
        with self._handle as handle:
            resource, of = text("name", name), integer("rank", rank)
            room = ctypes.create_string_buffer(_lib.plenum_job_numbers(handle, of, resource, None, 0) + 1)
            _lib.plenum_job_numbers(handle, of, resource, room, len(room))
        return [int(one) for one in room.value.split(b",") if one]

    def json(self) -> dict[str, Any]:
        """The description of the job; Runtime.job() accepts it."""
        with self._handle as handle:
            address = _lib.plenum_job_json(handle)
            if not address:
                message = _lib.plenum_error().decode(errors="replace")
                if self._runtime.closed:
                    raise PlenumClosed(ErrorCode.CLOSED, message)
                raise PlenumError(ErrorCode.ARGUMENT, message)
            return json.loads(take_text(address))

    def cpus(self, rank: int) -> str:
        """The processors that a rank is bound to, such as "0-3,8"; "" when it is not bound."""
        with self._handle as handle:
            of = integer("rank", rank)
            room = ctypes.create_string_buffer(_lib.plenum_job_cpus(handle, of, None, 0) + 1)
            _lib.plenum_job_cpus(handle, of, room, len(room))
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

    def process(self, rank: int) -> Process:
        """The process of a rank, for debuggers and monitors."""
        native = NativeProcess()
        with self._handle as handle:
            _check(_lib.plenum_job_process(handle, integer("rank", rank), ctypes.byref(native), ctypes.sizeof(native)))
            return Process(ProcessState(native.state), native.pid, os.fsdecode(native.program), native.host.decode())

    def signal(self, number: int, rank: int = ALL) -> None:
        """Sends a signal to a rank and the processes it started, or to ALL."""
        with self._handle as handle:
            _check(_lib.plenum_job_signal(handle, integer("rank", rank), integer("number", number)))

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
        if timeout is not None and not isinstance(timeout, (int, float)):
            raise TypeError(f"timeout is {timeout!r}: it must be a number of seconds, or None")
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE if until is None else max(0.0, min(_SLICE, until - time.monotonic()))
            try:
                with self._handle as handle:
                    _check(_lib.plenum_job_wait(handle, int(left * 1000), ctypes.byref(code)))
                return code.value
            except PlenumTimeout as error:
                if until is not None and time.monotonic() >= until:
                    raise PlenumTimeout(error.code, f"job {self.id} still runs after {timeout:g} s") from None

    @property
    def size(self) -> int:
        """The number of ranks in the description."""
        with self._handle as handle:
            return _lib.plenum_job_size(handle)
