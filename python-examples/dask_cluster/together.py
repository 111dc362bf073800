# SPDX-License-Identifier: BSD-3-Clause
"""Calls a function on several workers of a Dask cluster at once, with a communicator of them.

    result = together(client, simulate, 0.5, workers=3)         # what simulate(comm, 0.5) returns in rank 0

The workers are the processes that Dask has started, on one machine. Each attaches to a pool for the time of the call
and is afterwards what it was before, without a trace of MPI.
"""
from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from typing import Any

from distributed import Client, Future, Lock, wait
from plenum import mpi

PATIENCE = 2  # seconds that the other ranks have to end after one has failed


def together(client: Client, function: Callable[..., Any], *arguments: Any, workers: int = 0) -> Any:
    """Calls function(comm, *arguments) on `workers` workers (0: all). Raises the first exception of any rank."""
    with Lock("dask_cluster.together", client=client), tempfile.TemporaryDirectory(prefix="dask-mpi-") as place:
        chosen = sorted(client.scheduler_info()["workers"])[:workers or None]
        if not chosen or len(chosen) < workers:
            raise ValueError(f"the call needs {workers or 1} workers, and the cluster has {len(chosen)}")
        ranks = [client.submit(_as_rank, function, arguments, place, rank, len(chosen), workers=[worker], pure=False)
                 for rank, worker in enumerate(chosen)]
        try:
            return _result(ranks)
        finally:
            client.cancel(ranks)


def _as_rank(function: Callable[..., Any], arguments: tuple[Any, ...], place: str, rank: int, size: int) -> Any:
    """On a worker, once: Dask would run the rank of a worker that has died again, where no other rank waits for it."""
    try:
        os.close(os.open(f"{place}/rank-{rank}", os.O_CREAT | os.O_EXCL))
    except OSError:
        raise RuntimeError(f"the worker of rank {rank} has died") from None
    with mpi.attached(place, rank, size) as comm:
        result = function(comm, *arguments)
    return result if rank == 0 else None


def _result(ranks: list[Future]) -> Any:
    """Waits for all ranks. When one fails or dies, the others get an error from MPI; the cause is what is raised."""
    while all(future.status != "error" for future in ranks):
        pending = [future for future in ranks if not future.done()]
        if not pending:
            return ranks[0].result()
        wait(pending, return_when="FIRST_COMPLETED")
    with contextlib.suppress(TimeoutError):  # Dask has nowhere to run the rank of a worker that has died
        wait(ranks, timeout=PATIENCE)
    failures = [future.exception() for future in ranks if future.status == "error"]
    raise min(failures, key=lambda failure: isinstance(failure, mpi.Error))
