# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstration and its test run."""
import time
from array import array
from pathlib import Path

from plenum import mpi


def integral(intervals: int) -> tuple[int, float]:
    """The number of ranks, and pi, as the area under a curve."""
    with mpi.Session() as session, session.comm("mpi://WORLD", "engine_executor.integral") as comm:
        width = 1.0 / intervals
        mine = range(comm.rank, intervals, comm.size)
        area = array("d", [sum(width * 4.0 / (1.0 + ((n + 0.5) * width) ** 2) for n in mine)])
        comm.allreduce(area)
        return comm.size, area[0]


def unsteady(directory: str, failures: int) -> int:
    """Fails at its first attempts; the number of the attempt that succeeds."""
    attempt = len(list(Path(directory).iterdir())) + 1
    Path(directory, str(attempt)).touch()
    if attempt <= failures:
        raise RuntimeError(f"attempt {attempt} was asked to fail")
    return attempt


def wait_for(file: str) -> str:
    """Waits until there is this file."""
    while not Path(file).exists():
        time.sleep(0.01)
    return file
