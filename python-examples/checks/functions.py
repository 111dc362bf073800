# SPDX-License-Identifier: BSD-3-Clause
"""Functions that test_module calls in jobs."""
import os
import signal


def square(number: int) -> int:
    return number * number


def fail(text: str) -> None:
    raise KeyError(text)


def fail_alone(rank: int) -> None:
    """Raises in one rank; the others wait for what does not come."""
    if int(os.environ["PLENUM_RANK"]) == rank:
        raise KeyError(rank)
    signal.pause()


def total(factor: int) -> int:
    """The sum of the ranks that call it, by MPI."""
    from array import array
    from plenum import mpi
    with mpi.Session() as session, session.comm("mpi://WORLD", "org.example.total") as comm:
        mine = array("q", [factor * comm.rank])
        comm.allreduce(mine)
        return mine[0]


def send_to(rank: int) -> None:
    """Sends to a rank that does not exist."""
    from plenum import mpi
    with mpi.Session() as session, session.comm("mpi://SELF", "org.example.send_to") as comm:
        comm.send(b"", rank)
