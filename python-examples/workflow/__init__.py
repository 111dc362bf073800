# SPDX-License-Identifier: BSD-3-Clause
"""A workflow engine: a graph of MPI tasks from a JSON file, run by libplenum inside one Python process.

graph.py reads the file, engine.py runs it, display.py shows it while it runs, timeline.py draws it afterwards.
"""
