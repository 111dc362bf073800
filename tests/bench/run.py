#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the same small programs with every MPI found on this machine, and prints the medians beside the aims.

The MPIs take turns in every round, so that other load on the machine affects all of them alike; so do the limits of the
machine (limits.c). The distance between a virtual machine's cores changes every few seconds or minutes. So before each
turn two processes pass a cache line back and forth, and the turn waits while that takes much longer than the best time.
Ratios and aims: aims.py. Nothing fails for being slow: the exit code is 1 only when a program of Plenum's does not come
to its end. One that does not come to its end with another MPI is cut off, and reported.
"""
import argparse
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import aims
import plots

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ('pair', 'collective', 'types', 'onesided', 'start', 'session', 'memory', 'threads')
LIMITS = 'limits'
BEGIN, END = '<!-- bench: begin -->', '<!-- bench: end -->'

# rounds: of a full run; quick: of a quick one; but: the MPIs that are left out.
Run = collections.namedtuple('Run', 'program ranks rounds quick but')
# MPICH spins where there are more ranks than cores, and needs a thousand times as long; the aim there is Open MPI's.
SPINS = ('MPICH',)
RUNS = (
    Run('pair', 2, 5, 2, ()), Run('types', 2, 5, 2, ()), Run('onesided', 2, 5, 2, ()), Run('collective', 2, 5, 2, ()),
    Run('collective', 4, 3, 1, SPINS), Run('collective', 8, 3, 1, SPINS), Run('collective', 16, 3, 1, SPINS),
    Run('session', 1, 5, 2, ()), Run('session', 2, 5, 2, ()), Run('session', 4, 5, 2, ()), Run('session', 8, 5, 2, ()),
    Run('start', 1, 9, 3, ()), Run('start', 8, 5, 2, ()), Run('start', 32, 3, 1, ()), Run('start', 64, 3, 1, ()),
    Run('memory', 1, 1, 1, ()), Run('memory', 64, 1, 1, ()), Run('threads', 1, 3, 1, ()), Run('threads', 2, 3, 1, ()),
)


class Mpi:
    """One MPI: a compiler, a launcher, and where its programs are. The limits are one too, without a launcher."""

    def __init__(self, name, compiler, launcher, work):
        self.name, self.compiler, self.launcher = name, compiler, launcher
        self.directory = os.path.join(work, name.replace(' ', '-').lower())
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
        self.broken = {}

    def program(self, name):
        return os.path.join(self.directory, name)

    def build(self, programs):
        os.makedirs(self.directory, exist_ok=True)
        for name in programs:
            source = os.path.join(HERE, name + '.c')
            subprocess.run([self.compiler, '-O2', '-std=gnu11', '-D_GNU_SOURCE', '-pthread', source, '-o', self.program(name)],
                           check=True, stderr=subprocess.DEVNULL)

    def run(self, name, ranks, args):
        """Returns {what: (value, unit)}; the output of a program before it failed counts."""
        if 'cut off' in self.broken.get((name, ranks), ''):
            return {}
        command = (self.launcher + ['-n', str(ranks)] if self.launcher else []) + [self.program(name)]
        start = time.monotonic()
        output, code = finish(command + (['quick'] if args.quick else []), args.seconds, self.environment)
        took = time.monotonic() - start
        if code != 0:
            self.broken[name, ranks] = f'cut off after {args.seconds:g} s' if code is None else f'ended with {code}'
        if name == 'start':
            return {'start to finish': (1e3 * took, 'ms')} if code == 0 else {}
        fields = [line.split('\t') for line in output.splitlines()]
        return {f[0]: (float(f[1]), f[2]) for f in fields if len(f) == 3}


def finish(command, seconds, environment):
    """Runs a command to its end: (output, exit code), None for the code if it was killed with its children."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, env=environment, start_new_session=True)
    try:
        return process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                return process.communicate(timeout=10)[0], None
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        return '', None


def find_mpis(args):
    found = []
    if os.path.exists(os.path.join(args.plenum, 'mpicc')):
        compiler, launcher = (os.path.join(args.plenum, name) for name in ('mpicc', 'mpiexec'))
        found.append(Mpi('Plenum', compiler, [launcher], args.work))
    for name, suffix, launcher in (('MPICH', 'mpich', ['mpiexec.mpich']),
                                   ('Open MPI', 'openmpi', ['mpirun.openmpi', '--oversubscribe'])):
        if shutil.which('mpicc.' + suffix) and shutil.which(launcher[0]):
            found.append(Mpi(name, 'mpicc.' + suffix, launcher, args.work))
    for text in args.mpi:
        name, compiler, launcher = text.split('=', 1)[0], *text.split('=', 1)[1].split(',', 1)
        found.append(Mpi(name, compiler, launcher.split(), args.work))
    return found


def tell(text):
    """Shows the progress on a terminal, in place."""
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)


def keep(figures, name, ranks, values):
    for what, (value, unit) in values.items():
        figures.setdefault((what, ranks), {'unit': unit}).setdefault(name, []).append(value)


