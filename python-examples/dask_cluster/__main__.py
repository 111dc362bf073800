# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of Dask, a task of all workers together, and tasks of Dask again: python3 -m dask_cluster [WORKERS]"""
import argparse
import logging
import sys
import tempfile

try:
    from distributed import Client, LocalCluster
except ImportError as missing:
    sys.exit(f"dask_cluster: {missing}; install python3-distributed, or pip install distributed")

from plenum import mpi

from .tasks import broken, crash, heat, measure
from .together import together


def main(workers: int) -> None:
    with (tempfile.TemporaryDirectory(prefix="dask-cluster-") as scratch,
          LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                       local_directory=scratch, silence_logs=logging.CRITICAL) as cluster, Client(cluster) as client):
        for count in range(1, workers + 1):
            area = sum(client.gather(client.map(measure, range(10), pure=False)))
            warmth = together(client, heat, 60, 40, workers=count)
            print(f"10 tasks: {area:.6f}, heat on {count} of {workers} workers: {warmth:.9f}")
        for mistake in (broken, crash):
            try:
                together(client, mistake, workers - 1)
            except (ValueError, mpi.Error) as error:
                print(f"the cluster goes on: {error}")
        client.wait_for_workers(workers)
        print(f"10 tasks: {sum(client.gather(client.map(measure, range(10), pure=False))):.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="dask_cluster", description="Workers of Dask that form an MPI for a task.")
    parser.add_argument("workers", nargs="?", type=int, default=3)
    main(parser.parse_args().workers)
