# SPDX-License-Identifier: BSD-3-Clause
"""A process of plenum.Executor: calls the function that comes through its standard input; rank 0 writes the result.

usage: python3 -m plenum._call RESULT-FILE
"""
import multiprocessing.spawn
import os
import pickle
import sys
import traceback


def main() -> int:
    name = sys.argv[1]
    prepared, call = pickle.load(sys.stdin.buffer)
    multiprocessing.spawn.prepare(prepared)  # finds what the caller's program itself defines, as multiprocessing does
    try:
        function, args, kwargs = pickle.loads(call)
        outcome = ("result", function(*args, **kwargs))
    except Exception as error:
        error.add_note(f"in rank {os.environ.get('PLENUM_RANK', '0')}: {traceback.format_exc()}")
        traceback.print_exc()
        outcome = ("error", error)
    if os.environ.get("PLENUM_RANK", "0") == "0":
        write(name, outcome)
    return outcome[0] == "error"


def write(name: str, outcome: tuple[str, object]) -> None:
    try:
        data = pickle.dumps(outcome)
    except Exception as error:  # whatever the object's own functions raise
        data = pickle.dumps(("error", TypeError(f"the function's {outcome[0]} cannot be pickled: {error}")))
    with open(name, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    sys.exit(main())
