# SPDX-License-Identifier: BSD-3-Clause
"""What the attacks in Python share.

An attack does harm to Plenum again and again, each round in another way, and checks what must hold all the same. It is
a script without a suffix, or a C program that sees the library's inside as unit tests do (hard.h). It is called so:

    tests/hard/NAME BUILD-DIRECTORY ROUNDS SEED

All that it does at random follows from the seed, the number of the round included: what fails is repeated with the
same arguments, as far as the scheduler agrees. Exit code 0 is a pass, 77 a skip, the last line of output says what was
done. A line at its head says how many rounds are a sample for `make check` and how many the long form, and another how
long the sample may take:

    # rounds: 20 2000
    # seconds: 300

`make check-hard` runs the long form of all; ONLY=NAME of one; HARD=ROUNDS SEED=N repeats a run. `make check-hard-sample`
is the part of `make check`. The programs that attacks start lie in folders of tests/hard/; mpicc()
compiles them.
"""
import fcntl
import glob
import os
import random
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'faults', 'launcher'))
from tools import TOP, Launcher  # noqa: E402,F401


def is_held(path):
    """Does it exist, and does a process hold it?"""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(fd)


def abandoned():
    """Directories for files of UCX that no process holds, nor a moment later: a process makes one before it holds it."""
    for wait in (0, 1):
        time.sleep(wait)
        found = [path for path in glob.glob('/dev/shm/plenum-ucx-*') if not is_held(path) and os.path.exists(path)]
        if not found:
            break
    return found


class Attack(Launcher):
    """One attack: what a test of the launcher has, and its rounds. `chance` draws its random numbers."""

    def __init__(self):
        super().__init__('ROUNDS', 'SEED')
        self.rounds = int(sys.argv[2])
        self.seed = int(sys.argv[3])
        self.chance = random.Random(self.seed)

    def each_round(self):
        """Counts the rounds. Each begins with a state of chance of its own, so that one is repeated without the others."""
        for number in range(self.rounds):
            self.chance.seed(self.seed * 1000003 + number)
            yield number

    def mpicc(self, source, *flags):
        """Compiles tests/hard/SOURCE with the build's mpicc; returns the program."""
        program = os.path.join(self.work, os.path.splitext(os.path.basename(source))[0])
        subprocess.run([os.path.join(self.build, 'bin', 'mpicc'), '-std=gnu11', '-Wall', '-Wextra', '-D_GNU_SOURCE', '-g',
                        '-O1', '-o', program, os.path.join(HERE, source), *flags, '-pthread'], check=True)
        return program
