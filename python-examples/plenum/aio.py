# SPDX-License-Identifier: BSD-3-Clause
"""A runtime inside asyncio: the loop watches its descriptor, and coroutines await jobs or follow their events.

    async with plenum.AsyncRuntime(slots=8) as runtime:
        result = await runtime.run(["./ocean", "--days", "30"], ranks=4)
        print(result.code, result.text, result.usage.seconds)

        job = runtime.job()
        job.add(["./ocean"], ranks=4)
        async for event in runtime.events(job):
            print(event.message)

Each job has a queue of events. When it is full the job's output is held back, so its processes wait for the coroutine
that follows the job; other jobs go on.
"""
from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import Any

from ._arguments import at_least_one, function
from ._event import Event, Usage
from ._hosts import RunsOnHosts
from .enums import ErrorCode, EventFlag, EventKind, RuntimeOption
from .errors import PlenumClosed
from .runtime import Job, Runtime

QUEUE = 256
"""Events that a job may have in its queue before its output is held back."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a job has come to."""
    code: int
    """Its exit code: 0 is success."""
    output: bytes
    """What its processes wrote to standard output, in the order in which whole lines arrived."""
    errors: bytes
    """The same of standard error."""
    usage: Usage
    reason: str
    """The first event that made it fail, in words; "" for code 0."""
    cancelled: bool

    @property
    def text(self) -> str:
        """`output` as text."""
        return self.output.decode(errors="replace")


class JobFailed(Exception):
    """A job that had to succeed ended with another code than 0; `result` has the rest."""

    def __init__(self, result: Result) -> None:
        last = result.errors.decode(errors="replace").rstrip().rpartition("\n")[2]
        super().__init__(f"the job ended with code {result.code}: {result.reason}" + (f" ({last})" if last else ""))
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[Result]]:
        return type(self), (self.result,)


_FAILURES = (EventKind.UNSTARTED, EventKind.ABORTED, EventKind.TIMEOUT, EventKind.LOST, EventKind.EXITED)


class ResultBuilder:
    """Makes a Result from the events of a job."""

    def __init__(self) -> None:
        self._streams: dict[int, list[bytes]] = {1: [], 2: []}
        self._reason = ""

    def take(self, event: Event) -> Result | None:
        """The result when the event is FINISHED."""
        if event.kind == EventKind.OUTPUT:
            self._streams[event.stream].append(event.data)
        elif event.kind in _FAILURES and not self._reason and (event.kind != EventKind.EXITED or event.code):
            self._reason = event.message
        elif event.kind == EventKind.FINISHED:
            assert event.usage
            return Result(event.code, b"".join(self._streams[1]), b"".join(self._streams[2]), event.usage,
                          self._reason or event.message if event.code else "", EventFlag.CANCELLED in event.flags)
        return None


class _Inbox:
    """The queue of a job. `limit` events hold back its output; FINISHED, or the runtime's end, is the last."""

    def __init__(self, job: Job, kinds: Collection[int] | None, limit: int) -> None:
        self._job, self._kinds, self._limit = job, kinds, limit
        self._events: deque[Event | None] = deque()
        self._ready = asyncio.Event()
        self._held = False

    def put(self, event: Event | None) -> None:
        if event and self._kinds is not None and event.kind not in self._kinds and event.kind != EventKind.FINISHED:
            return
        self._events.append(event)
        self._ready.set()
        self._hold(len(self._events) >= self._limit)

    async def get(self) -> Event | None:
        """None: the runtime was closed."""
        while not self._events:
            self._ready.clear()
            await self._ready.wait()
        event = self._events.popleft()
        if len(self._events) <= self._limit // 2:
            self._hold(False)
        return event

    def _hold(self, hold: bool) -> None:
        if hold == self._held:
            return
        self._held = hold
        try:
            self._job.hold_output(hold)
        except PlenumClosed:
            pass  # nothing more is written

    def drop(self) -> None:
        """Nothing takes the events any more."""
        self._kinds = ()
        self._hold(False)


