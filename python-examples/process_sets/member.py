# SPDX-License-Identifier: BSD-3-Clause
"""A process of the job. It reads the process set app://crew; where it is a member it computes with the others.

Every version of the set is a phase: its members create a communicator and get the numbers from process 0, which is in
every crew. They do some steps, each on its own portion, and exchange the results. Other processes have no communicator
and do not communicate. An empty set is the end.
"""
import time
from array import array

from plenum import mpi

CREW, RESULT = "app://crew", "app://result"
NUMBERS = 120  # divisible by any size of a crew up to 6
STEPS = 4  # of a phase
ERR_ARG = 13


def advance(number: int, index: int) -> int:
    """One step of one number."""
    return (number * 3 + index) % 1009


def read_set(session: mpi.Session) -> tuple[int, mpi.Group] | None:
    """The version of the set and its members at that version; None until it is published."""
    try:
        while True:
            before = session.pset_info(CREW)["plenum_version"]
            group = session.group(CREW)
            if session.pset_info(CREW)["plenum_version"] == before:
                return int(before), group
            group.close()
    except mpi.Error as error:
        if error.error_class == ERR_ARG:
            return None
        raise


def phase(comm: mpi.Comm, numbers: array) -> None:
    """Some steps of the computation; then every member of the crew has all numbers."""
    comm.bcast(numbers)
    share = NUMBERS // comm.size
    first = comm.rank * share
    for _ in range(STEPS):
        mine = array("q", [advance(numbers[i], i) for i in range(first, first + share)])
        comm.allgather(mine, numbers)


def main() -> None:
    numbers = array("q", [0] * NUMBERS)
    seen = 0
    with mpi.Session() as session, session.group("mpi://WORLD") as world:
        while True:
            found = read_set(session)
            if not found or found[0] == seen:
                time.sleep(0.002)
                continue
            seen, group = found
            with group:
                if group.size == 0:
                    break
                if group.rank != mpi.UNDEFINED:
                    with session.comm(group, f"org.example.crew.{seen}") as comm:
                        phase(comm, numbers)
                        if comm.rank == 0:
                            print(f"phase of {comm.size}: {sum(numbers)}", flush=True)
        if world.rank == 0:
            with world.incl([0]) as holder:
                session.publish(RESULT, holder)
            print(f"result: {sum(numbers)}", flush=True)


if __name__ == "__main__":
    main()
