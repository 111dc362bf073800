# SPDX-License-Identifier: BSD-3-Clause
"""Runs a graph: each task as soon as what it needs is done and enough slots are free.

An attempt at a task is one job of the runtime, followed through its events. All of it happens in one thread, in the
asyncio loop; no process of a task is a child of this one.
"""
from __future__ import annotations

import asyncio
import enum
import re
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from plenum import AsyncRuntime, Event, EventFlag, EventKind, Job, JobOption, PlenumError, find_tool, python_path

from .graph import Graph, Task

GRACE = 1000  # milliseconds between SIGTERM and SIGKILL
PROGRESS = re.compile(r"progress (\d{1,3})%")
TROUBLE = (EventKind.UNSTARTED, EventKind.LOST, EventKind.ABORTED, EventKind.TIMEOUT, EventKind.EXITED)


class State(enum.Enum):
    """The state of a task, or how an attempt ended."""
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@dataclass
class Attempt:
    """One run of a task; times are seconds since the engine began."""
    task: Task
    number: int
    slots: list[int]
    start: float
    end: float = 0.0
    state: State = State.RUNNING
    reason: str = ""
    """What went wrong, in one line."""
    progress: int = 0
    """Percent; the task reports it with a line `progress 40%`."""
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=10))
    """The last lines of output."""


@dataclass
class Record:
    """A task and its attempts so far."""
    task: Task
    state: State = State.WAITING
    attempts: list[Attempt] = field(default_factory=list)


class Engine:
    """Runs one graph once. `changed` is called with every record that changes its state."""

    def __init__(self, graph: Graph, work: Path, changed: Callable[[Record], None]) -> None:
        self.graph = graph
        self.work = work
        self.records = {name: Record(task) for name, task in graph.tasks.items()}
        self.free = set(range(graph.slots))
        self.stopping = False
        self._changed = changed
        self._jobs: list[Job] = []
        self._began = time.monotonic()

    def now(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    async def run(self) -> bool:
        """Runs the tasks that can run; True if all are done."""
        self._began = time.monotonic()
        async with AsyncRuntime() as runtime:
            running: set[asyncio.Task[None]] = set()
            while True:
                while started := self._next():
                    running.add(asyncio.create_task(self._attempt(runtime, *started)))
                if not running:
                    break
                finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for one in finished:
                    one.result()
        return all(record.state == State.DONE for record in self.records.values())

    def stop(self) -> None:
        """Starts no more tasks and ends the running ones: with SIGTERM, at the second call with SIGKILL."""
        self.stopping = True
        for job in self._jobs:
            job.cancel()
        for record in self.records.values():
            if record.state == State.WAITING:
                self._become(record, State.CANCELLED)

    # --- choosing ---

    def _next(self) -> tuple[Record, Attempt] | None:
        """Reserves slots for a task that can start now."""
        for record in self.records.values():
            needed = [self.records[name].state for name in record.task.after]
            if record.state != State.WAITING:
                continue
            if any(state in (State.FAILED, State.SKIPPED) for state in needed):
                self._become(record, State.SKIPPED)
            elif all(state == State.DONE for state in needed) and len(self.free) >= record.task.ranks:
                slots = self._take_slots(record.task.ranks)
                attempt = Attempt(record.task, len(record.attempts) + 1, slots, self.now())
                record.attempts.append(attempt)
                self._become(record, State.RUNNING)
                return record, attempt
        return None

    def _take_slots(self, count: int) -> list[int]:
        """Slots side by side where possible, which is easier on the eye in the timeline."""
        free = sorted(self.free)
        runs = [free[i:i + count] for i in range(len(free) - count + 1) if free[i + count - 1] - free[i] == count - 1]
        chosen = runs[0] if runs else free[:count]
        self.free -= set(chosen)
        return chosen

    def _become(self, record: Record, state: State) -> None:
        record.state = state
        self._changed(record)

    # --- running ---

    async def _attempt(self, runtime: AsyncRuntime, record: Record, attempt: Attempt) -> None:
        final = False
        try:
            job = self._describe(runtime.job(), attempt)
            runtime.launch(job)
        except (PlenumError, OSError) as error:  # another attempt would not help
            attempt.reason, final = str(error), True
        else:
            await self._follow(runtime, job, attempt)
        attempt.end = self.now()
        self.free |= set(attempt.slots)
        if attempt.state == State.RUNNING:
            attempt.state = State.CANCELLED if self.stopping else State.FAILED
        again = attempt.state == State.FAILED and not final and attempt.number <= record.task.retries
        self._become(record, State.WAITING if again else attempt.state)

    def _describe(self, job: Job, attempt: Attempt) -> Job:
        task = attempt.task
        job.add([self._fill(word, attempt) for word in task.argv], ranks=task.ranks)
        job.wdir(self.work)
        job.env("PYTHONPATH", python_path())
        job.env("PYTHONUNBUFFERED", "1")
        for name, value in task.env.items():
            job.env(name, self._fill(value, attempt))
        job.set(JobOption.GRACE, GRACE)
        job.set(JobOption.TIME_LIMIT, int(task.time_limit * 1000))
        return job

    def _fill(self, text: str, attempt: Attempt) -> str:
        for mark, value in (("{python}", lambda: sys.executable), ("{mpicc}", lambda: find_tool("mpicc")),
                            ("{here}", lambda: str(self.graph.here)), ("{work}", lambda: str(self.work)),
                            ("{attempt}", lambda: str(attempt.number))):
            if mark in text:
                text = text.replace(mark, value())
        return text

    async def _follow(self, runtime: AsyncRuntime, job: Job, attempt: Attempt) -> None:
        self._jobs.append(job)
        async for event in runtime.follow(job):
            if event.kind == EventKind.OUTPUT:
                self._listen(event, attempt)
            elif event.kind == EventKind.FINISHED:
                self._jobs.remove(job)
                good = event.code == 0 and not attempt.reason and not event.flags & EventFlag.CANCELLED
                attempt.state = State.DONE if good else State.RUNNING
            elif event.kind in TROUBLE and not attempt.reason and not event.flags & EventFlag.EXPECTED:
                attempt.reason = event.message if event.kind != EventKind.EXITED or event.code else ""

    def _listen(self, event: Event, attempt: Attempt) -> None:
        for line in event.lines:
            if found := PROGRESS.fullmatch(line):
                attempt.progress = min(100, int(found[1]))
            else:
                attempt.tail.append(line)
