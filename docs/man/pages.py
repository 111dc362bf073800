#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the man pages from what is there: documents, --help texts and the comments of public headers.

usage: pages.py SOURCE BIN VERSION OUTPUT

SOURCE is the source tree and BIN the directory of the built programs. OUTPUT gets man1, man3 and man7. The macros are
those of man(7); roff.py writes them. A page with several names is a file, and a link for each further name.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import header  # noqa: E402
import roff  # noqa: E402

# file, section, names, purpose, SEE ALSO
DOCUMENTS = [
    ('mpiexec.md', 1, ['mpiexec', 'mpirun'], 'run an MPI program as a job', 'mpicc(1), plenum-info(1), plenum(3), plenum(7)'),
    ('configuration.md', 7, ['plenum'], 'variables, files and info keys that configure Plenum',
     'mpiexec(1), plenum-info(1), plenum(3)'),
]
# The wrappers differ in the language that --showme:help names, so C's answer stands for all.
HELP = [
    ('mpicc', '--showme:help', ['mpicc', 'mpicc_abi', 'mpicxx', 'mpicxx_abi', 'mpic++', 'mpiCC', 'mpifort', 'mpifort_abi',
                                'mpif90', 'mpif77'],
     'compile and link MPI programs in C, C++ and Fortran', '[OPTION]... [COMPILER-OPTION]... FILE...', 'mpiexec(1), plenum(7)'),
    ('plenum-info', '--help', ['plenum-info'], 'show the configuration, parts and process sets of Plenum',
     '[--json] [COMMAND] | --version | --help', 'mpiexec(1), plenum(7)'),
]
HEADERS = [
    ('plenum.h', 'plenum', 'launch MPI jobs from inside any process', '-lplenum'),
    ('mpi-ext.h', 'mpi-ext', 'what Plenum offers an MPI program beyond the standard', 'mpicc'),
]


def write(output, version, section, names, purpose, body):
    """One page, and its links."""
    directory = os.path.join(output, 'man%d' % section)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, '%s.%d' % (names[0], section)), 'w', encoding='utf-8') as file:
        file.write(roff.page(names, section, version, purpose, body))
    for name in names[1:]:
        link = os.path.join(directory, '%s.%d' % (name, section))
        if not os.path.islink(link):
            os.symlink('%s.%d' % (names[0], section), link)


def main(source, programs, version, output):
    for name, section, names, purpose, also in DOCUMENTS:
        with open(os.path.join(source, 'docs', name), encoding='utf-8') as file:
            body = roff.markdown(file.read())
        write(output, version, section, names, purpose, body + roff.see_also(also))
    for program, option, names, purpose, usage, also in HELP:
        run = subprocess.run([os.path.join(programs, program), option], capture_output=True, text=True, check=True)
        synopsis = '.SH SYNOPSIS\n' + ''.join(
            '.PP\n.B %s\n%s\n' % (roff.escape(n, code=True), roff.escape(usage)) for n in names)
        write(output, version, 1, names, purpose, synopsis + roff.help_text(run.stdout) + roff.see_also(also))
    for name, page, purpose, link in HEADERS:
        for names, title, body in header.pages(os.path.join(source, 'api', name), page, link):
            write(output, version, 3, names, title or purpose, body)


if __name__ == '__main__':
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
