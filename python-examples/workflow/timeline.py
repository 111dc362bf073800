# SPDX-License-Identifier: BSD-3-Clause
"""Draws what ran when, and on which slots, as SVG: time to the right, a row for each slot, and lines from a task to
those that waited for it. The colors follow the reader's screen, light or dark."""
from __future__ import annotations

from html import escape

from .engine import Attempt, Engine, State

WIDTH, LEFT, RIGHT, TOP, ROW, GAP, BOTTOM = 960, 64, 24, 76, 38, 6, 60
PLOT = WIDTH - LEFT - RIGHT
HUES = (210, 150, 34, 268, 186, 222, 100, 290, 170, 52)  # degrees; neighbours in the list are far apart
LETTER = 6.6  # width of a letter of a label

STYLE = """
  svg { font: 12px system-ui, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; }
  text { fill: #1f2933; } .title { font-size: 18px; font-weight: 600; } .tick { text-anchor: middle; }
  .end-of-line { text-anchor: end; } .faint { fill: #6b7785; }
  .paper { fill: #ffffff; } .row { fill: #f3f6f9; } .grid { stroke: #e0e6ec; }
  .bar text { fill: #ffffff; font-weight: 600; } .bar text.small { font-weight: 400; font-size: 11px; }
  .bar text.beside { fill: #1f2933; } .failed rect { stroke: #d64545; } .cancelled rect { stroke: #7b8794; }
  .needs { fill: none; stroke: #45525f; stroke-width: 1.2; opacity: .7; } .end { fill: #45525f; }
  @media (prefers-color-scheme: dark) {
    text, .bar text.beside { fill: #e4e9ef; } .faint { fill: #93a1b0; }
    .paper { fill: #10161d; } .row { fill: #18212b; } .grid { stroke: #27313c; }
    .needs { stroke: #c3ccd6; } .end { fill: #c3ccd6; } }"""

PATTERN = """<pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect width="8" height="8" fill="#d64545"/><rect width="3" height="8" fill="#ffffff" opacity=".28"/>
  </pattern>
  <pattern id="grey" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect width="8" height="8" fill="#7b8794"/><rect width="3" height="8" fill="#ffffff" opacity=".22"/>
  </pattern>"""


def tick_step(span: float, most: int = 10) -> float:
    """The smallest of 1, 2, 5 times a power of ten that divides the span into `most` parts or fewer."""
    step = 0.001
    while True:
        for factor in (1, 2, 5):
            if span / (step * factor) <= most:
                return step * factor
        step *= 10


def blocks(slots: list[int]) -> list[tuple[int, int]]:
    """Neighbouring slots together: (first, how many)."""
    found: list[tuple[int, int]] = []
    for slot in sorted(slots):
        if found and sum(found[-1]) == slot:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((slot, 1))
    return found


