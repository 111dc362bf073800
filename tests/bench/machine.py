# SPDX-License-Identifier: BSD-3-Clause
"""What the machine is like while a program runs: how far apart its cores are, and which other programs compute."""
import os
import subprocess

STATES = ('near', 'far')
# A cache line's way takes 0.035 to 0.07 us between cores that share a cache, and 0.15 to 0.3 between others. Longer than
# a microsecond: the two processes did not run at the same time.
NEAR_US, BUSY_US = 0.11, 1

# Programs that run beside the measured one: how many, and for how many microseconds they compute and sleep in turn.
STRANGERS = {'1 loop': (1, 0, 0), '2 loops': (2, 0, 0), 'bursts': (2, 500, 500)}


class Distance:
    """How far apart the cores are. The host of a virtual machine changes that every few seconds or minutes."""

    def __init__(self, program):
        self.program = program

    def state(self):
        """'near' or 'far'; 'busy' if other programs have the cores; without a program to measure it, 'near'."""
        if not self.program:
            return 'near'
        said = subprocess.run([self.program, 'line'], stdout=subprocess.PIPE, text=True, check=True).stdout
        line = float(said.split('\t')[1])
        return 'near' if line < NEAR_US else 'far' if line < BUSY_US else 'busy'


def processors_of(state, root='/sys/devices/system/cpu'):
    """Two processors that share a last-level cache ('near') or do not ('far'). None where all or none of them do: there
    the programs run where they like."""
    allowed, groups = sorted(os.sched_getaffinity(0)), {}
    for cpu in allowed:
        try:
            with open(f'{root}/cpu{cpu}/cache/index3/shared_cpu_list', encoding='ascii') as file:
                groups.setdefault(file.read().strip(), []).append(cpu)
        except OSError:
            return None
    wide = [group for group in groups.values() if len(group) > 1]
    if len(groups) < 2 or not wide:
        return None
    return wide[0][:2] if state == 'near' else [group[0] for group in groups.values()][:2]


class Strangers:
    """Programs that compute beside the measured one, for the time of a `with` statement."""

    def __init__(self, program, kind):
        count, on, off = STRANGERS.get(kind, (0, 0, 0))
        self.commands = [[program, str(on), str(off)]] * count
        self.processes = []

    def __enter__(self):
        self.processes = [subprocess.Popen(command) for command in self.commands]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
