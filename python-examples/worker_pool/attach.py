# SPDX-License-Identifier: BSD-3-Clause
"""How the workers of a task create a communicator, and how they free it.

A worker knows nothing but this: a context that takes the numbers of the task's workers and a tag that no other task
has, and gives a communicator of them, in that order. pooled() is for workers that are processes of their own, however
they were started, with a place to meet and a number each. launched() is for workers that one job of the runtime holds:
MPI finds them by their ranks in it.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from plenum import mpi

Attach: TypeAlias = Callable[[Sequence[int], str], AbstractContextManager[mpi.Comm]]


@contextmanager
def launched(workers: Sequence[int], tag: str) -> Iterator[mpi.Comm]:
    """A session for the time of one task. Only its workers attach; the others take no part and do not wait."""
    session = mpi.Session()
    try:
        with session.group("mpi://WORLD") as world, world.incl(workers) as members:
            comm = session.comm(members, tag)
        try:
            yield comm
        finally:
            comm.close()
    finally:
        session.close()


def pooled(place: str, number: int, size: int) -> Attach:
    """For worker `number` of a pool of `size` at `place`: it is attached for the time of a task only."""
    @contextmanager
    def attach(workers: Sequence[int], tag: str) -> Iterator[mpi.Comm]:
        mpi.attach(place, number, size)
        try:
            with launched(workers, tag) as comm:
                yield comm
        finally:
            mpi.detach()
    return attach
