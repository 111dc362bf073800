# SPDX-License-Identifier: BSD-3-Clause
"""plenum.mpi in a Python process that uses another MPI: through mpi4py, or as ctypes loads its library.

usage: beside.py mpi4py|LIBRARY PROCESSES [first]; with "first", plenum.mpi is loaded before the other
"""
import ctypes
import importlib
import sys


class Other:
    """The other MPI by ctypes, seen by all libraries: as mpi4py loads it."""

    def __init__(self, name: str) -> None:
        self.library = ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
        if "mpich" in name:
            self.world, self.int, self.sum = (ctypes.c_int(h) for h in (0x44000000, 0x4c000405, 0x58000003))
        else:
            self.world, self.int, self.sum = (
                ctypes.byref(ctypes.c_char.in_dll(self.library, f"ompi_mpi_{what}"))
                for what in ("comm_world", "int", "op_sum")
            )
        self.call("MPI_Init", None, None)

    def call(self, name: str, *arguments: object) -> None:
        status = getattr(self.library, name)(*arguments)
        assert status == 0, f"{name} returned {status}"

    def sum_of(self, value: int) -> int:
        mine, all_of_them = ctypes.c_int(value), ctypes.c_int(-1)
        self.call("MPI_Allreduce", ctypes.byref(mine), ctypes.byref(all_of_them), 1, self.int, self.sum, self.world)
        return all_of_them.value

    def finalize(self) -> None:
        self.call("MPI_Finalize")


class OtherByMpi4py:
    """The other MPI by mpi4py."""

    def __init__(self) -> None:
        self.mpi = importlib.import_module("mpi4py.MPI")

    def sum_of(self, value: int) -> int:
        return self.mpi.COMM_WORLD.allreduce(value)

    def finalize(self) -> None:
        self.mpi.Finalize()


def main() -> None:
    name, processes = sys.argv[1], int(sys.argv[2])
    if sys.argv[3:] == ["first"]:
        importlib.import_module("plenum.mpi")
    other = OtherByMpi4py() if name == "mpi4py" else Other(name)
    team_type = importlib.import_module("private_session.parallel_sum").Team
    for _ in range(3):
        assert other.sum_of(1) == processes
        with team_type("beside") as team:
            mine = list(team.share(range(100)))
            assert 0 < len(mine) and (processes == 1 or len(mine) < 100), mine
            assert team.sum(mine) == 4950 and team.count(mine) == 100
            assert other.sum_of(2) == 2 * processes
            speaks = team.speaks
    other.finalize()
    if speaks:
        print("well")


main()
