# SPDX-License-Identifier: BSD-3-Clause
"""The pool as an application sees it.

    async with WorkerPool(4) as pool:
        area = await pool.run("worker_pool.tasks:pi", 100000, workers=2)

A task gets workers that are idle; tasks wait in the order in which they came. A worker that is lost is replaced.
"""
from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

from plenum import AsyncRuntime

from .crew import Crew, TaskFailed

__all__ = ["TaskFailed", "WorkerPool"]


class WorkerPool:
    """A number of worker processes. Use it from one asyncio loop only."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._runtime = AsyncRuntime()
        self._crew: Crew | None = None
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._number = 0

    async def __aenter__(self) -> WorkerPool:
        await self._runtime.__aenter__()
        try:
            self._crew = Crew(self._runtime, self.workers, self._changed.set)
        except BaseException:
            self._runtime.close()
            raise
        return self

    async def __aexit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Lets idle workers end by themselves, and ends those that are busy; their tasks fail."""
        try:
            await self._crew.end()
        finally:
            self._runtime.close()

    @property
    def lost(self) -> int:
        """The number of workers that have died or were killed, and were replaced."""
        return self._crew.lost

    async def run(self, function: str, *arguments: Any, workers: int = 1) -> Any:
        """Runs "module:function" with a communicator of `workers` workers; returns what rank 0 of it returned.

        Raises TaskFailed with the words of the workers that failed.
        """
        if not 1 <= workers <= self.workers:
            raise ValueError(f"the task wants {workers} workers of a pool of {self.workers}")
        async with self._turn:  # the task that came first is served first
            while len(self._crew.idle) < workers:
                self._changed.clear()
                await self._changed.wait()
            self._number += 1
            done = self._crew.start(self._number, function, arguments, workers)
        return await done
