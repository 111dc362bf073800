# SPDX-License-Identifier: BSD-3-Clause
"""A worker: takes tasks from standard input, one JSON object to a line, and answers each on standard output.

Between tasks it is a plain process without a trace of MPI. It ends when its input does.

usage: worker PLACE NUMBER SIZE: where the pool meets, which worker this is, and of how many
"""
from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

from .attach import Attach, pooled


def work(request: dict[str, Any], attach: Attach) -> dict[str, Any]:
    """Does one task: attaches, computes, detaches. Never raises: the answer contains the error."""
    answer: dict[str, Any] = {"task": request["task"]}
    try:
        module, name = request["function"].split(":")
        function = getattr(importlib.import_module(module), name)
        with attach(request["workers"], f"worker_pool.task.{request['task']}") as comm:
            answer["result"] = function(comm, *request["arguments"])
    except Exception as error:  # whatever the task raises belongs to the caller that asked for it
        answer["error"] = f"{type(error).__name__}: {error}"
    return answer


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    attach = pooled(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    os.dup2(2, 1)  # what tasks print is for people
    for line in sys.stdin:
        answer = work(json.loads(line), attach)
        try:
            text = json.dumps(answer)
        except (TypeError, ValueError) as error:
            text = json.dumps({"task": answer["task"], "error": f"the result is nothing for JSON: {error}"})
        print(text, file=answers)


if __name__ == "__main__":
    main()
