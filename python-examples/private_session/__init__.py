# SPDX-License-Identifier: BSD-3-Clause
"""A library with an MPI session of its own (parallel_sum.py) in an application that knows nothing of it (app.py)."""
