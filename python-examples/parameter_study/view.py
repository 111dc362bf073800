# SPDX-License-Identifier: BSD-3-Clause
"""Shows a study while it runs: a few lines that are redrawn on a terminal, elsewhere a line every few seconds."""
from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections import deque
from typing import TextIO

from .study import Case, Study

BAR = 30
ROWS = 6  # of running and of failed cases


class View:
    """A view on a stream."""

    def __init__(self, study: Study, out: TextIO) -> None:
        self._study, self._out = study, out
        self.live = out.isatty() and os.environ.get("TERM") != "dumb"
        self._height = 0

    async def watch(self) -> None:
        """Shows the study until it is cancelled, and once more then."""
        try:
            while True:
                self._show()
                await asyncio.sleep(0.1 if self.live else 5)
        finally:
            self._show()

    def _show(self) -> None:
        lines = self.lines() if self.live else [self.summary()]
        width = shutil.get_terminal_size().columns - 1
        up = f"\x1b[{self._height}F\x1b[J" if self._height else ""
        self._out.write(up + "".join((line[:width] if self.live else line) + "\n" for line in lines))
        self._out.flush()
        self._height = len(lines) if self.live else 0

    def summary(self) -> str:
        """All in one line."""
        study, counts = self._study, self._study.counts
        ended = counts["done"] + counts["failed"]
        return (f"{ended} of {len(study.cases)} cases, {counts['running']} running, {counts['failed']} failed, "
                f"{study.rate:.0f} jobs/s, {time.monotonic() - study.begin:.1f} s")

    def lines(self) -> list[str]:
        """The picture: a bar, the cases that have run longest, the last ones that have failed."""
        study, counts = self._study, self._study.counts
        done, failed = (counts[state] * BAR // max(1, len(study.cases)) for state in ("done", "failed"))
        now = time.monotonic()
        running = sorted(study.running, key=lambda case: case.started)[:ROWS]
        return ["█" * done + "✗" * failed + "░" * (BAR - done - failed) + "  " + self.summary(),
                *(f"  ▶ {case.name}  {now - case.started:.1f} s" for case in running),
                *(f"  {line}" for line in failures(study, ROWS))]


def failures(study: Study, limit: int) -> list[str]:
    """The last cases that have failed, with the reasons."""
    last: deque[Case] = deque((case for case in study.cases if case.state == "failed"), maxlen=limit)
    return [f"✗ {case.name}  {case.reason}" + f" at attempt {case.attempts}" * (case.attempts > 1) for case in last]
