# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command once for each combination of values, as many at a time as slots allow.

    study = Study(["./ocean", "--dt", "{dt}", "--seed", "{seed}"], {"dt": [1, 2], "seed": range(100)}, ranks=2)
    await study.run(slots=8)
    study.cases[0].values, study.cases[0].result
"""
from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plenum import AsyncRuntime, Event, EventKind, PlenumError, Result

PENDING = 64  # cases in the hands of the runtime beyond those that run; the rest cost nothing yet


@dataclass(eq=False)
class Case:
    """One combination: waiting, running, done or failed."""
    values: dict[str, Any]
    state: str = "waiting"
    attempts: int = 0
    started: float = 0.0
    result: Result | None = None
    reason: str = ""

    @property
    def name(self) -> str:
        """The values in words."""
        return " ".join(f"{key}={value}" for key, value in self.values.items())


class Study:
    """All cases, and how far they are."""

    def __init__(self, command: Sequence[str], values: Mapping[str, Iterable[Any]], *, ranks: int = 1,
                 retries: int = 0, seconds: float = 0) -> None:
        self.command, self.ranks, self.retries, self.seconds = command, ranks, retries, seconds
        self.cases = [Case(dict(zip(values, each))) for each in itertools.product(*values.values())]
        self.running: set[Case] = set()
        self.counts = Counter({"waiting": len(self.cases)})
        self.begin = time.monotonic()
        self._ends: deque[float] = deque(maxlen=1000)

    @property
    def rate(self) -> float:
        """Jobs a second, over the last second or more."""
        now = time.monotonic()
        while len(self._ends) > 2 and now - self._ends[0] > 1:
            self._ends.popleft()
        return len(self._ends) / (now - self._ends[0]) if len(self._ends) > 1 and now > self._ends[0] else 0.0

    async def run(self, slots: int) -> None:
        """Runs all cases. Cancelling it ends the jobs that run, and waits for their ends."""
        self.begin = time.monotonic()
        room = asyncio.Semaphore(max(1, slots // self.ranks) + PENDING)
        async with AsyncRuntime(slots) as runtime, asyncio.TaskGroup() as group:
            for case in self.cases:
                await room.acquire()
                group.create_task(self._run(runtime, case)).add_done_callback(lambda task: room.release())

    async def _run(self, runtime: AsyncRuntime, case: Case) -> None:
        words = [word.format(**case.values) for word in self.command]
        description = {"argv": words, "ranks": self.ranks, "time_limit": self.seconds}
        while case.state != "done" and case.attempts <= self.retries:
            case.attempts += 1
            try:
                case.result = await runtime.run(description, watch=lambda event: self._watch(case, event))
                case.reason = case.result.reason
            except PlenumError as error:  # the program does not exist
                case.reason = str(error)
            self._ends.append(time.monotonic())
            good = case.result is not None and case.result.code == 0
            self._move(case, "done" if good else "failed" if case.attempts > self.retries else "waiting")

    def _watch(self, case: Case, event: Event) -> None:
        if event.kind == EventKind.STARTED:
            case.started = time.monotonic()
            self._move(case, "running")

    def _move(self, case: Case, state: str) -> None:
        self.counts[case.state] -= 1
        self.counts[state] += 1
        case.state = state
        (self.running.add if state == "running" else self.running.discard)(case)
