# SPDX-License-Identifier: BSD-3-Clause
"""Jobs as futures: a concurrent.futures.Executor whose tasks are MPI jobs.

    with plenum.Executor(slots=8) as executor:
        future = executor.submit_job(["./ocean", "--days", "30"], ranks=4)     # a Result
        total = executor.submit(simulate, 0.5)                                # what simulate(0.5) returns
        print(future.result().code, total.result())

A function runs in new Python processes, `ranks` of them for each call, which may use any MPI binding; the result is
that of rank 0. Functions, arguments and results are pickled, so a function must be importable; the program itself may
define it.
"""
from __future__ import annotations

import concurrent.futures
import multiprocessing.spawn
import os
import pickle
import select
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from ._native import python_path
from .aio import JobFailed, Result, ResultBuilder
from .enums import RuntimeOption
from .errors import PlenumClosed
from .runtime import ALL, Job, Runtime


class _Task:
    """A job under way, and the future that it fulfils by `finish`."""

    def __init__(self, job: Job, finish: Callable[[Result], Any]) -> None:
        self.job, self.finish = job, finish
        self.future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self.builder = ResultBuilder()

    def cancelled(self, future: concurrent.futures.Future[Any]) -> None:
        if future.cancelled():
            try:
                self.job.cancel()
            except PlenumClosed:
                pass  # it has ended, or its runtime has

    def complete(self, result: Result) -> None:
        self.job.close()
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.finish(result))
        except BaseException as error:  # the task's own, raised where its result is asked for
            self.future.set_exception(error)


class Executor(concurrent.futures.Executor):
    """Runs jobs, and functions in jobs.

    `slots` limits the processes of all jobs that run at the same time. `ranks` is the number of processes of a function
    call. `pending` bounds the tasks that have not ended: submitting one more waits. Cancelling a future ends its
    job, also one that runs. Any thread may use an executor.
    """

    def __init__(self, slots: int = 0, ranks: int = 1, pending: int = 1024) -> None:
        self._runtime = Runtime()
        if slots:
            self._runtime.set(RuntimeOption.SLOTS, slots)
        self._ranks = ranks
        self._room = threading.BoundedSemaphore(pending)
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
        with tempfile.NamedTemporaryFile(prefix="plenum-result-", delete=False) as file:
            name = file.name

        def finish(result: Result) -> Any:
            with open(name, "rb") as file:
                kind, value = pickle.load(file) if os.stat(name).st_size else ("none", None)
            if kind == "error":
                raise value
            if result.code or kind == "none":
                raise JobFailed(result)
            return value

        try:
            words = [sys.executable, "-m", "plenum._call", name]
            task = self._submit({"programs": [{"argv": words, "ranks": ranks}], "env": {"PYTHONPATH": python_path()}},
                                1, whole, finish)
        except BaseException:
            os.unlink(name)
            raise
        task.future.add_done_callback(lambda future: os.unlink(name))
        return task.future

    def submit_job(self, what: Sequence[str | PathLike[str]] | Mapping[str, Any], ranks: int = 1, *,
                   stdin: bytes | None = None) -> concurrent.futures.Future[Result]:
        """Runs the words of a command, or a description as for Runtime.job(). The future is a Result, whatever its
        exit code."""
        return self._submit(what, ranks, stdin, lambda result: result).future

    def _submit(self, what: Sequence[str | PathLike[str]] | Mapping[str, Any], ranks: int, stdin: bytes | None,
                finish: Callable[[Result], Any]) -> _Task:
        self._room.acquire()
        try:
            job = self._runtime.job(what if isinstance(what, Mapping) else None)
            if not isinstance(what, Mapping):
                job.add(what, ranks)
            if stdin is not None:
                job.stdin(stdin, ALL if isinstance(what, Mapping) else 0)
            task = _Task(job, finish)
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
