# SPDX-License-Identifier: BSD-3-Clause
"""Shows a graph while it runs: a picture that is redrawn on a terminal, one line for each change elsewhere."""
from __future__ import annotations

import asyncio
import os
import shutil
from typing import TextIO

from .engine import Attempt, Engine, Record, State

BAR = 24
COLORS = {State.DONE: "32", State.RUNNING: "36", State.FAILED: "31", State.CANCELLED: "33", State.SKIPPED: "33",
          State.WAITING: "2"}
SIGNS = {State.DONE: "✓", State.RUNNING: "▶", State.FAILED: "✗", State.CANCELLED: "■", State.SKIPPED: "–",
         State.WAITING: "·"}


def _ranks(count: int) -> str:
    return f"{count} rank{'s' * (count > 1)}"


class Lines:
    """A line for each change: for files, pipes and logs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def changed(self, engine: Engine, record: Record) -> None:
        """Call it whenever the state of a task has changed."""
        name, state = record.task.name, record.state
        last = record.attempts[-1] if record.attempts else None
        if state == State.RUNNING and last:
            tried = f", attempt {last.number} of {record.task.retries + 1}" if last.number > 1 else ""
            text = f"started, {_ranks(record.task.ranks)}{tried}"
        elif last and last.state == State.FAILED:
            text = f"failed: {last.reason}" + (", trying again" if state == State.WAITING else "")
        elif last and state == State.DONE:
            text = f"done in {last.end - last.start:.2f} s"
        else:
            text = state.value
        print(f"{engine.now():7.2f}  {name}: {text}", file=self._out)
        if last and state == State.FAILED:
            for line in last.tail:
                print(f"         | {line}", file=self._out)
        self._out.flush()

    async def watch(self, engine: Engine) -> None:
        """Nothing happens between the changes."""


class Screen:
    """A block of lines at the bottom of a terminal, redrawn ten times a second."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._height = 0
        self._plain = "NO_COLOR" in os.environ

    def changed(self, engine: Engine, record: Record) -> None:
        """Call it whenever the state of a task has changed; watch() will show the change."""

    async def watch(self, engine: Engine) -> None:
        """Redraws until it is cancelled, and once more then."""
        try:
            while True:
                self._draw(engine)
                await asyncio.sleep(0.1)
        finally:
            self._draw(engine)

    def _draw(self, engine: Engine) -> None:
        size = shutil.get_terminal_size()
        width, room = size.columns - 1, size.lines - 2
        records = list(engine.records.values())
        if len(records) > room:  # the interesting ones
            records = sorted(records, key=lambda record: record.state != State.RUNNING)[:room]
        lines = [self._head(engine, width)] + [self._row(engine, record, width) for record in records]
        up = f"\x1b[{self._height}F" if self._height else ""
        self._out.write(up + "".join(f"\x1b[2K{line}\n" for line in lines))
        self._out.flush()
        self._height = len(lines)

    def _color(self, text: str, code: str) -> str:
        return text if self._plain else f"\x1b[{code}m{text}\x1b[0m"

    def _head(self, engine: Engine, width: int) -> str:
        done = sum(record.state == State.DONE for record in engine.records.values())
        slots = "".join("□" if slot in engine.free else "■" for slot in range(engine.graph.slots))
        text = f"{engine.graph.name}  {done} of {len(engine.records)} tasks  slots {slots}  {engine.now():.1f} s"
        return self._color(text[:width], "1")

    def _row(self, engine: Engine, record: Record, width: int) -> str:
        names = max(map(len, engine.records))
        attempt = record.attempts[-1] if record.attempts else None
        text = f"{SIGNS[record.state]} {record.task.name:<{names}}  {_ranks(record.task.ranks):>8}  "
        text += self._detail(engine, record, attempt)
        return self._color(text[:width], COLORS[record.state])

    def _detail(self, engine: Engine, record: Record, attempt: Attempt | None) -> str:
        if record.state == State.RUNNING and attempt:
            full = attempt.progress * BAR // 100
            again = f"  attempt {attempt.number} of {record.task.retries + 1}" if attempt.number > 1 else ""
            return f"{'█' * full}{'░' * (BAR - full)} {engine.now() - attempt.start:5.1f} s{again}"
        if attempt and attempt.state == State.FAILED:
            return f"{attempt.reason}"
        if attempt and record.state == State.DONE:
            again = f"  at attempt {attempt.number}" if attempt.number > 1 else ""
            return f"{'█' * BAR} {attempt.end - attempt.start:5.1f} s{again}"
        missing = [name for name in record.task.after if engine.records[name].state != State.DONE]
        if record.state == State.WAITING:
            return f"waits for {', '.join(missing)}" if missing else "waits for slots"
        return record.state.value


def for_stream(out: TextIO) -> Lines | Screen:
    """The display that suits the stream."""
    return Screen(out) if out.isatty() and os.environ.get("TERM") != "dumb" else Lines(out)
