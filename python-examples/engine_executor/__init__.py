# SPDX-License-Identifier: BSD-3-Clause
"""An executor for an engine such as Parsl."""
