# SPDX-License-Identifier: BSD-3-Clause
"""What the two runners of the programs in this folder share: compiling them, running one, and what it must have said.

A survivor says "good", a process that dies says "dies" before; `ranks:` at the head of a program names the numbers of
ranks that suit it.
"""
import os
import re
import subprocess

from tools import PATIENCE, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
LOCAL, HYDRA, GROUP = ['--with-ft', 'ulfm'], ['-disable-auto-cleanup'], ['--keep-going']


def shared_memory():
    names = os.listdir('/dev/shm') if os.path.isdir('/dev/shm') else []
    return {name for name in names if name.startswith('plenum-')}


def variables(transport):
    """Those that choose it: "ucx over tcp"."""
    return {'PLENUM_TRANSPORT': transport.split()[0], **({'PLENUM_UCX_TLS': 'tcp'} if transport.endswith('tcp') else {})}


class Runs:
    def __init__(self, launcher):
        self.t = launcher
        self.at_first = shared_memory()
        self.names = 0

    def program(self, name):
        """The program and the numbers of ranks that suit it. "fortran F08": in Fortran, compiled with -DF08."""
        program, words = os.path.join(self.t.work, name.replace(' ', '-')), name.split()
        source = os.path.join(HERE, words[0] + ('.F90' if words[1:] else '.c'))
        command = ['mpifort', '-J' + self.t.work, '-D' + words[1]] if words[1:] else \
            ['mpicc', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-D_GNU_SOURCE', '-pthread']
        if not os.path.exists(program):
            subprocess.run([os.path.join(self.t.build, 'bin', command[0]), *command[1:], '-g', '-O1', source, '-o',
                            program, *os.environ.get('CFLAGS', '').split()], check=True)
        with open(source, encoding='utf-8') as file:
            return program, [int(n) for n in re.search(r'ranks: ([\d ]+)', file.read()).group(1).split()]

    def run(self, name, *args, deaths=1, strangers=0, options=LOCAL, ranks=None, transports=('auto', 'ucx')):
        """Once for each number of ranks and transport; `deaths` may depend on the number of ranks. `strangers`: how many
        of those that die are spawned ones."""
        program, suited = self.program(name)
        for count in ranks or suited:
            die = deaths(count) if callable(deaths) else deaths
            for transport in transports:
                env = dict(self.t.env, **variables(transport))
                code, out, err = self.t.run(*options, '--timeout', PATIENCE, '-n', count, program, *args, env=env)
                said = out.split('\n')
                good = (code, said.count('good'), said.count('dies')) == (137 if die else 0, count - die + strangers, die)
                self.t.expect(good, 'PLENUM_TRANSPORT=%s mpiexec %s -n %d %s %s' % (
                    transport, ' '.join(options), count, name, ' '.join(map(str, args))), code, out, err)

    def meet(self, name, stays, ends, others, transports=('auto', 'ucx', 'ucx over tcp')):
        """Two jobs, the second one of `others` processes, which all end as `ends` says: "dies" or "leaves"."""
        program, suited = self.program(name)
        for count in suited:
            for transport in transports:
                env = dict(self.t.env, **variables(transport))
                self.names += 1
                words = ['%s/%d' % (self.t.mark, self.names)]
                first, second = [
                    self.t.start(*LOCAL, '--timeout', PATIENCE, '-n', n, program, *words, part, env=env, text=True)
                    for n, part in ((count, stays), (others, ends))]
                said = [(*each.communicate(timeout=2 * PATIENCE), each.returncode) for each in (second, first)]
                dies = ends == 'dies'
                good = (said[0][2], said[0][0].count('dies' if dies else 'good'), said[1][2], said[1][0].count('good'))
                self.t.expect(good == (137 if dies else 0, others, 0, count), 'PLENUM_TRANSPORT=%s %s %s, %d and %d' % (
                    transport, stays, ends, count, others), *said[0], *said[1])

    def finish(self):
        new = shared_memory() - self.at_first
        wait_until(lambda: not new & shared_memory()) # other tests may run meanwhile
        self.t.expect(not new & shared_memory(), 'nothing is left in /dev/shm', new & shared_memory())
        self.t.finish()
