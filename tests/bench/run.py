#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the same small programs with every MPI found on this machine, and prints the medians beside the aims.

The MPIs take turns in every round, so that other load on the machine affects all of them alike; so do the limits of the
machine (limits.c, limits_ranks.c). Cores that share a cache and cores that do not are different machines, and have a table each. Where
the topology tells them apart, the programs of two ranks are bound to the one kind and to the other. In a virtual machine
the distance changes every few seconds or minutes: it is measured before and after each turn, and a round counts for the
state that all of its turns ran in. Ratios and aims: aims.py. Nothing fails for being slow: the exit code is 1 only when a program of Plenum's does not come
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
import machine
import plots

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ('pair', 'collective', 'types', 'onesided', 'start', 'session', 'memory', 'threads', 'beside')
LIMITS, LIMITS_RANKS, STRANGER = 'limits', 'limits_ranks', 'stranger'
BEGIN, END = '<!-- bench: begin -->', '<!-- bench: end -->'

# rounds: of a full run; quick: of a quick one; but: the MPIs that are left out; beside: machine.STRANGERS or none.
Run = collections.namedtuple('Run', 'program ranks rounds quick but beside', defaults=('',))
# MPICH spins where there are more ranks than cores, and needs a thousand times as long; the aim there is Open MPI's.
SPINS = ('MPICH',)
RUNS = (
    Run('pair', 2, 5, 2, ()), Run('types', 2, 5, 2, ()), Run('onesided', 2, 5, 2, ()), Run('collective', 2, 5, 2, ()),
    Run('collective', 4, 3, 1, SPINS), Run('collective', 8, 3, 1, SPINS), Run('collective', 16, 3, 1, SPINS),
    Run('session', 1, 5, 2, ()), Run('session', 2, 5, 2, ()), Run('session', 4, 5, 2, ()), Run('session', 8, 5, 2, ()),
    Run('start', 1, 9, 3, ()), Run('start', 8, 5, 2, ()), Run('start', 32, 3, 1, ()), Run('start', 64, 3, 1, ()),
    Run('memory', 1, 1, 1, ()), Run('memory', 64, 1, 1, ()), Run('threads', 1, 3, 1, ()), Run('threads', 2, 3, 1, ()),
) + tuple(Run('beside', ranks, 5, 2, SPINS if ranks > 2 else (), kind) for ranks in (2, 4, 8) for kind in ('', *machine.STRANGERS))


class Mpi:
    """One MPI: a compiler, a launcher, and where its programs are. The limits are one too, without a launcher."""

    def __init__(self, name, compiler, launcher, work, flags=()):
        self.name, self.compiler, self.launcher, self.flags = name, compiler, launcher, flags
        self.directory = os.path.join(work, name.replace(' ', '-').lower())
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
        self.broken = {}

    def program(self, name):
        return os.path.join(self.directory, name)

    def build(self, programs):
        os.makedirs(self.directory, exist_ok=True)
        for name in programs:
            source = os.path.join(HERE, name + '.c')
            subprocess.run([self.compiler, '-O2', '-std=gnu11', '-D_GNU_SOURCE', '-pthread', *self.flags, source, '-o',
                            self.program(name)], check=True, stderr=subprocess.DEVNULL)

    def run(self, run, processors, args):
        """Returns {what: (value, unit)}; the output of a program before it failed counts."""
        name, ranks = run.program, run.ranks
        if 'cut off' in self.broken.get((name, ranks), ''):
            return {}
        command = ['taskset', '-c', ','.join(map(str, processors))] if processors else []
        command += self.launcher + ['-n', str(ranks), self.program(name)] if self.launcher else [self.program(name), str(ranks)]
        start = time.monotonic()
        output, code = finish(command + (['quick'] if args.quick else []), args.seconds, self.environment)
        took = time.monotonic() - start
        if code != 0:
            self.broken[name, ranks] = f'cut off after {args.seconds:g} s' if code is None else f'ended with {code}'
        if name == 'start':
            return {'start to finish': (1e3 * took, 'ms')} if code == 0 else {}
        fields = [line.split('\t') for line in output.splitlines()]
        tail = f', beside {run.beside}' if run.beside else ', alone' if name == 'beside' else ''
        return {f[0] + tail: (float(f[1]), f[2]) for f in fields if len(f) == 3}


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


def limits_of(run):
    """What the machine can do without any MPI of what a run measures; None if nothing says that."""
    if run.program == 'pair':
        return run._replace(program=LIMITS, ranks=1)
    return run._replace(program=LIMITS_RANKS) if run.program == 'collective' and run.ranks > 2 else None


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


