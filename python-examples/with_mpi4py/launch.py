# SPDX-License-Identifier: BSD-3-Clause
"""Starts programs of mpi4py from this process, several at a time: python3 -m with_mpi4py.launch [JOBS]"""
import argparse
import asyncio
import sys

from plenum import AsyncRuntime, EventKind, python_path


async def one(runtime: AsyncRuntime, ranks: int) -> int:
    """Runs the program once, with its output behind the number of ranks; the exit code."""
    job = runtime.job()
    job.add([sys.executable, "-m", "with_mpi4py.app"], ranks=ranks)
    job.env("PYTHONPATH", python_path())
    code = 1
    async for event in runtime.events(job):
        if event.kind == EventKind.OUTPUT:
            print("\n".join(f"{ranks}: {line}" for line in event.lines))
        elif event.kind == EventKind.FINISHED:
            code = event.code
    return code


async def main(jobs: int) -> int:
    async with AsyncRuntime() as runtime:
        return max(await asyncio.gather(*(one(runtime, ranks) for ranks in range(1, jobs + 1))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="with_mpi4py.launch", description="Starts several programs of mpi4py at once.")
    parser.add_argument("jobs", nargs="?", type=int, default=3, help="how many, with 1, 2, ... ranks")
    sys.exit(asyncio.run(main(parser.parse_args().jobs)))
