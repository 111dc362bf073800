# SPDX-License-Identifier: BSD-3-Clause
"""A process of plenum.Executor: calls the function that comes through its standard input.

Rank 0 writes what the function returns to DIRECTORY/result, pickled. A rank in which it raises writes the exception to
DIRECTORY/error, unless another rank was earlier: the job ends with the first rank that fails.

usage: python3 -m plenum._call DIRECTORY
"""
import contextlib
import multiprocessing.spawn
import os
import pickle
import sys
import traceback


def main() -> int:
    directory, rank = sys.argv[1], os.environ.get("PLENUM_RANK", "0")
    prepared, call = pickle.load(sys.stdin.buffer)
    multiprocessing.spawn.prepare(prepared)  # finds what the caller's program itself defines, as multiprocessing does
    try:
        function, args, kwargs = pickle.loads(call)
        value = function(*args, **kwargs)
        if rank == "0":
            write(directory, "result", value)
        return 0
    except Exception as error:
        traceback.print_exc()
        error.add_note(f"in rank {rank}: {traceback.format_exc()}")
        write(directory, "error", error)
        return 1


def write(directory: str, kind: str, value: object) -> None:
    """Writes a file that appears whole: the process may be ended meanwhile."""
    try:
        data = pickle.dumps(value)
    except Exception as error:  # whatever the object's own functions raise
        unpicklable = TypeError(f"the function's {kind} cannot be pickled: {error}")
        if kind == "result":
            raise unpicklable from error
        data = pickle.dumps(unpicklable)
    whole = f"{directory}/{kind}.{os.getpid()}"
    with open(whole, "wb") as file:
        file.write(data)
    with contextlib.suppress(FileExistsError):
        os.link(whole, f"{directory}/{kind}")


if __name__ == "__main__":
    sys.exit(main())
