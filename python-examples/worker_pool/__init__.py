# SPDX-License-Identifier: BSD-3-Clause
"""A pool of worker processes that attach to each other for a task, compute with MPI, and detach.

pool.py is what an application uses, crew.py the processes, worker.py one of them, attach.py how workers come to have a
communicator.
"""
