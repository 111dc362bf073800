# SPDX-License-Identifier: BSD-3-Clause
"""What the workers compute: functions for Dask alone, and functions of a communicator."""
import os
from array import array

from plenum import mpi


def measure(number: int) -> float:
    """A task of one worker."""
    return sum(1.0 / (number * 1000 + n) ** 2 for n in range(1, 1001))


def heat(comm: mpi.Comm, cells: int, steps: int) -> float:
    """A rod, hot at its left end, in pieces: each step exchanges the borders with the neighbours. The sum of all."""
    first, last = cells * comm.rank // comm.size, cells * (comm.rank + 1) // comm.size
    rod = array("d", [0.0] * (last - first + 2))
    left = comm.rank - 1 if comm.rank else mpi.PROC_NULL
    right = comm.rank + 1 if comm.rank + 1 < comm.size else mpi.PROC_NULL
    for _ in range(steps):
        if comm.rank == 0:
            rod[0] = 1.0
        borders = memoryview(rod)
        comm.sendrecv(borders[1:2], left, borders[-1:], right)
        comm.sendrecv(borders[-2:-1], right, borders[:1], left)
        inner = [0.25 * (rod[n - 1] + 2 * rod[n] + rod[n + 1]) for n in range(1, len(rod) - 1)]
        borders[1:-1] = array("d", inner)
    total = array("d", [sum(rod[1:-1])])
    comm.allreduce(total)
    return total[0]


def broken(comm: mpi.Comm, rank: int) -> None:
    """One rank makes a mistake while the others wait for it."""
    if comm.rank == rank:
        raise ValueError(f"rank {rank} was asked to fail")
    comm.recv(bytearray(1), rank)


def crash(comm: mpi.Comm, rank: int) -> None:
    """One worker dies while the others wait for it. Dask starts another."""
    if comm.rank == rank:
        os.kill(os.getpid(), 9)
    comm.recv(bytearray(1), rank)
