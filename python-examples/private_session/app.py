# SPDX-License-Identifier: BSD-3-Clause
"""An application in plain Python: mean and spread of measurements. It does not know that there is such a thing as MPI.

    python3 -m private_session.app
    ../build/bin/mpiexec -n 4 python3 -m private_session.app

usage: app [--numbers N] [--threads N]; with threads, each does the whole work with a team of its own.
"""
import argparse
import math
import threading

from private_session.parallel_sum import Team


def measurements(count: int) -> range:
    """What was measured; here, numbers that are easy to check."""
    return range(1, count + 1)


def statistics(team: Team, count: int) -> str:
    """One line about the measurements."""
    mine = team.share(measurements(count))
    total = team.count(mine)
    mean = team.sum(mine) / total
    spread = math.sqrt(team.sum((value - mean) ** 2 for value in mine) / total)
    return f"{total} measurements, mean {mean:.3f}, spread {spread:.3f}, largest {team.largest(mine):g}"


def analyse(name: str, count: int, lines: dict[str, str]) -> None:
    """Opens a team, works, and closes it again, twice: the first leaves nothing behind that would affect the second."""
    for _ in range(2):
        with Team(name) as team:
            line = statistics(team, count)
            if team.speaks:
                lines[name] = line


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--numbers", type=int, default=100000)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    lines: dict[str, str] = {}
    workers = [threading.Thread(target=analyse, args=(f"thread {n}", args.numbers, lines)) for n in range(args.threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for name in sorted(lines):
        print(f"{name}: {lines[name]}" if args.threads > 1 else lines[name])


if __name__ == "__main__":
    main()
