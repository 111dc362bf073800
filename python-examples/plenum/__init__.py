# SPDX-License-Identifier: BSD-3-Clause
"""Plenum for Python: launching MPI jobs and following them, with the standard library alone.

    import plenum

    with plenum.Runtime() as runtime:
        job = runtime.job()
        job.add(["./ocean", "--days", "30"], ranks=4)
        job.launch()
        for event in runtime.events():
            print(event.message)
        print("exit code", job.wait())

`plenum.AsyncRuntime` does the same inside asyncio; `plenum.mpi`, which is imported by itself, is the other side: what a
process of a job needs to communicate. Errors are exceptions with the line that the library has for them.
"""
from ._event import Event, Host, Process, Usage
from ._native import find_tool, python_path
from .aio import AsyncRuntime, JobFailed, Result
from .enums import (Bind, ErrorCode, EventFlag, EventKind, HostState, JobOption, Map, Pmix, Policy, ProcessState, Rank,
                    RuntimeOption, Scope)
from .errors import PlenumClosed, PlenumError, PlenumTimeout
from .executor import Executor
from .runtime import ALL, COUNT, Job, Runtime

__version__ = "0.1.0"

__all__ = ["ALL", "AsyncRuntime", "Bind", "COUNT", "ErrorCode", "Event", "EventFlag", "EventKind", "Executor", "Host",
           "HostState", "Job", "JobFailed", "JobOption", "Map", "Pmix", "PlenumClosed", "PlenumError", "PlenumTimeout",
           "Policy", "Process", "ProcessState", "Rank", "Result", "Runtime", "RuntimeOption", "Scope", "Usage", "find_tool", "python_path"]
