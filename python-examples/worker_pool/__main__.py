# SPDX-License-Identifier: BSD-3-Clause
"""The pool at work: python3 -m worker_pool [WORKERS]

Tasks of several widths share the workers; one of them loses a worker, and the pool goes on.
"""
import argparse
import asyncio
import time
from typing import Any

from .pool import TaskFailed, WorkerPool

TASKS: list[tuple[str, int, Any]] = [
    ("pi", 2, 200000), ("primes", 1, 5000), ("ring", 4, "around:"), ("pi", 4, 400000), ("primes", 3, 20000),
    ("crash", 2, 1), ("pi", 1, 50000), ("primes", 2, 10000), ("ring", 3, "again:"),
]


async def report(pool: WorkerPool, name: str, workers: int, argument: Any) -> None:
    """Runs one task and prints a line about it."""
    began = time.monotonic()
    try:
        result = await pool.run(f"worker_pool.tasks:{name}", argument, workers=workers)
    except TaskFailed as error:
        result = f"failed: {error}"
    print(f"{name:>8} on {workers}: {result}   ({time.monotonic() - began:.2f} s)", flush=True)


async def main(workers: int) -> None:
    async with WorkerPool(workers) as pool:
        await asyncio.gather(*(report(pool, name, min(wide, workers), argument) for name, wide, argument in TASKS))
        print(f"{len(TASKS)} tasks, {workers} workers, {pool.lost} replaced")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="worker_pool", description="Tasks of several widths share a pool of workers.")
    parser.add_argument("workers", nargs="?", type=int, default=4)
    asyncio.run(main(parser.parse_args().workers))
