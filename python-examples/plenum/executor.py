# SPDX-License-Identifier: BSD-3-Clause
"""Jobs as futures: a concurrent.futures.Executor whose tasks are MPI jobs.

    with plenum.Executor(slots=8) as executor:
        future = executor.submit_job(["./ocean", "--days", "30"], ranks=4)     # a Result
        total = executor.submit(simulate, 0.5)                                # what simulate(0.5) returns
        print(future.result().code, total.result())

A function runs in new Python processes, `ranks` of them for each call, which may use any MPI binding; the result is
that of rank 0. If the function raises, so does the future, with the first exception of any rank. Functions, arguments
and results are pickled, so a function must be importable; the program itself may define it.
"""
from __future__ import annotations

import concurrent.futures
import multiprocessing.spawn
import pickle
import select
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ._arguments import at_least_one
from ._hosts import RunsOnHosts
from ._native import python_path
from .aio import JobFailed, Result, ResultBuilder
from .enums import EventKind, RuntimeOption
from .errors import PlenumClosed
from .runtime import ALL, Job, Runtime


class _Task:
    """A job under way, and the future that it fulfils by `finish`. Its files are in `scratch` until it has ended."""

    def __init__(self, job: Job, finish: Callable[[Result], Any],
                 scratch: tempfile.TemporaryDirectory[str] | None) -> None:
        self.job, self.finish, self.scratch = job, finish, scratch
        self.future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self.builder = ResultBuilder()
        self.started = False

    def cancelled(self, future: concurrent.futures.Future[Any]) -> None:
        if future.cancelled():
            try:
                self.job.cancel()
            except PlenumClosed:
                pass  # it has ended, or its runtime has

    def complete(self, result: Result) -> None:
        self.job.close()
        try:
            value, error = self.finish(result), None
        except BaseException as caught:  # the task's own, raised where its result is asked for
            value, error = None, caught
        if self.scratch:
            self.scratch.cleanup()
        if not self.future.set_running_or_notify_cancel():
            return
        if error:
            self.future.set_exception(error)
        else:
            self.future.set_result(value)


class Executor(RunsOnHosts, concurrent.futures.Executor):
    """Runs jobs, and functions in jobs.

    `slots` limits the processes of all jobs that run at the same time. `ranks` is the number of processes of a function
    call. `pending` bounds the tasks that have not ended: submitting one more waits. Cancelling a future ends its
    job, also one that runs. Any thread may use an executor.
    """

    def __init__(self, slots: int = 0, ranks: int = 1, pending: int = 1024) -> None:
        self._ranks = at_least_one("ranks", ranks)
        self._room = threading.BoundedSemaphore(at_least_one("pending", pending))
        self._runtime = Runtime()
        try:
            self._runtime.set(RuntimeOption.SLOTS, slots)
        except BaseException:
            self._runtime.close()
            raise
        self._tasks: dict[int, _Task] = {}
        self._changed = threading.Condition()
        self._shut = False
        self._thread = threading.Thread(target=self._take_events, name="plenum-executor", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Calls a function in a job of the executor's number of ranks."""
        return self.submit_ranks(self._ranks, fn, *args, **kwargs)

    def submit_ranks(self, ranks: int, fn: Callable[..., Any], /, *args: Any,
                     **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Calls a function in a job of this number of ranks."""
        call = pickle.dumps((fn, args, kwargs))
        prepared = multiprocessing.spawn.get_preparation_data("plenum")
        prepared.pop("authkey", None)
        if b"__main__" not in call:  # nothing that the program itself defines: it is not imported
            prepared.pop("init_main_from_path", None)
            prepared.pop("init_main_from_name", None)
        whole = pickle.dumps((prepared, call))
        scratch = tempfile.TemporaryDirectory(prefix="plenum-result-", ignore_cleanup_errors=True)

        def finish(result: Result) -> Any:
            files = Path(scratch.name)
            if (files / "error").exists():
                raise pickle.loads((files / "error").read_bytes())
            if result.code or not (files / "result").exists():
                raise JobFailed(result)
            return pickle.loads((files / "result").read_bytes())

        words = [sys.executable, "-m", "plenum._call", scratch.name]
        what = {"programs": [{"argv": words, "ranks": ranks}], "env": {"PYTHONPATH": python_path()}}
        try:
            return self._submit(what, 1, whole, finish, scratch).future
        except BaseException:
            scratch.cleanup()
            raise

    def submit_job(self, what: Sequence[str | PathLike[str]] | Mapping[str, Any], ranks: int = 1, *,
                   stdin: bytes | None = None) -> concurrent.futures.Future[Result]:
        """Runs the words of a command, or a description as for Runtime.job(). The future is a Result, whatever its
        exit code."""
        return self._submit(what, ranks, stdin, lambda result: result).future

    def _submit(self, what: Sequence[str | PathLike[str]] | Mapping[str, Any], ranks: int, stdin: bytes | None,
                finish: Callable[[Result], Any], scratch: tempfile.TemporaryDirectory[str] | None = None) -> _Task:
        self._room.acquire()
        try:
            job = self._runtime.job(what if isinstance(what, Mapping) else None)
            if not isinstance(what, Mapping):
                job.add(what, ranks)
            if stdin is not None:
                job.stdin(stdin, ALL if isinstance(what, Mapping) else 0)
            task = _Task(job, finish, scratch)
            with self._changed:  # the thread that takes events must find the task
                if self._shut:
                    raise RuntimeError("cannot submit a task: the executor is shut down")
                job.launch()
                self._tasks[job.id] = task
        except BaseException:
            self._room.release()
            raise
        task.future.add_done_callback(task.cancelled)
        return task

    def resize(self, slots: int) -> None:
        """Changes the number of slots; 0 means no limit. Jobs that run go on, even if they have more."""
        self._runtime.set(RuntimeOption.SLOTS, slots)

    def counts(self) -> tuple[int, int]:
        """How many tasks wait for slots, and how many run."""
        with self._changed:
            running = sum(task.started for task in self._tasks.values())
            return len(self._tasks) - running, running

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks. `cancel_futures` ends those under way; otherwise they go on, `wait` or not, until this
        process ends."""
        with self._changed:
            self._shut = True
            tasks = list(self._tasks.values())
        if cancel_futures:
            for task in tasks:
                task.future.cancel()
        if not tasks:
            self._runtime.close()
        if wait:
            with self._changed:
                self._changed.wait_for(lambda: not self._tasks)
            if threading.current_thread() is not self._thread:
                self._thread.join()

    def _take_events(self) -> None:
        try:
            while True:
                event = self._runtime.next_event()
                if not event:
                    self._runtime._await_event()
                    continue
                with self._changed:
                    task = self._tasks.get(event.job_id)
                    if task and event.kind == EventKind.STARTED:
                        task.started = True
                result = task.builder.take(event) if task else None
                if task and result:
                    self._end(task, result)
        except PlenumClosed:
            pass

    def _end(self, task: _Task, result: Result) -> None:
        self._room.release()
        task.complete(result)
        with self._changed:
            del self._tasks[task.job.id]
            self._changed.notify_all()
            last = self._shut and not self._tasks
        if last:
            self._runtime.close()
