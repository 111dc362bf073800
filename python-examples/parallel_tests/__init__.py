# SPDX-License-Identifier: BSD-3-Clause
"""A plug-in for pytest: tests that are marked as parallel run as jobs."""
