# SPDX-License-Identifier: BSD-3-Clause
"""A program for mpi4py: Python objects and buffers in the World, and in a session that comes and goes beside it.

    ../build/bin/mpiexec -n 3 python3 -m with_mpi4py.app

mpi4py 4.1 or later works with any library that has the standard ABI; it finds the one named libmpi_abi.so.1.
"""
import sys
from array import array

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as missing:  # it is not installed, or it finds no library of MPI
    sys.exit(f"with_mpi4py: {missing}; pip install 'mpi4py>=4.1' for {sys.executable}, and set LD_LIBRARY_PATH to the "
             "directory of libmpi_abi.so.1")


def in_the_world() -> str:
    """Objects, which mpi4py pickles, and a buffer, which it sends as it is."""
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    words = comm.allgather({"rank": rank, "square": rank * rank})
    assert [word["square"] for word in words] == [n * n for n in range(size)]
    right, left = (rank + 1) % size, (rank - 1) % size
    assert comm.sendrecv(f"from {rank}", dest=right, source=left) == f"from {left}"
    total = array("d", [0.0])
    comm.Allreduce(array("d", [rank + 0.5]), total, op=MPI.SUM)
    assert total[0] == size * size / 2
    return f"World of {size}: sum {total[0]}"


def in_a_session() -> str:
    """A session of its own; nothing of it remains."""
    session = MPI.Session.Init()
    group = session.Create_group("mpi://WORLD")
    comm = MPI.Intracomm.Create_from_group(group, "org.example.with_mpi4py")
    group.Free()
    largest = comm.allreduce(comm.Get_rank(), op=MPI.MAX)
    size = comm.Get_size()
    comm.Free()
    session.Finalize()
    assert largest == size - 1
    return f"session of {size}: largest rank {largest}"


def main() -> None:
    lines = [MPI.Get_library_version().split(",")[0], in_the_world()] + [in_a_session() for _ in range(2)]
    if MPI.COMM_WORLD.Get_rank() == 0:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
