# SPDX-License-Identifier: BSD-3-Clause
"""Tests for the plug-in: some that pass, and some that show how a failure looks.

    PYTHONPATH=. python3 -m pytest -p parallel_tests.plugin parallel_tests/tests -k "not fails"
"""
import os
from array import array
from collections.abc import Iterator

import pytest
from plenum import mpi


@pytest.fixture
def comm() -> Iterator[mpi.Comm]:
    """All ranks of the job."""
    with mpi.Session() as session, session.comm("mpi://WORLD", "org.example.test") as comm:
        yield comm


def test_plain() -> None:
    """Without the mark a test runs in pytest itself."""
    assert "PLENUM_RANK" not in os.environ


@pytest.mark.parallel(nprocs=3)
def test_sum(comm: mpi.Comm) -> None:
    total = array("d", [comm.rank])
    comm.allreduce(total)
    assert (comm.size, total[0]) == (3, 3.0)


@pytest.mark.parallel(nprocs=[1, 2])
@pytest.mark.parametrize("text", ["ä", "b c/d"])
def test_words(comm: mpi.Comm, nprocs: int, text: str) -> None:
    assert comm.allgather_objects(text + str(comm.rank)) == [text + str(n) for n in range(nprocs)]


@pytest.mark.parallel(nprocs=3)
def test_fails_in_one(comm: mpi.Comm) -> None:
    """The others wait for the rank that fails."""
    print("I am", comm.rank)
    assert comm.rank != 1, "one is enough"
    comm.recv(bytearray(1), 1)


@pytest.mark.parallel
def test_fails_in_all(comm: mpi.Comm) -> None:
    assert comm.rank == 7


@pytest.mark.parallel(nprocs=2)
def test_fails_by_a_crash(comm: mpi.Comm) -> None:
    if comm.rank == 1:
        os.kill(os.getpid(), 11)
    comm.recv(bytearray(1), 1)


@pytest.mark.parallel(nprocs=2, seconds=2)
def test_fails_by_a_deadlock(comm: mpi.Comm) -> None:
    comm.recv(bytearray(1), 1 - comm.rank)
