# SPDX-License-Identifier: BSD-3-Clause
"""Command line of the workflow engine: python3 -m workflow GRAPH.json [--work DIR] [--timeline FILE.svg]

Exit code 0: all tasks are done; 1: some failed; 2: the graph is wrong; 130: stopped by Ctrl-C or SIGTERM. Ctrl-C ends
all tasks, a second one kills them.
"""
import argparse
import asyncio
import contextlib
import signal
import sys
import tempfile
from pathlib import Path

from . import graph, timeline
from .display import for_stream
from .engine import Engine


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="workflow", description="Runs a graph of MPI tasks.")
    parser.add_argument("graph", type=Path, help="the tasks, in JSON")
    parser.add_argument("--work", type=Path, help="directory for the tasks' files; default: one that is removed")
    parser.add_argument("--timeline", type=Path, metavar="FILE.svg", help="draw what ran when into this file")
    return parser.parse_args()


async def run(tasks: graph.Graph, work: Path, picture: Path | None) -> int:
    """Runs the graph, shows it, draws it; the exit code."""
    display = for_stream(sys.stdout)
    engine = Engine(tasks, work, lambda record: display.changed(engine, record))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, engine.stop)
    watching = asyncio.create_task(display.watch(engine))
    try:
        good = await engine.run()
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
    if picture:
        picture.write_text(timeline.draw(engine), encoding="utf-8")
    return 130 if engine.stopping else 0 if good else 1


def main() -> int:
    args = arguments()
    try:
        tasks = graph.load(args.graph)
    except graph.GraphError as error:
        print(f"workflow: {error}", file=sys.stderr)
        return 2
    with contextlib.ExitStack() as stack:
        work = args.work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="workflow-")))
        work.mkdir(parents=True, exist_ok=True)
        return asyncio.run(run(tasks, work.resolve(), args.timeline))


if __name__ == "__main__":
    sys.exit(main())
