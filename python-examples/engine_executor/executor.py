# SPDX-License-Identifier: BSD-3-Clause
"""An executor as engines such as Parsl have it: tasks of several ranks, attempts, blocks of slots that come and go.

    with BlockExecutor(slots_per_block=4, max_blocks=8, retries=1) as executor:
        future = executor.submit(simulate, {"num_ranks": 3}, 0.5)     # what simulate(0.5) returns in rank 0
        executor.scale_out(2)
        executor.status()                                            # {"block-0": "RUNNING", ...}

Names and arguments are those of Parsl's executors. A block is a number of slots of one runtime on this machine. It
starts no process, so scaling takes no time, and scaling in ends no task.
"""
from __future__ import annotations

import concurrent.futures
import itertools
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from plenum import Executor

KEYS = {"num_ranks", "num_nodes", "ranks_per_node", "retries"}


def ranks_of(specification: Mapping[str, int]) -> int:
    """The processes that a resource specification asks for."""
    unknown = specification.keys() - KEYS
    if unknown or any(not isinstance(value, int) or value < (key != "retries") for key, value in specification.items()):
        raise ValueError(f"{dict(specification)} is not a resource specification: integers from 1 for {sorted(KEYS)}")
    ranks = specification.get("num_nodes", 1) * specification.get("ranks_per_node", 1)
    return specification.get("num_ranks", ranks)


class BlockExecutor:
    """Any thread may use it. `limit` bounds the tasks that have not ended: submitting one more waits."""

    def __init__(self, slots_per_block: int, *, init_blocks: int = 1, min_blocks: int = 1, max_blocks: int = 8,
                 retries: int = 0, limit: int = 1000) -> None:
        if not 1 <= min_blocks <= init_blocks <= max_blocks:
            raise ValueError("1 <= min_blocks <= init_blocks <= max_blocks must hold")
        self.slots_per_block, self.min_blocks, self.max_blocks = slots_per_block, min_blocks, max_blocks
        self.retries = retries
        self._room = threading.BoundedSemaphore(limit)
        self._changing = threading.RLock()
        self._numbers = itertools.count()
        self._blocks: list[str] = []
        self._widths: dict[concurrent.futures.Future[Any], int] = {}
        self._executor = Executor(slots=slots_per_block * init_blocks, pending=limit)
        self.scale_out(init_blocks)

    def __enter__(self) -> BlockExecutor:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.shutdown(cancel=error is not None)

    def submit(self, function: Callable[..., Any], resource_specification: Mapping[str, int], *args: Any,
               **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Calls function(*args) in new processes that have MPI. A task that needs more blocks gets them."""
        ranks = ranks_of(resource_specification)
        if ranks > self.slots_per_block * self.max_blocks:
            raise ValueError(f"the task wants {ranks} ranks, and {self.max_blocks} blocks have "
                             f"{self.slots_per_block * self.max_blocks} slots")
        self._room.acquire()
        outer: concurrent.futures.Future[Any] = concurrent.futures.Future()
        with self._changing:
            self._widths[outer] = ranks
            self.scale_out(max(0, -(-ranks // self.slots_per_block) - len(self._blocks)))
        outer.add_done_callback(self._ended)
        attempts = 1 + resource_specification.get("retries", self.retries)
        try:
            self._attempt(outer, attempts, ranks, function, *args, **kwargs)
        except BaseException:
            outer.cancel()
            raise
        return outer

    def _attempt(self, outer: concurrent.futures.Future[Any], attempts: int, ranks: int,
                 function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        inner = self._executor.submit_ranks(ranks, function, *args, **kwargs)
        outer.add_done_callback(lambda future: future.cancelled() and inner.cancel())

        def ended(inner: concurrent.futures.Future[Any]) -> None:
            error = None if inner.cancelled() else inner.exception()
            if error and attempts > 1 and not outer.cancelled():
                try:
                    return self._attempt(outer, attempts - 1, ranks, function, *args, **kwargs)
                except Exception:  # the executor is being shut down: the first error counts
                    pass
            if inner.cancelled():
                outer.cancel()
            if outer.set_running_or_notify_cancel():
                outer.set_exception(error) if error else outer.set_result(inner.result())
            return None
        inner.add_done_callback(ended)

    def _ended(self, outer: concurrent.futures.Future[Any]) -> None:
        with self._changing:
            del self._widths[outer]
        self._room.release()

    @property
    def outstanding(self) -> int:
        """The number of tasks that have not ended, by which an engine decides about scaling."""
        return len(self._widths)

    def scale_out(self, blocks: int = 1) -> list[str]:
        """Adds blocks, as far as max_blocks allows; their names."""
        with self._changing:
            new = [f"block-{next(self._numbers)}" for _ in range(min(blocks, self.max_blocks - len(self._blocks)))]
            self._resize(self._blocks + new)
            return new

    def scale_in(self, blocks: int = 1) -> list[str]:
        """Takes blocks away, as far as min_blocks and the widest task allow; their names. No task is ended."""
        with self._changing:
            needed = max(self.min_blocks, -(-max(self._widths.values(), default=0) // self.slots_per_block))
            kept = max(min(needed, len(self._blocks)), len(self._blocks) - blocks)
            gone = self._blocks[kept:]
            self._resize(self._blocks[:kept])
            return gone

    def _resize(self, blocks: list[str]) -> None:
        self._executor.resize(self.slots_per_block * len(blocks))
        self._blocks = blocks

    def status(self) -> dict[str, str]:
        """The state of each block, which is always that it runs, as in Parsl's JobStatus."""
        return dict.fromkeys(self._blocks, "RUNNING")

    def counts(self) -> tuple[int, int]:
        """How many tasks wait for slots, and how many run."""
        return self._executor.counts()

    def shutdown(self, cancel: bool = False) -> None:
        """Waits for all tasks, with their further attempts; or ends them."""
        with self._changing:
            tasks = list(self._widths)
        if cancel:
            for task in tasks:
                task.cancel()
        concurrent.futures.wait(tasks)
        self._executor.shutdown(cancel_futures=cancel)
