#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the same small programs with every MPI found on this machine, and prints the medians side by side.

The MPIs take turns in every round, so that whatever else the machine does falls on all of them alike. The numbers are
medians over the rounds; behind each of the others' stands the ratio of the speeds: 2.00 means that Plenum is twice as
fast. Nothing fails for being slow: only figures that Plenum owes make the exit code 1.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ('pair', 'collective', 'start', 'session')
# Program, ranks.
RUNS = (('pair', 2), ('collective', 2), ('collective', 8), ('session', 2), ('session', 8),
        ('start', 1), ('start', 8), ('start', 32))
FASTER_WHEN_LESS = ('us', 'ms')


class Mpi:
    """One MPI: a compiler, a launcher, and where its programs are."""

    def __init__(self, name, compiler, launcher, work):
        self.name, self.compiler, self.launcher = name, compiler, launcher
        self.directory = os.path.join(work, name.replace(' ', '-').lower())
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
        self.broken = set()

    def program(self, name):
        return os.path.join(self.directory, name)

    def build(self):
        os.makedirs(self.directory, exist_ok=True)
        for name in PROGRAMS:
            source = os.path.join(HERE, name + '.c')
            subprocess.run([self.compiler, '-O2', '-std=gnu11', source, '-o', self.program(name)], check=True,
                           stderr=subprocess.DEVNULL)

    def run(self, name, ranks, seconds):
        """Returns a dictionary {what: (value, unit)}; what a program said before it failed counts."""
        command = self.launcher + ['-n', str(ranks), self.program(name)]
        start = time.monotonic()
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=seconds, env=self.environment)
            output, good = done.stdout, done.returncode == 0
        except subprocess.TimeoutExpired as late:
            output, good = (late.stdout or b'').decode(), False
        took = time.monotonic() - start
        if not good:
            self.broken.add(f'{name} on {ranks}')
        if name == 'start':
            return {'start to finish': (1e3 * took, 'ms')} if good else {}
        fields = [line.split('\t') for line in output.splitlines()]
        return {f[0]: (float(f[1]), f[2]) for f in fields if len(f) == 3}


def find_mpis(args):
    found = []
    if os.path.exists(os.path.join(args.plenum, 'mpicc')):
        compiler, launcher = (os.path.join(args.plenum, name) for name in ('mpicc', 'mpiexec'))
        found.append(Mpi('Plenum', compiler, [launcher], args.work))
    if args.ucx and found:
        ucx = Mpi('Plenum UCX', found[0].compiler, found[0].launcher, args.work)
        ucx.environment['PLENUM_TRANSPORT'] = 'ucx'
        found.append(ucx)
    for name, suffix, launcher in (('MPICH', 'mpich', ['mpiexec.mpich']),
                                   ('Open MPI', 'openmpi', ['mpirun.openmpi', '--oversubscribe'])):
        if shutil.which('mpicc.' + suffix) and shutil.which(launcher[0]):
            found.append(Mpi(name, 'mpicc.' + suffix, launcher, args.work))
    for text in args.mpi:
        name, compiler, launcher = text.split('=', 1)[0], *text.split('=', 1)[1].split(',', 1)
        found.append(Mpi(name, compiler, launcher.split(), args.work))
    return found


def tell(text):
    """Shows what is going on, in place, to somebody who looks on."""
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)


def measure(mpis, args):
    """Returns {(what, ranks): {'unit': unit, name of MPI: [values]}}, in the order of the programs."""
    figures = {}
    runs = [(name, ranks) for name, ranks in RUNS if args.only in f'{name} {ranks}']
    for turn in range(args.rounds):
        for name, ranks in runs:
            for mpi in mpis:
                tell(f'round {turn + 1} of {args.rounds}: {name} on {ranks}, {mpi.name}')
                for what, (value, unit) in mpi.run(name, ranks, args.seconds).items():
                    figure = figures.setdefault((what, ranks), {'unit': unit})
                    figure.setdefault(mpi.name, []).append(value)
    tell('')
    return figures


def short(value):
    return f'{value:.3g}' if value < 100 else f'{value:.0f}'


def ratio(unit, own, other):
    """Own speed over the other's."""
    if not own or not other:
        return ''
    quotient = other / own if unit in FASTER_WHEN_LESS else own / other
    return f'{quotient:.2f}' if quotient < 1000 else f'{quotient:.0f}'


def print_table(figures, mpis):
    names = [mpi.name for mpi in mpis]
    first = names[0]
    print(f'{"":34}{"ranks":>5} {"":5}{first:>10}' + ''.join(f'{name:>12}{"ratio":>8}' for name in names[1:]))
    for (what, ranks), figure in figures.items():
        own = statistics.median(figure[first]) if first in figure else None
        line = f'{what:34}{ranks:5} {figure["unit"]:5}{"-" if own is None else short(own):>10}'
        for name in names[1:]:
            if name not in figure:
                line += f'{"-":>12}{"":8}'
                continue
            value = statistics.median(figure[name])
            line += f'{short(value):>12}{ratio(figure["unit"], own, value):>8}'
        print(line)
    for mpi in mpis:
        if mpi.broken:
            print(f'{mpi.name} did not finish: {", ".join(sorted(mpi.broken))}')


def write_json(path, figures, mpis):
    rows = [{'what': what, 'ranks': ranks, 'unit': figure['unit'],
             'values': {mpi.name: figure[mpi.name] for mpi in mpis if mpi.name in figure}}
            for (what, ranks), figure in figures.items()]
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'cores': os.cpu_count(), 'figures': rows}, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--plenum', default='build/bin', help='where Plenum\'s mpicc and mpiexec are')
    parser.add_argument('--work', default='build/bench', help='where the programs are put')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=120, help='the longest that one run may take')
    parser.add_argument('--only', default='', help='just the runs, such as "pair 2", that contain this')
    parser.add_argument('--ucx', action='store_true', help='Plenum over UCX as well')
    parser.add_argument('--mpi', action='append', default=[], metavar='NAME=COMPILER,LAUNCHER', help='one more MPI')
    parser.add_argument('--json', metavar='FILE', help='write all values')
    args = parser.parse_args()

    mpis = find_mpis(args)
    if not mpis:
        print('no MPI found', file=sys.stderr)
        return 1
    for mpi in mpis:
        mpi.build()
    figures = measure(mpis, args)
    print(f'Medians of {args.rounds} rounds on {os.cpu_count()} cores. '
          f'Ratio: the speed of {mpis[0].name} over that of the other; above 1 it is faster.\n')
    print_table(figures, mpis)
    if args.json:
        write_json(args.json, figures, mpis)
    return 1 if mpis[0].broken else 0


if __name__ == '__main__':
    sys.exit(main())
