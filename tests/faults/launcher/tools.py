# SPDX-License-Identifier: BSD-3-Clause
"""What the launcher's tests share: running mpiexec, counting failures, and finding what was left behind.

Every process that a test starts inherits a mark in its environment, so leftover processes are found wherever they hide.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
MARK = 'PLENUM_TEST_MARK'
PATIENCE = 60  # seconds until something that must happen counts as missing; never a measure of speed


class Launcher:
    """One test script: its build, its directory for scratch files, its failures."""

    def __init__(self, *more):
        """`more` are the names of the arguments after the build directory."""
        if len(sys.argv) != 2 + len(more):
            sys.exit('usage: %s' % ' '.join([sys.argv[0], 'BUILD-DIRECTORY', *more]))
        for each in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # whatever the tests were started under
            signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
        self.build = os.path.abspath(sys.argv[1])
        self.mpiexec = os.path.join(self.build, 'bin', 'mpiexec')
        self.scratch = tempfile.TemporaryDirectory(prefix='launcher-test-')
        self.work = self.scratch.name
        self.tmp = os.path.join(self.work, 'tmp')
        os.mkdir(self.tmp)
        self.mark = uuid.uuid4().hex
        self.failed = 0
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(('PLENUM_', 'PMIX_'))}
        self.env.update({MARK: self.mark, 'TMPDIR': self.tmp})

    def compile(self, source, *flags):
        """Compiles tests/faults/launcher/SOURCE; returns the program."""
        program = os.path.join(self.work, os.path.splitext(source)[0])
        path = os.path.join(TOP, 'tests', 'faults', 'launcher', source)
        cc = os.environ.get('CC', 'cc').split()
        subprocess.run([*cc, '-std=gnu11', '-Wall', '-Wextra', '-D_GNU_SOURCE', '-g', '-O1', '-I', TOP, '-o', program,
                        path, *flags, '-pthread'], check=True)
        return program

    def start(self, *args, command=None, **options):
        options.setdefault('env', self.env)
        options.setdefault('stdin', subprocess.DEVNULL)
        options.setdefault('stdout', subprocess.PIPE)
        options.setdefault('stderr', subprocess.PIPE)
        return subprocess.Popen([*(command or [self.mpiexec]), *map(str, args)], **options)

    def run(self, *args, feed=None, command=None, **options):
        """Runs mpiexec to its end: (exit code, standard output, standard error)."""
        if feed is not None:
            options['stdin'] = subprocess.PIPE
        process = self.start(*args, command=command, text=True, errors='replace', **options)
        try:
            out, err = process.communicate(feed, timeout=2 * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return 'hangs', out, err
        return process.returncode, out, err

    def expect(self, good, what, *details):
        if good:
            return
        self.failed += 1
        print('FAILED: %s' % what)
        for detail in map(str, details): # what came last often says most
            print('    %s' % (detail if len(detail) <= 4000 else detail[:2000] + '\n    ...\n' + detail[-2000:]))
        sys.stdout.flush()

    def finish(self, words='ok'):
        """Checks for leftover processes; the exit code of the script. The words are said if all went well."""
        self.expect_nothing_left('at the end')
        self.scratch.cleanup()
        if not self.failed:
            print(words)
        sys.exit(1 if self.failed else 0)

    # --- leftover processes ---

    def alive(self):
        """The pids of living processes that carry the mark, but this one."""
        found = []
        want = ('%s=%s' % (MARK, self.mark)).encode()
        for name in os.listdir('/proc'):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open('/proc/%s/environ' % name, 'rb') as file:
                    if want in file.read():
                        found.append(int(name))
            except OSError:
                pass
        return found

    def expect_nothing_left(self, when):
        until = time.monotonic() + PATIENCE
        left = self.alive()
        while left and time.monotonic() < until:
            time.sleep(0.01)
            left = self.alive()
        self.expect(not left, 'processes are left %s' % when, *[describe(pid) for pid in left])
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        while os.listdir(self.tmp) and time.monotonic() < until:
            time.sleep(0.01)
        self.expect(not os.listdir(self.tmp), 'files are left %s' % when, os.listdir(self.tmp))


def describe(pid):
    try:
        with open('/proc/%d/cmdline' % pid, 'rb') as cmdline, open('/proc/%d/stat' % pid) as stat:
            return '%s %s' % (stat.read()[:60], cmdline.read().replace(b'\0', b' '))
    except OSError:
        return '%d (gone)' % pid


def wait_until(condition):
    """True when the condition became true; False when patience is over."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.005)
    return False


def children_of(pid):
    try:
        with open('/proc/%d/task/%d/children' % (pid, pid)) as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def keeper_of(pid):
    """The keeper of a runtime's host: its child of that name."""
    for child in children_of(pid):
        try:
            with open('/proc/%d/comm' % child) as file:
                if file.read().strip() == 'plenum-keeper':
                    return child
        except OSError:
            pass
    return None
