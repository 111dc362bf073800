# SPDX-License-Identifier: BSD-3-Clause
"""Makes pytest's reports of a test from those of its ranks: a phase fails if it fails, or has no end, in any rank."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
from plenum import Event, EventKind

Reports = dict[str, pytest.TestReport]

TOLD = (EventKind.REPORT, EventKind.ABORTED, EventKind.TIMEOUT, EventKind.UNSTARTED)


def merge(item: pytest.Item, ranks: list[Reports], events: list[Event]) -> Iterator[pytest.TestReport]:
    """The reports of the test: setup, call, teardown, as far as the ranks came."""
    for phase in ("setup", "call", "teardown"):
        reports = {number: of[phase] for number, of in enumerate(ranks) if phase in of}
        failed = {number: report for number, report in reports.items() if report.failed}
        if phase == "call":
            failed |= {number: _ended(item, number, of, events) for number, of in enumerate(ranks)
                       if "teardown" not in of and ("collect" in of or not any(one.failed for one in of.values()))}
        if failed:
            yield _failure(item, phase, failed, reports, events)
        elif reports:
            passed = [report for report in reports.values() if report.passed]
            yield (passed or list(reports.values()))[0]


def _ended(item: pytest.Item, number: int, of: Reports, events: list[Event]) -> pytest.TestReport:
    """The report of a rank that did not come to its end; `collect` when it did not come to the test."""
    if "collect" in of:
        text = of["collect"].longreprtext
    else:
        ends = [event.message for event in events
                if event.rank == number and event.kind in (EventKind.EXITED, EventKind.LOST)]
        text = ends[0] if ends else "it was not started"
        text += "".join(f"\n{event.text.rstrip()}" for event in events
                        if event.kind == EventKind.OUTPUT and event.rank == number and event.stream == 2)
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")


def _failure(item: pytest.Item, phase: str, failed: Reports, reports: dict[int, pytest.TestReport],
             events: list[Event]) -> pytest.TestReport:
    """One report with the traceback and the output of each rank that has failed, and what the runtime has told."""
    texts = [f"rank {number} of {len(reports | failed)}:\n{report.longreprtext}" for number, report in failed.items()]
    sections = [(f"{title}, rank {number}", text) for number, report in failed.items()
                for title, text in report.sections]
    told = [event.message for event in events if event.kind in TOLD]
    if told:
        sections.append(("What the runtime says", "\n".join(told)))
    return pytest.TestReport(item.nodeid, item.location, dict(item.keywords), "failed", "\n\n".join(texts), phase,
                             sections, max((report.duration for report in reports.values()), default=0))
