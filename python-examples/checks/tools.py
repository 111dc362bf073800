# SPDX-License-Identifier: BSD-3-Clause
"""Running examples as a user would, and finding what they leave behind.

All processes of a test inherit a mark in their environment and a TMPDIR of their own. At the end of every test method
only this process may carry the mark, and TMPDIR must be empty. New files of Plenum in /dev/shm must go, or belong to a
job that still runs, which is then another test's.
"""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TOP = HERE.parent
MARK = "PLENUM_TEST_EXAMPLE"
PATIENCE = 60  # seconds until something that must happen counts as missing; never a measure of speed
BUILD = Path()


def prepare() -> None:
    """Takes the build directory from the command line and sets up the environment, before `import plenum`."""
    global BUILD
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD-DIRECTORY [TEST...]")
    BUILD = Path(sys.argv.pop(1)).resolve()
    sys.dont_write_bytecode = True
    for name in [name for name in os.environ if name.startswith(("PLENUM_", "PMIX_"))]:
        del os.environ[name]
    os.environ.update({"PLENUM_LIB": str(BUILD / "lib"), "PYTHONDONTWRITEBYTECODE": "1", MARK: uuid.uuid4().hex})
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # it may be ignored where the tests were started


def alive() -> dict[int, str]:
    """Living processes that carry the mark, but this one: their command lines."""
    found = {}
    want = f"{MARK}={os.environ[MARK]}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if want in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                pass  # it has gone
    return found


def wait_until(condition) -> bool:
    """True when the condition became true, False when patience is over."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def shared_files() -> set[str]:
    """The directories of Plenum's jobs in /dev/shm, one each; their processes get its name by the environment."""
    return {name for name in os.listdir("/dev/shm") if name.startswith("plenum-")}


def environments() -> bytes:
    """The environments of all processes."""
    found = b""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found += (entry / "environ").read_bytes()
            except OSError:
                pass  # it has gone
    return found


class ExampleTest(unittest.TestCase):
    """A test that runs examples and leaves nothing behind."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="example-test-")
        self.addCleanup(scratch.cleanup)
        self.work = Path(scratch.name) / "work"
        self.tmp = Path(scratch.name) / "tmp"
        self.work.mkdir()
        self.tmp.mkdir()
        self.env = dict(os.environ, TMPDIR=str(self.tmp))
        self.shared = shared_files()
        self.addCleanup(self.expect_nothing_left)

    def command(self, *arguments: str | Path, ranks: int = 0) -> list[str]:
        """Python with these arguments; under mpiexec when a number of ranks is given."""
        launcher = [str(BUILD / "bin" / "mpiexec"), "-n", str(ranks)] if ranks else []
        return [*launcher, sys.executable, *map(str, arguments)]

    def start(self, *arguments: str | Path, ranks: int = 0, **env: str) -> subprocess.Popen[str]:
        """Starts an example in the directory of the examples."""
        return subprocess.Popen(self.command(*arguments, ranks=ranks), cwd=HERE, env=self.env | env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_example(self, *arguments: str | Path, ranks: int = 0, code: int = 0, **env: str) -> str:
        """Runs an example to its end, expects an exit code and, with 0, nothing on standard error; its output."""
        with self.start(*arguments, ranks=ranks, **env) as process:
            try:
                out, err = process.communicate(timeout=2 * PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        self.assertEqual(process.returncode, code, f"{out}\n{err}")
        if code == 0:
            self.assertEqual(err, "")
        return out if code == 0 else out + err

    def expect_nothing_left(self) -> None:
        """No process, no temporary file, no shared memory with a name."""
        wait_until(lambda: not alive())
        left = alive()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, {}, "processes are left")
        self.assertEqual(os.listdir(self.tmp), [], "temporary files are left")
        new = shared_files() - self.shared

        def left_over() -> set[str]:
            there = new & shared_files()
            known = environments() if there else b""
            return {name for name in there if name.encode() not in known}

        wait_until(lambda: not left_over())
        self.assertEqual(left_over(), set(), "shared memory is left")


def main() -> None:
    """Runs the tests of the script; prints only failures."""
    result = unittest.main(exit=False, verbosity=0).result
    sys.exit(0 if result.wasSuccessful() else 1)
