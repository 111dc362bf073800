# SPDX-License-Identifier: BSD-3-Clause
"""Workers of a Dask cluster that form an MPI for one task."""