class AsyncRuntime(RunsOnHosts):
    """A Runtime whose events go to the coroutines that follow the jobs. Use it from the loop's thread only."""

    def __init__(self, slots: int = 0, queue: int = QUEUE,
                 watch_hosts: Callable[[Event], object] | None = None) -> None:
        """`slots` limits what runs at the same time; 0: no limit, or with hosts their slots. `queue` is the number of
        events that a job may have waiting. `watch_hosts` is called by the loop with each event HOST."""
        self._watch_hosts = function("watch_hosts", watch_hosts)
        self._queue = at_least_one("queue", queue)
        self._runtime = Runtime()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inboxes: dict[int, _Inbox] = {}
        try:
            self.set(RuntimeOption.SLOTS, slots)
        except BaseException:
            self._runtime.close()
            raise

    async def __aenter__(self) -> AsyncRuntime:
        self._follow_events()
        return self

    def _follow_events(self) -> None:
        """Events are taken by the loop that runs now: that of `async with`, or else of the first job."""
        if not self._loop:
            loop = asyncio.get_running_loop()
            loop.add_reader(self._runtime.fileno(), self._take_events)
            self._loop = loop
        elif self._loop is not asyncio.get_running_loop():
            raise RuntimeError("this AsyncRuntime belongs to another event loop: open one in each loop")

    async def __aexit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kills running jobs and frees all resources. Iterations over events end; what awaits a result raises
        PlenumClosed. May be called twice."""
        if self._loop and not self._loop.is_closed():
            self._loop.remove_reader(self._runtime.fileno())
        self._loop = None
        self._runtime.close()
        for inbox in self._inboxes.values():
            inbox.put(None)
        self._inboxes.clear()

    def _take_events(self) -> None:
        while self._loop and (event := self._runtime.next_event()):
            inbox = self._inboxes.get(event.job_id)
            if inbox:
                inbox.put(event)
            elif event.kind == EventKind.HOST and self._watch_hosts:
                self._loop.call_soon(self._watch_hosts, event)

    def set(self, option: RuntimeOption, value: int) -> None:
        """Runtime.set()."""
        self._runtime.set(option, value)

    def job(self, description: str | Mapping[str, Any] | None = None) -> Job:
        """A new job for run(), events() or launch(): Runtime.job()."""
        return self._runtime.job(description)

    def launch(self, job: Job, kinds: Collection[int] | None = None) -> None:
        """Launches a job whose events follow() will yield: all, or those of some kinds. An exception means that nothing
        was started."""
        if not isinstance(job, Job) or job.runtime is not self._runtime:
            raise ValueError(f"{job!r} is not a job of this AsyncRuntime: make it with its function job()")
        self._follow_events()
        if job.id in self._inboxes:
            raise ValueError(f"job {job.id} was launched already: a job runs once")
        self._inboxes[job.id] = _Inbox(job, kinds, self._queue)
        try:
            job.launch()
        except BaseException:
            del self._inboxes[job.id]
            raise

    async def follow(self, job: Job) -> AsyncIterator[Event]:
        """Yields the events of a launched job up to FINISHED, and closes the job then. Ends without FINISHED when the
        runtime is closed. If the iteration is left early, the job goes on without being followed."""
        inbox = self._inboxes[job.id]
        try:
            while event := await inbox.get():
                yield event
                if event.kind == EventKind.FINISHED:
                    job.close()
                    return
        finally:
            inbox.drop()
            self._inboxes.pop(job.id, None)

    async def events(self, job: Job, kinds: Collection[int] | None = None) -> AsyncIterator[Event]:
        """Launches a job and yields its events up to FINISHED: all, or those of some kinds. Closes the job then."""
        self.launch(job, kinds)
        async for event in self.follow(job):
            yield event

    async def run(self, what: Job | Sequence[str | PathLike[str]] | Mapping[str, Any], ranks: int = 1, *,
                  stdin: bytes | None = None, check: bool = False,
                  watch: Callable[[Event], object] | None = None) -> Result:
        """Runs a job to its end: one of job(), the words of a command, or a description as for job().

        `watch` is called with each event. If it raises, the job is ended, and so does run().

        Cancelling the task that awaits it ends the job, with its grace time, and waits for the end; cancelling it again
        kills the job at once. `check` makes another exit code than 0 an exception, JobFailed.
        """
        function("watch", watch)
        job = self._make(what, ranks)
        if stdin is not None:
            job.stdin(stdin)
        self.launch(job)
        try:
            result = await self._collect(job, self._inboxes[job.id], watch)
        finally:
            self._inboxes.pop(job.id, None)
            job.close()
        if check and result.code:
            raise JobFailed(result)
        return result

    def _make(self, what: Job | Sequence[str | PathLike[str]] | Mapping[str, Any], ranks: int) -> Job:
        if isinstance(what, (Job, Mapping)) and ranks != 1:
            raise ValueError(f"ranks is {ranks!r}: it is for a list of words; a job, or a description, has its own")
        if isinstance(what, Job):
            return what
        if isinstance(what, Mapping):
            return self.job(what)
        job = self.job()
        job.add(what, ranks)
        return job

    async def _collect(self, job: Job, inbox: _Inbox, watch: Callable[[Event], object] | None) -> Result:
        builder = ResultBuilder()
        try:
            while event := await inbox.get():
                if watch:
                    watch(event)
                if result := builder.take(event):
                    return result
        except BaseException:
            await self._end(job, inbox)
            raise
        raise PlenumClosed(ErrorCode.CLOSED, f"the runtime was closed while job {job.id} ran")

    async def _end(self, job: Job, inbox: _Inbox) -> None:
        """Cancels the job and waits for its end; being cancelled meanwhile kills the job."""
        while job.running and not self._runtime.closed:
            job.cancel()
            try:
                while (event := await inbox.get()) and event.kind != EventKind.FINISHED:
                    pass
            except asyncio.CancelledError:
                pass
