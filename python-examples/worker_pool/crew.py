# SPDX-License-Identifier: BSD-3-Clause
"""A crew: worker processes, each started by itself, that meet at a place of their own.

A failure of one fails its task. When it dies, MPI tells the others of the task; when it has only given up, they may
wait for it for ever: they get a moment to answer and are killed. A worker that is lost is replaced by a new process
with its number, and the others never notice.
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

from plenum import AsyncRuntime, EventKind, Job, JobOption, PlenumError, python_path

GRACE = 500  # milliseconds that workers have to end after SIGTERM
PATIENCE = 0.5  # seconds that the others of a failed task have to answer


class TaskFailed(Exception):
    """A task raised an exception in a worker, or a worker died."""


@dataclass(eq=False)
class Task:
    """A running task: the workers that have not answered yet, and the result."""
    missing: set[int]
    first: int
    done: asyncio.Future[Any]
    result: Any = None
    errors: list[str] = field(default_factory=list)


class Crew:
    """Worker processes, numbered from 0. `changed` is called whenever a worker becomes idle."""

    def __init__(self, runtime: AsyncRuntime, size: int, changed: Callable[[], None]) -> None:
        self.size = size
        self.idle: set[int] = set()
        self.lost = 0
        """The number of workers that have been replaced."""
        self._changed = changed
        self._busy: dict[int, Task] = {}
        self._ending = False
        self._pipes: dict[int, int] = {}
        self._jobs: dict[int, Job] = {}
        self._listening: set[asyncio.Task[None]] = set()
        self._runtime = runtime
        self._memory = os.memfd_create("worker_pool")  # the pool's place, without a name
        os.fchmod(self._memory, 0o600)
        try:
            for number in range(size):
                self._hire(number)
        except BaseException:
            self._hang_up(range(size))
            os.close(self._memory)
            raise

    def _hire(self, number: int) -> None:
        """Starts a worker: a job of one process."""
        place = f"/proc/{os.getpid()}/fd/{self._memory}"
        job = self._runtime.job()
        job.add([sys.executable, "-m", "worker_pool.worker", place, str(number), str(self.size)])
        job.env("PYTHONPATH", python_path())
        job.set(JobOption.GRACE, GRACE)
        reader, self._pipes[number] = os.pipe()
        try:
            job.redirect(0, 0, reader)
            self._runtime.launch(job)
        finally:
            os.close(reader)
        self._jobs[number] = job
        self.idle.add(number)
        listener = asyncio.create_task(self._listen(number, job))
        self._listening.add(listener)
        listener.add_done_callback(self._listening.discard)

    def start(self, number: int, function: str, arguments: Sequence[Any], workers: int) -> asyncio.Future[Any]:
        """Gives a task to `workers` idle workers. `number` is one that no other task has."""
        chosen = sorted(self.idle)[:workers]
        request = {"task": number, "function": function, "arguments": arguments, "workers": chosen}
        line = json.dumps(request).encode() + b"\n"
        task = Task(set(chosen), chosen[0], asyncio.get_running_loop().create_future())
        self.idle -= task.missing
        self._busy.update(dict.fromkeys(chosen, task))
        for worker in chosen:
            self._tell(worker, line)
        return task.done

    async def end(self) -> None:
        """Lets idle workers end by themselves, and ends those that are busy."""
        self._ending = True
        self._hang_up(range(self.size))
        for worker in self._busy:
            self._jobs[worker].cancel()
        if self._listening:
            await asyncio.wait(self._listening)
        os.close(self._memory)

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

    async def _listen(self, worker: int, job: Job) -> None:
        unfinished, why = b"", ""
        async for event in self._runtime.follow(job):
            if event.kind == EventKind.OUTPUT and event.stream == 1:
                *lines, unfinished = (unfinished + event.data).split(b"\n")
                for line in lines:
                    self._take_answer(worker, json.loads(line))
            elif event.kind == EventKind.OUTPUT:
                sys.stderr.write(event.text)
            elif event.kind in (EventKind.EXITED, EventKind.LOST):
                why = event.message
        self._lose(worker, why or event.message)

    def _take_answer(self, worker: int, answer: dict[str, Any]) -> None:
        self.idle.add(worker)
        self._answered(worker, answer.get("error"), answer.get("result"))

    def _lose(self, worker: int, why: str) -> None:
        self.idle.discard(worker)
        self._hang_up([worker])
        if not self._ending:
            self.lost += 1
            self._hire(worker)
        self._answered(worker, why)

    def _answered(self, worker: int, error: str | None, result: Any = None) -> None:
        """A worker has completed its part of its task, or never will."""
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
        """Kills the workers that still wait for one that has failed."""
        for worker in task.missing:
            try:
                self._jobs[worker].signal(signal.SIGKILL, 0)
            except PlenumError:
                pass  # it has ended meanwhile
