# SPDX-License-Identifier: BSD-3-Clause
"""The graph of tasks, read from JSON and checked: every mistake is named with the task and the key that has it."""
from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any


class GraphError(Exception):
    """The file does not describe a graph of tasks."""


@dataclass(frozen=True)
class Task:
    """One job of the graph, run in the work directory.

    In `argv` and `env`, {python}, {mpicc}, {here}, {work} and {attempt} are replaced.
    """
    name: str
    argv: list[str]
    ranks: int = 1
    after: list[str] = field(default_factory=list)
    retries: int = 0
    """The number of further attempts after a failure."""
    time_limit: float = 0.0
    """Seconds of one attempt; 0: none."""
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """Tasks in an order in which each follows those that it needs."""
    name: str
    slots: int
    """The number of ranks that run at the same time, over all tasks."""
    tasks: dict[str, Task]
    here: Path
    """The directory of the file."""


# Key: (what it must be in words, whether a value is that)
_KEYS: dict[str, tuple[str, Any]] = {
    "argv": ("a list of words, at least one", lambda v: _is_list_of_text(v) and len(v) > 0),
    "ranks": ("a number, at least 1", lambda v: _is_whole(v) and v >= 1),
    "after": ("a list of names of tasks", lambda v: _is_list_of_text(v)),
    "retries": ("a number, at least 0", lambda v: _is_whole(v) and v >= 0),
    "time_limit": ("seconds, at least 0", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 0),
    "env": ("an object of texts", lambda v: isinstance(v, dict) and all(isinstance(t, str) for t in v.values())),
}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _read_task(name: str, values: Any) -> Task:
    if not isinstance(values, Mapping):
        raise GraphError(f'task "{name}": an object is needed, with the keys {", ".join(_KEYS)}')
    for key, value in values.items():
        if key not in _KEYS:
            raise GraphError(f'task "{name}": there is no key "{key}"; there are {", ".join(_KEYS)}')
        words, good = _KEYS[key]
        if not good(value):
            raise GraphError(f'task "{name}": "{key}" must be {words}, and is {json.dumps(value)}')
    if "argv" not in values:
        raise GraphError(f'task "{name}": "argv" is missing')
    return Task(name, **values)


def _in_order(tasks: dict[str, Task]) -> dict[str, Task]:
    for task in tasks.values():
        for needed in task.after:
            if needed not in tasks:
                raise GraphError(f'task "{task.name}": "after" names "{needed}", and there is no such task')
    try:
        order = TopologicalSorter({name: task.after for name, task in tasks.items()}).static_order()
        return {name: tasks[name] for name in order}
    except CycleError as error:
        raise GraphError(f'the tasks {" -> ".join(error.args[1])} wait for each other') from error


def parse(text: str, here: Path) -> Graph:
    """Reads a graph from JSON text."""
    try:
        top = json.loads(text)
    except ValueError as error:
        raise GraphError(f"not JSON: {error}") from error
    if not isinstance(top, dict) or not isinstance(top.get("tasks"), dict) or not top["tasks"]:
        raise GraphError('an object with the key "tasks" is needed, an object of tasks by name')
    for key in top.keys() - {"name", "slots", "tasks"}:
        raise GraphError(f'there is no key "{key}"; there are name, slots, tasks')
    tasks = _in_order({name: _read_task(name, values) for name, values in top["tasks"].items()})
    slots = top.get("slots", max(task.ranks for task in tasks.values()))
    if not _is_whole(slots) or slots < 1:
        raise GraphError(f'"slots" must be a number, at least 1, and is {json.dumps(slots)}')
    for task in tasks.values():
        if task.ranks > slots:
            raise GraphError(f'task "{task.name}": {task.ranks} ranks do not fit into {slots} slots')
    return Graph(str(top.get("name", "workflow")), slots, tasks, here)


def load(path: Path) -> Graph:
    """Reads a graph from a file."""
    try:
        return parse(path.read_text(encoding="utf-8"), path.resolve().parent)
    except (OSError, UnicodeDecodeError) as error:
        raise GraphError(str(error)) from error
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None
