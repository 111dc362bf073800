# SPDX-License-Identifier: BSD-3-Clause
"""Plenum through mpi4py, and mpi4py's programs started by libplenum."""
