# SPDX-License-Identifier: BSD-3-Clause
"""What a runtime tells: events, and what hosts and jobs are doing."""
from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._native import NativeEvent, load_runtime
from .enums import EventFlag, EventKind, HostState, ProcessState

if TYPE_CHECKING:
    from .runtime import Job

_lib = load_runtime()


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
class Process:
    """A process of a job."""
    state: ProcessState
    pid: int
    """On its host; 0: it was not started."""
    program: str
    host: str
    """"" for this machine."""


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


def to_event(native: ctypes._Pointer[NativeEvent], jobs: Mapping[int, Job]) -> Event:
    it = native.contents
    data = ctypes.string_at(it.text, it.length) if it.text else b""
    kind: int = EventKind(it.kind) if it.kind in EventKind.__members__.values() else it.kind
    whole = kind in (EventKind.OUTPUT, EventKind.REPORT)
    message = data.decode(errors="replace") if whole else _describe(native)
    named = (it.object or b"").decode(errors="replace")
    usage = Usage(it.run_us / 1e6, it.user_us / 1e6, it.system_us / 1e6, it.peak) if kind in _WITH_USAGE else None
    return Event(kind, EventFlag(it.flags), it.job_id, jobs.get(it.job_id), it.rank, it.pid, it.code, it.signal,
                 it.stream, data, named, message, json.loads(it.report) if it.report else None, it.time_us / 1e6, usage)
