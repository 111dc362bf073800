# SPDX-License-Identifier: BSD-3-Clause
"""Says which Plenum this is. As a job, `mpiexec -n 4 python3 -m plenum`, it says how many processes have found each
other, too."""
import sys
from array import array

from . import __version__, _native, mpi


def main() -> int:
    with mpi.Session() as session, session.comm("mpi://WORLD", "plenum.__main__") as comm:
        ranks = array("q", [comm.rank])
        comm.allreduce(ranks)
        if comm.rank == 0:
            library = _native.find_library("mpi_abi", "libmpi_abi.so.1")
            print(f"plenum {__version__}, {library}: {comm.size} processes, the sum of their ranks is {ranks[0]}")
        return ranks[0] != comm.size * (comm.size - 1) // 2


if __name__ == "__main__":
    sys.exit(main())
