#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of the bench over two to eight emulated hosts (tests/hosts/lab) with every MPI found on this machine.

It prints the medians beside the aims: no figure worse than the better peer's, and 0.7 of it in the mean. The MPIs take
turns in every round, as in run.py. With one rank a host, bare sockets (sockets/mpi.h) have turns too: they are the limit.

The network is a bridge of this machine, and all hosts share its cores: what counts is the ratio. With --rate each host
has a link of that speed. MPICH spins, so it is left out where there are more ranks than cores. The exit code is 1 only
when a program of Plenum's does not come to its end.
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile

import aims
import run

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORK = '10.77.0.0/24'
HOSTS = [f'host{letter}' for letter in 'abcdefgh']

Run = collections.namedtuple('Run', 'program hosts each rounds quick')
RUNS = (
    Run('pair', 2, 1, 5, 2), Run('collective', 2, 1, 5, 2), Run('collective', 2, 2, 5, 2), Run('collective', 2, 4, 5, 2),
    Run('collective', 4, 1, 5, 2), Run('collective', 4, 2, 5, 2), Run('collective', 8, 1, 5, 2),
    Run('collective', 8, 2, 3, 1),
)


def launcher(name, lab, hosts, each):
    """The words of the launcher before the program."""
    ranks, spread = hosts * each, ','.join(f'{host}:{each}' for host in HOSTS[:hosts])
    reach = os.path.join(lab, 'on')
    if name in ('Plenum', run.LIMITS):
        return ['--launcher', 'ssh', '--launcher-exec', f'{reach} %h', '--host', spread, '-n', str(ranks)]
    if name == 'MPICH':
        return ['-launcher', 'rsh', '-launcher-exec', reach, '-iface', 'bridge0', '-genv', 'UCX_NET_DEVICES', 'eth0',
                '-hosts', spread, '-n', str(ranks)]
    words = ['--bind-to', 'none', '--mca', 'plm_rsh_agent', reach, '--host', spread, '-n', str(ranks)]
    for parameter in ('oob_tcp_if_include', 'btl_tcp_if_include'):
        words += ['--mca', parameter, NETWORK]
    return words + ['--mca', 'pml', 'ob1', '--mca', 'mpi_yield_when_idle', str(int(ranks > os.cpu_count()))]


class Bench:
    def __init__(self, mpis, limits, lab, args):
        self.mpis, self.limits, self.lab, self.args = mpis, limits, lab, args
        self.figures, self.broken = {}, {}

    def turn(self, mpi, its):
        """One run of one MPI: its figures are kept, and how it ended if not well."""
        command = mpi.launcher + launcher(mpi.name, self.lab, its.hosts, its.each) + [mpi.program(its.program)]
        command += ['quick' if self.args.quick else 'full', 'all']
        output, code = run.finish(command, self.args.seconds, mpi.environment)
        if code != 0:
            how = f'cut off after {self.args.seconds:g} s' if code is None else f'ended with {code}'
            self.broken[mpi.name, f'{its.program} on {its.hosts} x {its.each}'] = how
        fields = [line.split('\t') for line in output.splitlines()]
        run.keep(self.figures, mpi.name, f'{its.hosts} x {its.each}',
                 {f[0]: (float(f[1]), f[2]) for f in fields if len(f) == 3})

    def measure(self):
        for its in RUNS:
            if self.args.only not in f'{its.program} {its.hosts} x {its.each}':
                continue
            asked = [mpi for mpi in self.mpis if mpi.name != 'MPICH' or its.hosts * its.each <= os.cpu_count()]
            asked += [self.limits] if its.each == 1 else []
            turns = self.args.rounds or (its.quick if self.args.quick else its.rounds)
            for turn in range(turns):
                run.tell(f'{its.program} on {its.hosts} x {its.each}, round {turn + 1} of {turns}')
                for mpi in asked if turn % 2 == 0 else asked[::-1]:
                    self.turn(mpi, its)
        run.tell('')


def matrix(figures, names):
    """A row for each figure; for each number of hosts and ranks the figure, its ratio to that of the better peer, and with
    one rank a host that of the limit."""
    shapes = list(dict.fromkeys(shape for _, shape in figures))
    rows = [[''] + shapes, ['---'] + ['---:'] * len(shapes)]
    for what in dict.fromkeys(what for what, _ in figures):
        row = [what]
        for shape in shapes:
            figure = figures.get((what, shape), {})
            name = aims.better(figure, names[1:]) if figure.get(names[0]) else None
            if not name:
                row.append('')
                continue
            ratios = [aims.short(aims.median_ratio(figure[who], figure[name])) for who in (names[0], run.LIMITS) if who in figure]
            row.append(f'{aims.short(statistics.median(figure[names[0]]))} {figure["unit"]}, {", ".join(ratios)}')
        rows.append(row)
    return '\n'.join('| ' + ' | '.join(row) + ' |' for row in rows)


def report(figures, names):
    lines = [line for line in aims.lines_of(figures, 'hosts', names[0], names[1:]) if line.other != 'limit']
    shapes = dict.fromkeys(shape for _, shape in figures)
    lines += aims.means_of(figures, names[0], names[1:], [aims.Mean('all', r'.*', shape, 0.7) for shape in shapes])
    print(f'{aims.table(lines)}\n\n{aims.summary(lines)}\n\n{matrix(figures, names)}')


def main():
    parser = run.parser_of(__doc__)
    parser.add_argument('--rate', help='the speed of the links, as 10gbit; unlimited otherwise')
    parser.add_argument('--lab', metavar='DIRECTORY', help=argparse.SUPPRESS)
    args = parser.parse_args()

    if args.kept:
        with open(args.kept, encoding='utf-8') as file:
            kept = json.load(file)
        report({(row.pop('what'), row.pop('hosts')): row for row in kept['figures']}, kept['names'])
        return 0
    mpis = run.find_mpis(args)
    if not mpis or mpis[0].name != 'Plenum':
        print(f'network.py: no mpicc in {args.plenum}; build Plenum first, or say where it is', file=sys.stderr)
        return 1
    limits = run.Mpi(run.LIMITS, 'cc', mpis[0].launcher, args.work, ['-I' + os.path.join(HERE, 'sockets')])
    if not args.lab:
        for mpi in mpis + [limits]:
            mpi.build(sorted({its.program for its in RUNS}))
        with tempfile.TemporaryDirectory(dir=os.path.abspath(args.work)) as lab:
            command = [os.path.join(HERE, '../hosts/lab'), lab, sys.executable, '-B', os.path.abspath(__file__)] + sys.argv[1:]
            for option in ('plenum', 'work', 'json'):  # the lab has a directory of its own
                if getattr(args, option):
                    command += [f'--{option}', os.path.abspath(getattr(args, option))]
            lab_environment = dict(os.environ, LAB_HOSTS=' '.join(HOSTS), LAB_RATE=args.rate or '')
            return subprocess.run(command + ['--lab', lab], env=lab_environment, check=False).returncode
    bench = Bench(mpis, limits, args.lab, args)
    bench.measure()
    names = [mpi.name for mpi in mpis]
    if args.json:
        with open(args.json, 'w', encoding='utf-8') as file:
            json.dump({'names': names, 'figures': [{'what': what, 'hosts': hosts, **figure}
                                                   for (what, hosts), figure in bench.figures.items()]}, file, indent=1)
    report(bench.figures, names)
    for (name, what), how in sorted(bench.broken.items()):
        print(f'{name}: {what} {how}')
    return 1 if any(name == 'Plenum' for name, _ in bench.broken) else 0


if __name__ == '__main__':
    sys.exit(main())
