# SPDX-License-Identifier: BSD-3-Clause
"""A task that waits in MPI for a message that never comes, and does not mind SIGTERM."""
import signal

from plenum import mpi

signal.signal(signal.SIGTERM, signal.SIG_IGN)
with mpi.Session() as session, session.comm("mpi://WORLD", "sleeper") as comm:
    comm.recv(bytearray(1))
