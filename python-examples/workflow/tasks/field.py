# SPDX-License-Identifier: BSD-3-Clause
"""A task in Python: the ranks share the points of a field, sum them up step by step, and rank 0 writes the total.

usage: field.py OUT.json --points N --seed S [--steps K] [--fail-attempts N --attempt N] [INPUT.json ...]

The totals of the inputs are added. What comes out does not depend on the number of ranks.
"""
import argparse
import json
import time
from array import array
from pathlib import Path

from plenum import mpi

PAUSE = 0.04  # seconds that a step takes at least, so that there is something to see


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("inputs", type=Path, nargs="*")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--attempt", type=int, default=1)
    parser.add_argument("--fail-attempts", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    args = arguments()
    with mpi.Session() as session, session.comm("mpi://WORLD", "org.example.field") as comm:
        total = sum(json.loads(path.read_text(encoding="utf-8"))["total"] for path in args.inputs)
        for step in range(args.steps):
            mine = range(step * comm.size + comm.rank, args.points, args.steps * comm.size)
            part = array("q", [sum(point * args.seed % 1009 for point in mine)])
            comm.allreduce(part)
            total += part[0]
            time.sleep(PAUSE)
            if args.attempt <= args.fail_attempts and step == args.steps // 2 and comm.rank == comm.size - 1:
                comm.abort(7)  # an instrument that does not answer yet
            if comm.rank == 0:
                print(f"progress {(step + 1) * 100 // args.steps}%")
        if comm.rank == 0:
            args.out.write_text(json.dumps({"total": total, "ranks": comm.size}), encoding="utf-8")


main()
