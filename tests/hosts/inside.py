# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder in Python share: they run inside tests/hosts/lab, with the module of mpiexec's tests and
that of the runtime. Imported first."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def enter():
    """Goes on inside the lab, in its directory, which is returned; outside, runs this script there."""
    if sys.argv[1] != '--inside':
        build = os.path.realpath(sys.argv[1])
        if not shutil.which('ip'):
            print('the command ip (iproute2) is not installed')
            sys.exit(77)
        with tempfile.TemporaryDirectory(prefix='lab.', dir=build) as work:
            lab = subprocess.run([os.path.join(HERE, 'lab'), work, os.path.abspath(sys.argv[0]), '--inside', build, work])
        sys.exit(lab.returncode)
    work = sys.argv.pop()
    sys.argv.pop(1)
    sys.path[:0] = [os.path.join(HERE, '..', 'faults', 'launcher'), os.path.join(HERE, '..', '..', 'python-examples')]
    os.environ['PLENUM_LIB'] = os.path.join(sys.argv[1], 'lib')
    return work
