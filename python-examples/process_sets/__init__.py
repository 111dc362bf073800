# SPDX-License-Identifier: BSD-3-Clause
"""A computation whose crew grows and shrinks while it runs: host.py says who takes part, member.py computes."""
