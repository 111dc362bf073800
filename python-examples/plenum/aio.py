# SPDX-License-Identifier: BSD-3-Clause
"""A runtime inside asyncio: the loop watches its descriptor, and every job has its events to iterate over.

    async with plenum.AsyncRuntime() as runtime:
        job = runtime.job()
        job.add(["./ocean"], ranks=4)
        async for event in runtime.run(job):
            print(event.message)
"""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any

from .runtime import Event, EventKind, Job, Runtime, RuntimeOption


class AsyncRuntime:
    """A Runtime whose events go to the coroutines that follow the jobs. Use it from the loop's thread only."""

    def __init__(self) -> None:
        self._runtime = Runtime()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inboxes: dict[int, asyncio.Queue[Event]] = {}

    async def __aenter__(self) -> AsyncRuntime:
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._runtime.fileno(), self._take_events)
        return self

    async def __aexit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kills running jobs and frees all resources. May be called twice."""
        if self._loop:
            self._loop.remove_reader(self._runtime.fileno())
            self._loop = None
        self._runtime.close()

    def _take_events(self) -> None:
        while event := self._runtime.next_event():
            inbox = self._inboxes.get(event.job_id)
            if inbox:
                inbox.put_nowait(event)

    def set(self, option: RuntimeOption, value: int) -> None:
        """Runtime.set()."""
        self._runtime.set(option, value)

    def job(self, description: str | Mapping[str, Any] | None = None) -> Job:
        """A new job for run(): Runtime.job()."""
        return self._runtime.job(description)

    def launch(self, job: Job) -> None:
        """Launches a job whose events follow() will yield. An exception means that nothing was started."""
        self._inboxes[job.id] = asyncio.Queue()
        try:
            job.launch()
        except BaseException:
            del self._inboxes[job.id]
            raise

    async def follow(self, job: Job) -> AsyncIterator[Event]:
        """Yields the events of a launched job up to FINISHED, and closes the job then."""
        inbox = self._inboxes[job.id]
        while True:
            event = await inbox.get()
            if event.kind == EventKind.FINISHED:
                job.running = False
                del self._inboxes[job.id]
                job.close()
            yield event
            if event.kind == EventKind.FINISHED:
                return

    async def run(self, job: Job) -> AsyncIterator[Event]:
        """Launches a job and yields its events up to FINISHED, and closes the job then."""
        self.launch(job)
        async for event in self.follow(job):
            yield event