class Weather:
    """Whether the cores are as close to each other as in the best case so far."""
    WORSE, PAUSE, PATIENCE = 1.5, 0.2, 60

    def __init__(self, limits):
        self.program = limits and limits.program(LIMITS)
        self.best, self.turns, self.bad, self.waited = float('inf'), 0, 0, 0

    def line(self):
        said = subprocess.run([self.program, 'line'], stdout=subprocess.PIPE, text=True, check=True).stdout
        return float(said.split('\t')[1])

    def wait(self):
        """Waits until the cores are close, but at most a minute in total."""
        if not self.program:
            return
        self.turns += 1
        start, line = time.monotonic(), self.line()
        self.best = min(self.best, line)
        while line > self.WORSE * self.best and self.waited + time.monotonic() - start < self.PATIENCE:
            time.sleep(self.PAUSE)
            line = self.line()
        self.waited += time.monotonic() - start
        self.bad += line > self.WORSE * self.best


def measure(mpis, limits, args):
    """Returns {(what, ranks): {'unit': unit, name of MPI: [values]}}, in the order of the programs."""
    figures, weather = {}, Weather(limits)
    for run in RUNS:
        if args.only not in f'{run.program} {run.ranks}':
            continue
        turns = args.rounds or (run.quick if args.quick else run.rounds)
        asked = [mpi for mpi in mpis if mpi.name not in run.but]
        for turn in range(turns):
            for mpi in asked if turn % 2 == 0 else reversed(asked):
                tell(f'{run.program} on {run.ranks}, round {turn + 1} of {turns}: {mpi.name}')
                weather.wait()
                keep(figures, mpi.name, run.ranks, mpi.run(run.program, run.ranks, args))
            if limits and run.program == 'pair':
                keep(figures, LIMITS, 1, limits.run(LIMITS, 1, args))
    tell('')
    if weather.bad:
        print(f'The cores stayed far apart in {weather.bad} of {weather.turns} turns.')
    return figures


def write_json(path, figures, names):
    rows = [{'what': what, 'ranks': ranks, **figure} for (what, ranks), figure in figures.items()]
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'cores': os.cpu_count(), 'names': names, 'figures': rows}, file, indent=1)


def read_json(path):
    with open(path, encoding='utf-8') as file:
        kept = json.load(file)
    figures = {(row.pop('what'), row.pop('ranks')): row for row in kept['figures']}
    return figures, kept['names']


def write_document(path, text):
    """Puts the text between the two marks."""
    with open(path, encoding='utf-8') as file:
        old = file.read()
    before, rest = old.split(BEGIN)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f'{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}')


def report(figures, names, args):
    lines = aims.lines_of(figures, names[0], names[1:])
    head = (f'{os.cpu_count()} cores. Ratio: {names[0]} over the other, the median of the rounds; "beside" is the better of '
            f'{" and ".join(names[1:])} where the aim names no other.')
    print(f'{head}\n\n{aims.table(lines)}\n\n{aims.summary(lines)}')
    if args.svg:
        plots.write_all(args.svg, figures, names)
    if args.document:
        where = os.path.relpath(args.svg, os.path.dirname(args.document)) if args.svg else ''
        images = [f'![{name}]({where}/{name}.svg)' for name in plots.NAMES] if args.svg else []
        write_document(args.document, '\n\n'.join(images + [head, aims.table(lines, markdown=True), f'{aims.summary(lines)}.']))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--plenum', default='build/bin', help='where Plenum\'s mpicc and mpiexec are')
    parser.add_argument('--work', default='build/bench', help='where the programs are put')
    parser.add_argument('--quick', action='store_true', help='fewer rounds, shorter ones')
    parser.add_argument('--rounds', type=int, default=0, help='so many of each run')
    parser.add_argument('--seconds', type=float, default=60, help='the longest that one run may take')
    parser.add_argument('--only', default='', help='just the runs, such as "pair 2", that contain this')
    parser.add_argument('--mpi', action='append', default=[], metavar='NAME=COMPILER,LAUNCHER', help='one more MPI')
    parser.add_argument('--json', metavar='FILE', help='write all values')
    parser.add_argument('--from', dest='kept', metavar='FILE', help='measure nothing: the values that --json wrote')
    parser.add_argument('--svg', metavar='DIRECTORY', help='draw latency and bandwidth against size')
    parser.add_argument('--document', metavar='FILE', help='put the table between the marks in this Markdown file')
    args = parser.parse_args()

    if args.kept:
        figures, names = read_json(args.kept)
        report(figures, names, args)
        return 0
    mpis = find_mpis(args)
    if not mpis or mpis[0].name != 'Plenum':
        print(f'run.py: no mpicc in {args.plenum}; build Plenum first, or say where it is with --plenum', file=sys.stderr)
        return 1
    for mpi in mpis:
        mpi.build(PROGRAMS)
    limits = Mpi(LIMITS, 'cc', [], args.work) if (os.cpu_count() or 1) > 1 else None
    if limits:
        limits.build([LIMITS])
    figures, names = measure(mpis, limits, args), [mpi.name for mpi in mpis]
    if args.json:
        write_json(args.json, figures, names)
    report(figures, names, args)
    for mpi in mpis + [limits] * bool(limits):
        for (program, ranks), how in sorted(mpi.broken.items()):
            print(f'{mpi.name}: {program} on {ranks} {how}')
    return 1 if mpis[0].broken else 0


if __name__ == '__main__':
    sys.exit(main())
