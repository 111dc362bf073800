# SPDX-License-Identifier: BSD-3-Clause
"""In a rank: writes pytest's reports to a file. In the pytest that has started it: reads them."""
from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

DIRECTORY = "PARALLEL_TESTS_DIRECTORY"
"""The variable that names the place of the reports, in ranks only."""


class Reporter:
    """Writes each report at once, so that one more is there when the process dies."""

    def __init__(self, config: pytest.Config, directory: str) -> None:
        self.config, self.failed = config, False
        self.path = Path(directory, os.environ["PLENUM_RANK"])

    def _write(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        self.failed = self.failed or report.failed
        with open(self.path, "a", encoding="utf-8") as file:
            print(json.dumps(self.config.hook.pytest_report_to_serializable(config=self.config, report=report)),
                  file=file)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._write(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Only failures: the module could not be imported in this rank."""
        if report.failed:
            self._write(report)

    def pytest_runtest_logfinish(self) -> None:
        """A rank that has failed ends at once: MPI_Finalize would wait for ranks that wait for this one."""
        if self.failed:
            os._exit(1)


def read_reports(config: pytest.Config, directory: str, number: int) -> dict[str, pytest.TestReport]:
    """The reports of a rank by phase: setup, call, teardown; collect if the module could not be imported."""
    path = Path(directory, str(number))
    lines = path.read_text(encoding="utf-8").splitlines(True) if path.exists() else []
    found = [config.hook.pytest_report_from_serializable(config=config, data=json.loads(line))
             for line in lines if line.endswith("\n")]
    for report in found:
        if isinstance(report.longrepr, list):  # of a skip: JSON has no tuples
            report.longrepr = tuple(report.longrepr)
    return {getattr(report, "when", None) or "collect": report for report in found}