class Bench:
    """Measures the runs. `figures` is {state: {(what, ranks): {'unit': unit, name of MPI: [values]}}}."""

    def __init__(self, mpis, limits, args):
        self.mpis, self.limits, self.args = mpis, limits, args
        self.distance = machine.Distance(limits and limits.program(LIMITS))
        self.stranger = limits.program(STRANGER) if limits else ''
        self.figures = {state: {} for state in machine.STATES}
        self.rounds = collections.Counter()

    def round(self, run, order, processors):
        """Every MPI has a turn. Returns the state, None if there was not one all the time, and {name: {what: (value,
        unit)}}."""
        states, values = {self.distance.state()}, {}
        for mpi in order:
            with machine.Strangers(self.stranger, run.beside):
                its = limits_of(run) if mpi is self.limits else run
                values[mpi.name] = mpi.run(its, processors, self.args)
            states.add(self.distance.state())
        return states.pop() if len(states) == 1 and 'busy' not in states else None, values

    def run(self, run, state):
        """All rounds of a run; `state` None: as it comes."""
        turns = self.args.rounds or (run.quick if self.args.quick else run.rounds)
        asked = [mpi for mpi in self.mpis if mpi.name not in run.but]
        if self.limits and limits_of(run):
            asked.append(self.limits)
        good = 0
        for turn in range(2 * turns):
            tell(f'{run.program} on {run.ranks} {run.beside}, round {good + 1} of {turns}')
            seen, values = self.round(run, asked if turn % 2 == 0 else asked[::-1], state and machine.processors_of(state))
            seen = state or seen
            self.rounds[seen] += 1
            if seen:
                for name, found in values.items():
                    keep(self.figures[seen], name, (limits_of(run) if name == LIMITS else run).ranks, found)
            good += seen is not None
            if good == turns:
                break

    def measure(self):
        known = machine.processors_of('far') is not None
        for run in RUNS:
            if self.args.only in f'{run.program} {run.ranks}':
                for state in machine.STATES if known and run.ranks == 2 else (None,):
                    self.run(run, state)
        tell('')
        print(', '.join(f'{count} rounds with {state} cores' if state else f'{count} while the distance changed or others ran, not counted'
                        for state, count in self.rounds.items()))
        return self.figures


def write_json(path, figures, names):
    rows = [{'state': state, 'what': what, 'ranks': ranks, **figure} for state, its in figures.items()
            for (what, ranks), figure in its.items()]
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'cores': os.cpu_count(), 'names': names, 'figures': rows}, file, indent=1)


def read_json(path):
    with open(path, encoding='utf-8') as file:
        kept = json.load(file)
    figures = {state: {} for state in machine.STATES}
    for row in kept['figures']:
        figures[row.pop('state')][row.pop('what'), row.pop('ranks')] = row
    return figures, kept['names']


def write_document(path, text):
    """Puts the text between the two marks."""
    with open(path, encoding='utf-8') as file:
        old = file.read()
    before, rest = old.split(BEGIN)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f'{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}')


HEADINGS = {'near': 'Cores that share a cache', 'far': 'Cores that share none'}


def report(figures, names, args):
    head = (f'{os.cpu_count()} cores. Ratio: {names[0]} over the other, the median of the rounds; "beside" is the better of '
            f'{" and ".join(names[1:])} where the aim names no other.')
    parts, where = [head], os.path.relpath(args.svg, os.path.dirname(args.document)) if args.svg and args.document else ''
    print(head)
    for state, its in figures.items():
        if not its:
            continue
        lines = aims.lines_of(its, state, names[0], names[1:])
        print(f'\n{HEADINGS[state]}\n\n{aims.table(lines)}\n\n{aims.summary(lines)}')
        drawn = plots.write_all(args.svg, its, state, names) if args.svg else []
        parts += [f'### {HEADINGS[state]}'] + [f'![{name}]({where}/{name}.svg)' for name in drawn]
        parts += [aims.table(lines, markdown=True), f'{aims.summary(lines)}.']
    if args.document:
        write_document(args.document, '\n\n'.join(parts))


def parser_of(description):
    """The options of every bench that compares MPIs."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--plenum', default='build/bin', help='where Plenum\'s mpicc and mpiexec are')
    parser.add_argument('--work', default='build/bench', help='where the programs are put')
    parser.add_argument('--quick', action='store_true', help='fewer rounds, shorter ones')
    parser.add_argument('--rounds', type=int, default=0, help='so many of each run')
    parser.add_argument('--seconds', type=float, default=120, help='the longest that one run may take')
    parser.add_argument('--only', default='', help='just the runs, such as "pair 2", whose name contains this')
    parser.add_argument('--mpi', action='append', default=[], metavar='NAME=COMPILER,LAUNCHER', help='one more MPI')
    parser.add_argument('--json', metavar='FILE', help='write all values')
    parser.add_argument('--from', dest='kept', metavar='FILE', help='measure nothing: the values that --json wrote')
    return parser


def main():
    parser = parser_of(__doc__)
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
    limits = Mpi(LIMITS, 'cc', [], args.work) if len(os.sched_getaffinity(0)) > 1 else None
    if limits:
        limits.build([LIMITS, LIMITS_RANKS, STRANGER])
    figures, names = Bench(mpis, limits, args).measure(), [mpi.name for mpi in mpis]
    if args.json:
        write_json(args.json, figures, names)
    report(figures, names, args)
    for mpi in mpis + [limits] * bool(limits):
        for (program, ranks), how in sorted(mpi.broken.items()):
            print(f'{mpi.name}: {program} on {ranks} {how}')
    return 1 if mpis[0].broken else 0


if __name__ == '__main__':
    sys.exit(main())
