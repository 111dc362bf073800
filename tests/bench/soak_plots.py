#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plots of what `make bench-hosts SOAK=JOBS` prints: memory and descriptors of the runtime and of its agents.

    tests/bench/soak_plots.py DIRECTORY < OUTPUT
"""
import re
import sys

import plots

LINE = re.compile(r'(\d+) jobs, \d+ s: (\d+) descriptors, (\d+) KiB; agents: (.*)')
AGENT = re.compile(r'(\d+) descriptors, (\d+) KiB')
PARTS = (('descriptors', '', 1), ('memory', 'KiB', 2))


def main():
    samples = [match.groups() for match in map(LINE.match, sys.stdin) if match]
    agents = [[tuple(map(int, pair)) for pair in AGENT.findall(sample[3])] for sample in samples]
    jobs = [int(sample[0]) for sample in samples]
    for what, unit, column in PARTS:
        runtime = [int(sample[column]) for sample in samples]
        most = [(at, max(agent[column - 1] for agent in of_all)) for at, of_all in zip(jobs, agents) if of_all]
        curves = [('runtime', list(zip(jobs, runtime)), False), ('largest agent', most, False)]
        plots.draw(sys.argv[1], f'soak-{what}', f'{what.capitalize()} against jobs of one runtime on four hosts', unit,
                   curves, plots.CountAxes)


if __name__ == '__main__':
    main()
