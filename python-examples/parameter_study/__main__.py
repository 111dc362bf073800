# SPDX-License-Identifier: BSD-3-Clause
"""A study of any program, from the command line. Braces in the command stand for values:

    python3 -m parameter_study --slots 4 x=1:200 y=a,b -- sh -c 'sleep 0.{x}; echo {y}'
"""
from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys

from .study import Study
from .view import View, failures


def values(text: str) -> tuple[str, list[str]]:
    """NAME=A,B,C or NAME=FIRST:LAST."""
    name, _, rest = text.partition("=")
    first, colon, last = rest.partition(":")
    if not name.isidentifier() or not rest:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=A,B,C or NAME=FIRST:LAST")
    return name, [str(n) for n in range(int(first), int(last) + 1)] if colon else rest.split(",")


async def run(study: Study, slots: int) -> bool:
    """Runs the study under its view. False: it was interrupted."""
    view = asyncio.create_task(View(study, sys.stderr).watch())
    work = asyncio.create_task(study.run(slots))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, work.cancel)
    try:
        await work
        return True
    except asyncio.CancelledError:
        return False
    finally:
        view.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await view


def main() -> int:
    parser = argparse.ArgumentParser(prog="parameter_study", description=__doc__.partition("\n")[0])
    parser.add_argument("--slots", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--ranks", type=int, default=1, help="processes of a job")
    parser.add_argument("--retries", type=int, default=0, help="further attempts of a case that fails")
    parser.add_argument("--seconds", type=float, default=0, help="time limit of a job")
    parser.add_argument("values", nargs="+", type=values, metavar="NAME=VALUES", help="A,B,C or FIRST:LAST")
    if "--" not in sys.argv:
        parser.error("the command follows after --")
    middle = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:middle])
    try:
        " ".join(sys.argv[middle + 1:]).format(**dict(options.values))
    except (LookupError, ValueError) as error:
        parser.error(f"the command has braces without a value ({error}); {{{{ stands for a brace")
    study = Study(sys.argv[middle + 1:], dict(options.values), ranks=options.ranks, retries=options.retries,
                  seconds=options.seconds)
    whole = asyncio.run(run(study, options.slots))
    for case in study.cases:
        if case.state == "done":
            seconds = round(case.result.usage.seconds, 3)
            print(json.dumps(case.values | {"output": case.result.text, "seconds": seconds}))
    print(*failures(study, len(study.cases)), sep="\n", end="\n" * bool(study.counts["failed"]), file=sys.stderr)
    return 130 if not whole else int(study.counts["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
