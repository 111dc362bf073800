# SPDX-License-Identifier: BSD-3-Clause
"""A crew: the workers that one job of the runtime holds, and so can meet each other.

A failure of one fails its task. The others of the task may then wait for it in MPI for ever: they get a moment to
answer and are killed. A crew that has lost somebody is not intact; what it has begun it still brings to an end.
"""
from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plenum import AsyncRuntime, Event, EventKind, JobOption, PlenumError, python_path

GRACE = 500  # milliseconds that workers have to end after SIGTERM
PATIENCE = 0.5  # seconds that the others of a failed task have to answer


class TaskFailed(Exception):
    """A task raised an exception in a worker, or a worker died."""


@dataclass(eq=False)
class Task:
    """A task under way: who has not answered yet, and what came."""
    missing: set[int]
    first: int
    done: asyncio.Future[Any]
    result: Any = None
    errors: list[str] = field(default_factory=list)


class Crew:
    """Worker processes, numbered from 0. `changed` is called whenever somebody becomes idle or is lost."""

    def __init__(self, runtime: AsyncRuntime, size: int, changed: Callable[[], None]) -> None:
        self.idle = set(range(size))
        self.intact = True
        self._changed = changed
        self._busy: dict[int, Task] = {}
        self._unfinished = [b""] * size
        self._retired = False
        self._pipes: dict[int, int] = {}
        self._runtime = runtime
        self._job = runtime.job()
        self._job.add([sys.executable, "-m", "worker_pool.worker"], ranks=size)
        self._job.env("PYTHONPATH", python_path())
        self._job.set(JobOption.KEEP_GOING, 1)
        self._job.set(JobOption.GRACE, GRACE)
        self._launch(size)
        self.ended = asyncio.create_task(self._listen())

    def _launch(self, size: int) -> None:
        readers = []
        try:
            for worker in range(size):
                reader, self._pipes[worker] = os.pipe()
                readers.append(reader)
                self._job.redirect(worker, 0, reader)
            self._runtime.launch(self._job)
        except BaseException:
            self._hang_up(range(size))
            raise
        finally:
            for reader in readers:
                os.close(reader)

    def start(self, number: int, function: str, arguments: Sequence[Any], workers: int) -> asyncio.Future[Any]:
        """Gives a task to so many idle workers. `number` is one that no other task of the crew has."""
        chosen = sorted(self.idle)[:workers]
        request = {"task": number, "function": function, "arguments": arguments, "workers": chosen}
        line = json.dumps(request).encode() + b"\n"
        task = Task(set(chosen), chosen[0], asyncio.get_running_loop().create_future())
        self.idle -= task.missing
        self._busy.update(dict.fromkeys(chosen, task))
        for worker in chosen:
            self._tell(worker, line)
        return task.done

    def retire(self) -> None:
        """Lets idle workers go, and the others when they have answered."""
        self._retired = True
        self._hang_up(self.idle)
        self.idle = set()

    def end(self) -> None:
        """Retires the crew and ends the workers that are busy."""
        self.retire()
        if self._busy:
            self._job.cancel()

    # --- to and from the workers ---

    def _tell(self, worker: int, line: bytes) -> None:
        try:
            while line:  # an idle worker reads, so this does not wait for long
                line = line[os.write(self._pipes[worker], line):]
        except OSError:
            pass  # it is dead, and the event that says so is on its way

    def _hang_up(self, workers: Iterable[int]) -> None:
        for worker in workers:
            if worker in self._pipes:
                os.close(self._pipes.pop(worker))

    async def _listen(self) -> None:
        async for event in self._runtime.follow(self._job):
            if event.kind == EventKind.OUTPUT and event.stream == 1:
                self._take_answers(event)
            elif event.kind == EventKind.OUTPUT:
                sys.stderr.write(event.text)
            elif event.kind in (EventKind.EXITED, EventKind.LOST):
                self._lose(event.rank, event.message)
        for worker in list(self._busy):
            self._lose(worker, event.message)

    def _take_answers(self, event: Event) -> None:
        *lines, self._unfinished[event.rank] = (self._unfinished[event.rank] + event.data).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            if self._retired:
                self._hang_up([event.rank])
            else:
                self.idle.add(event.rank)
            self._answered(event.rank, answer.get("error"), answer.get("result"))

    def _lose(self, worker: int, why: str) -> None:
        self.intact = False
        self.idle.discard(worker)
        self._hang_up([worker])
        self._answered(worker, why)

    def _answered(self, worker: int, error: str | None, result: Any = None) -> None:
        """A worker has done its part of its task, or never will."""
        task = self._busy.pop(worker, None)
        if task:
            task.missing.discard(worker)
            if worker == task.first:
                task.result = result
            if error:
                task.errors.append(error)
                asyncio.get_running_loop().call_later(PATIENCE, self._release, task)
            self._settle(task)
        self._changed()

    def _settle(self, task: Task) -> None:
        if task.missing or task.done.done():
            return
        if task.errors:
            task.done.set_exception(TaskFailed("; ".join(task.errors)))
        else:
            task.done.set_result(task.result)

    def _release(self, task: Task) -> None:
        """Kills those who still wait for somebody that has failed."""
        for worker in task.missing:
            try:
                self._job.signal(signal.SIGKILL, worker)
            except PlenumError:
                pass  # it has ended meanwhile
