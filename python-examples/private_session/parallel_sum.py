# SPDX-License-Identifier: BSD-3-Clause
"""Sums over numbers that are spread over processes. MPI is this library's private matter.

    from private_session.parallel_sum import Team

    with Team() as team:
        mine = team.share(records)
        mean = team.sum(mine) / team.count(mine)

Started by itself, a process is a team of one; started by mpiexec, all processes of the job are. A team has a session
of its own: it shares nothing with other teams, with other libraries that use MPI, or with the application should it use
MPI too. When the team is closed nothing of MPI is left in the process. A team belongs to one thread at a time.
"""
from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TypeVar

from plenum import mpi

Item = TypeVar("Item")


class Team:
    """The processes that work together. All of them make a team of the same name and call its functions in the same
    order."""

    def __init__(self, name: str = "default") -> None:
        self._session = mpi.Session()
        self._comm = self._session.comm("mpi://WORLD", f"org.example.parallel_sum.{name}")

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not error:  # the others may wait for this process; its end tells them
            self.close()

    def close(self) -> None:
        """Frees all resources. May be called twice."""
        self._comm.close()
        self._session.close()

    @property
    def speaks(self) -> bool:
        """True in one process of the team: the one that should print and write."""
        return self._comm.rank == 0

    def share(self, items: Sequence[Item]) -> Sequence[Item]:
        """This process's part of items that every process has."""
        rank, size = self._comm.rank, self._comm.size
        return items[len(items) * rank // size:len(items) * (rank + 1) // size]

    def sum(self, values: Iterable[float]) -> float:
        """The sum of the values of all processes."""
        total = array("d", [sum(values)])
        self._comm.allreduce(total)
        return total[0]

    def count(self, items: Sequence[object]) -> int:
        """The number of items of all processes together."""
        total = array("q", [len(items)])
        self._comm.allreduce(total)
        return total[0]

    def largest(self, values: Iterable[float]) -> float:
        """The largest of the values of all processes; minus infinity when there are no values."""
        most = array("d", [max(values, default=float("-inf"))])
        self._comm.allreduce(most, mpi.Op.MAX)
        return most[0]
