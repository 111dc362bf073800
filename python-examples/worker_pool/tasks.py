# SPDX-License-Identifier: BSD-3-Clause
"""Tasks for the pool: functions of a communicator and of arguments that JSON can carry. The result of rank 0 counts."""
import os
from array import array

from plenum import mpi


def pi(comm: mpi.Comm, intervals: int) -> float:
    """Pi, as the area under a curve."""
    width = 1.0 / intervals
    mine = range(comm.rank, intervals, comm.size)
    area = array("d", [sum(width * 4.0 / (1.0 + ((n + 0.5) * width) ** 2) for n in mine)])
    comm.allreduce(area)
    return area[0]


def primes(comm: mpi.Comm, below: int) -> int:
    """The number of primes below a number."""
    odd = range(3 + 2 * comm.rank, below, 2 * comm.size)
    found = array("q", [sum(all(n % d for d in range(3, int(n ** 0.5) + 1, 2)) for n in odd)])
    comm.reduce(found)
    return found[0] + (below > 2)


def ring(comm: mpi.Comm, text: str) -> str:
    """Passes a text around; every process adds its rank."""
    buffer = bytearray(len(text.encode()) + 8 * comm.size)
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    if comm.rank > 0:
        text = buffer[:comm.recv(buffer, left).count].decode()
    text += f" {comm.rank}"
    if comm.rank == 0:
        got = comm.sendrecv(text.encode(), right, buffer, left)
        return buffer[:got.count].decode()
    comm.send(text.encode(), right)
    return ""


def census(comm: mpi.Comm) -> dict[str, int]:
    """The process of rank 0, and how many descriptors and mappings it has while it holds a session."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return {"pid": os.getpid(), "descriptors": len(os.listdir("/proc/self/fd")), "mappings": len(maps.readlines())}


def broken(comm: mpi.Comm, rank: int) -> None:
    """One worker makes a mistake, and the others wait for it."""
    if comm.rank == rank:
        raise ValueError(f"worker {rank} of the task was asked to fail")
    comm.recv(bytearray(1), rank)


def crash(comm: mpi.Comm, rank: int) -> None:
    """One worker dies, and the others wait for it."""
    if comm.rank == rank:
        os.kill(os.getpid(), 9)
    comm.recv(bytearray(1), rank)
