# SPDX-License-Identifier: BSD-3-Clause
"""What all that run jobs offer on hosts and resources: the methods of the runtime that they have inside."""
from __future__ import annotations

from collections.abc import Mapping

from ._event import Host
from .runtime import Runtime


class RunsOnHosts:
    """A base class for what has a runtime of its own, as `self._runtime`."""

    _runtime: Runtime

    def add_host(self, name: str, slots: int = 1, command: str | None = None) -> None:
        """As Runtime.add_host(); from then on all jobs run on hosts. What a function of an Executor returns comes in a
        file of the directory for temporary files: TMPDIR must name one that all hosts share. Commands need none."""
        self._runtime.add_host(name, slots, command)

    def remove_host(self, name: str) -> None:
        """As Runtime.remove_host()."""
        self._runtime.remove_host(name)

    def hosts(self) -> list[Host]:
        """As Runtime.hosts()."""
        return self._runtime.hosts()

    def host_resources(self, host: str, counts: Mapping[str, int]) -> None:
        """As Runtime.host_resources()."""
        self._runtime.host_resources(host, counts)

    def resources(self, counts: Mapping[str, int]) -> None:
        """As Runtime.resources()."""
        self._runtime.resources(counts)