class Timeline:
    """The timeline of one engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.attempts = [a for record in engine.records.values() for a in record.attempts]
        self.span = max([a.end for a in self.attempts] + [0.001]) * 1.01
        self.bottom = TOP + engine.graph.slots * ROW
        self.hue = {name: HUES[n % len(HUES)] for n, name in enumerate(engine.records)}

    def x(self, seconds: float) -> float:
        """The horizontal position of a time."""
        return LEFT + seconds / self.span * PLOT

    def middle(self, attempt: Attempt) -> float:
        """The height at which lines meet an attempt: the middle of its largest block."""
        first, count = max(blocks(attempt.slots), key=lambda block: block[1])
        return TOP + (first + count / 2) * ROW

    def head(self) -> list[str]:
        """The title, and the figures of the run."""
        busy = sum((a.end - a.start) * len(a.slots) for a in self.attempts) / (self.span * self.engine.graph.slots)
        failed = sum(a.state == State.FAILED for a in self.attempts)
        words = [f"{len(self.engine.records)} tasks", f"{len(self.attempts)} attempts"]
        words += [f"{failed} failed"] if failed else []
        words += [f"{self.span / 1.01:.2f} s", f"{self.engine.graph.slots} slots, {busy:.0%} busy"]
        return [f'<text class="title" x="{LEFT}" y="34">{escape(self.engine.graph.name)}</text>',
                f'<text class="faint" x="{LEFT}" y="55">{" · ".join(words)}</text>']

    def grid(self) -> list[str]:
        """Rows, and the axis of time."""
        out = []
        for slot in range(self.engine.graph.slots):
            y = TOP + slot * ROW
            out.append(f'<rect class="row" x="{LEFT}" y="{y + GAP / 2:g}" width="{PLOT}" height="{ROW - GAP}" rx="4"/>')
            out.append(f'<text class="faint end-of-line" x="{LEFT - 10}" y="{y + ROW / 2 + 4:g}">slot {slot}</text>')
        step = tick_step(self.span)
        digits = 0 if step >= 1 else len(f"{step:g}") - 2
        for n in range(int(self.span / step) + 1):
            x = f"{self.x(n * step):.1f}"
            out.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{self.bottom + 6}"/>')
            out.append(f'<text class="faint tick" x="{x}" y="{self.bottom + 24}">{n * step:.{digits}f} s</text>')
        return out

    def needs(self) -> list[str]:
        """Lines from the end of a task to the first start of the tasks that need it."""
        out = []
        for record in self.engine.records.values():
            for name in record.task.after if record.attempts else []:
                before, after = self.engine.records[name].attempts[-1], record.attempts[0]
                x1, y1, x2, y2 = self.x(before.end), self.middle(before), self.x(after.start), self.middle(after)
                bend = (x2 - x1) / 2
                out.append(f'<path class="needs" d="M{x1:.1f} {y1:g} C{x1 + bend:.1f} {y1:g} {x2 - bend:.1f} {y2:g} '
                           f'{x2:.1f} {y2:g}"/><circle class="end" cx="{x2:.1f}" cy="{y2:g}" r="2.5"/>')
        return out

    def bar(self, attempt: Attempt) -> list[str]:
        """One attempt: a rectangle for each block of slots, with its name if it fits."""
        fill = {State.FAILED: "url(#hatch)", State.CANCELLED: "url(#grey)"}.get(
            attempt.state, f"hsl({self.hue[attempt.task.name]} 52% 45%)")
        took = f"{attempt.end - attempt.start:.2f} s"
        ranks = f"{len(attempt.slots)} rank{'s' * (len(attempt.slots) > 1)}"
        about = f"{attempt.task.name}, attempt {attempt.number}: {attempt.state.value}, {ranks}, {took}"
        about += f"\n{attempt.reason}" if attempt.reason else ""
        x, width = self.x(attempt.start), max(2.0, (attempt.end - attempt.start) / self.span * PLOT - 1)
        out = [f'<g class="bar {attempt.state.value}"><title>{escape(about)}</title>']
        for first, count in blocks(attempt.slots):
            y, height = TOP + first * ROW + GAP / 2, count * ROW - GAP
            out.append(f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}" rx="4" fill="{fill}"/>')
            label = self.label(attempt.task.name, f"{ranks}, {took}", x, y, width, height)
            out += label or self.beside(attempt, y, height)
        return out + ["</g>"]

    @staticmethod
    def label(name: str, small: str, x: float, y: float, width: float, height: float) -> list[str]:
        """A name, cut to the available width, and a second line if two fit."""
        room = int((width - 10) / LETTER)
        if room < min(4, len(name)):
            return []
        short = name if len(name) <= room else name[:room - 1] + "…"
        two = height > ROW and len(small) <= room
        middle = y + height / 2 + (-3 if two else 4)
        out = [f'<text x="{x + 7:.1f}" y="{middle:g}">{escape(short)}</text>']
        if two:
            out.append(f'<text class="small" x="{x + 7:.1f}" y="{middle + 15:g}">{escape(small)}</text>')
        return out

    def beside(self, attempt: Attempt, y: float, height: float) -> list[str]:
        """The name behind a bar that is too short for it, where the space is free."""
        name, x = attempt.task.name, self.x(attempt.end) + 5
        end = x + (len(name) + 1) * LETTER
        taken = [LEFT + PLOT] + [self.x(other.start) for other in self.attempts
                                 if set(other.slots) & set(attempt.slots) and other.start >= attempt.end]
        if end >= min(taken):
            return []
        return [f'<text class="beside" x="{x:.1f}" y="{y + height / 2 + 4:g}">{escape(name)}</text>']

    def draw(self) -> str:
        """The whole picture."""
        height = self.bottom + BOTTOM - 16
        size = f'width="{WIDTH}" height="{height}"'
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {size} role="img" '
                 f'aria-label="{escape(self.engine.graph.name)}: timeline">',
                 f"<style>{STYLE}\n</style>", f"<defs>{PATTERN}</defs>",
                 f'<rect class="paper" {size} rx="8"/>', *self.head(), *self.grid(), *self.needs()]
        for attempt in self.attempts:
            parts += self.bar(attempt)
        return "\n".join([*parts, "</svg>", ""])


def draw(engine: Engine) -> str:
    """The timeline of an engine that has run, as SVG."""
    return Timeline(engine).draw()
