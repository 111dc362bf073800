# SPDX-License-Identifier: BSD-3-Clause
"""A plug-in for pytest that runs each parallel test as a job; all jobs have one runtime, inside pytest itself.

    @pytest.mark.parallel(nprocs=3)        # or nprocs=[2, 3], once with each; seconds=60, the time limit
    def test_sum(): ...

    python3 -m pytest -p parallel_tests.plugin tests/

Each rank runs pytest for this test alone (rank.py) and writes reports. The test passes if it passes in all ranks.
"""
from __future__ import annotations

import asyncio
import os
import sys
import tempfile

import pytest
from plenum import AsyncRuntime, Event, EventKind, python_path

from . import rank
from .merge import merge

PATIENCE = 0.5  # seconds that the other ranks have to end after one has failed


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "parallel(nprocs=2, seconds=60): runs the test as a job of so many ranks")
    directory = os.environ.get(rank.DIRECTORY)
    config.pluginmanager.register(rank.Reporter(config, directory) if directory else Launcher(config))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("parallel")
    if mark and isinstance(mark.kwargs.get("nprocs"), (list, tuple)):
        if "nprocs" not in metafunc.fixturenames:
            metafunc.fixturenames.append("nprocs")
        metafunc.parametrize("nprocs", mark.kwargs["nprocs"])


class Launcher:
    """Runs the jobs."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.loop: asyncio.Runner | None = None
        self.runtime: AsyncRuntime | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Runs a parallel test as a job. None: any other test goes the usual way."""
        mark = item.get_closest_marker("parallel")
        if not mark:
            return None
        if not self.loop:
            self.loop, self.runtime = asyncio.Runner(), AsyncRuntime()
            self.loop.run(self.runtime.__aenter__())
        params = item.callspec.params if hasattr(item, "callspec") else {}
        nprocs = params.get("nprocs") or mark.kwargs.get("nprocs", 2)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        with tempfile.TemporaryDirectory(prefix="parallel-tests-") as directory:
            events = self.loop.run(self.run(item, directory, nprocs, mark.kwargs.get("seconds", 60)))
            reports = [rank.read_reports(self.config, directory, number) for number in range(nprocs)]
        for report in merge(item, reports, events):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    async def run(self, item: pytest.Item, directory: str, nprocs: int, seconds: float) -> list[Event]:
        """Runs the job; its events. A failure of one rank gives the others a moment to fail, too."""
        config = self.config
        ini = ["-c", str(config.inipath)] if config.inipath else []
        words = [sys.executable, "-m", "pytest", "-p", "parallel_tests.plugin", "-p", "no:cacheprovider", *ini,
                 f"--rootdir={config.rootpath}", f"{config.rootpath}/{item.nodeid}"]
        job = self.runtime.job({"argv": words, "ranks": nprocs, "keep_going": True, "time_limit": seconds, "grace": 1,
                                "env": {"PYTHONPATH": python_path(), rank.DIRECTORY: directory}})
        events: list[Event] = []
        timers: list[asyncio.TimerHandle] = []

        def watch(event: Event) -> None:
            events.append(event)
            failed = event.kind == EventKind.LOST or event.kind == EventKind.EXITED and event.code
            if failed and not timers:
                timers.append(asyncio.get_running_loop().call_later(PATIENCE, job.cancel))

        try:
            await self.runtime.run(job, watch=watch)
        finally:
            for timer in timers:
                timer.cancel()
        return events

    def pytest_unconfigure(self) -> None:
        """Ends the runtime."""
        if self.loop:
            self.runtime.close()
            self.loop.close()
