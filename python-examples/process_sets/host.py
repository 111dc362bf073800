# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the crew: launches a job of six processes and changes the process set app://crew after each phase.

    python3 -m process_sets.host

Each change is shown as the job's processes see it: the host hears of all process sets, its own and the processes'.
"""
import asyncio
import sys

from plenum import AsyncRuntime, Event, EventKind, Job, python_path

from .member import CREW

SIZE = 6
CREWS: list[list[int]] = [[0], [0, 1, 2], list(range(6)), [0, 2, 4, 5], [0, 5], []]


def show(event: Event) -> None:
    """A line for each process set: a box for each process, full for members."""
    for name, ranks in event.psets.items():
        boxes = "".join("■" if rank in ranks else "□" for rank in range(SIZE))
        print(f"{boxes}  {name}", flush=True)


class Host:
    """Follows the job and gives it the next crew whenever a phase has ended."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.crews = iter(CREWS)

    def heard(self, event: Event) -> None:
        """Reacts to one event."""
        if event.kind == EventKind.STARTED:
            self.job.pset_publish(CREW, next(self.crews))
        elif event.kind == EventKind.PSETS:
            show(event)
        elif event.kind == EventKind.OUTPUT:
            for line in event.lines:
                print(f"        {line}", flush=True)
                if line.startswith("phase") and event.stream == 1:
                    self.job.pset_publish(CREW, next(self.crews))


async def main() -> int:
    async with AsyncRuntime() as runtime:
        job = runtime.job()
        job.add([sys.executable, "-m", "process_sets.member"], ranks=SIZE)
        job.env("PYTHONPATH", python_path())
        host = Host(job)
        async for event in runtime.events(job):
            host.heard(event)
        return event.code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
