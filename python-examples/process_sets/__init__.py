# SPDX-License-Identifier: BSD-3-Clause
"""A computation whose crew grows and shrinks while it runs: host.py chooses the processes, member.py computes."""
