# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the examples share, and the programs that they run under mpiexec."""
