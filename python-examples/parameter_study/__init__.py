# SPDX-License-Identifier: BSD-3-Clause
"""A parameter study: one program with many values, and a live view of its jobs."""
