# SPDX-License-Identifier: BSD-3-Clause
"""What the parts of generate.py share: the table of all procedures, which tests read, too, and how a file is written."""

import os
import re
import sys

HANDLES = {
    'comm': 'Comm', 'type': 'Datatype', 'errhandler': 'Errhandler', 'file': 'File', 'group': 'Group', 'info': 'Info',
    'message': 'Message', 'op': 'Op', 'request': 'Request', 'session': 'Session', 'win': 'Win',
}
# Kinds of integers: C type and Fortran kind of the int form, of the large-count form.
INT, AINT, COUNT, OFFSET = ('MPI_Fint', ''), ('MPI_Aint', 'MPI_ADDRESS_KIND'), ('MPI_Count', 'MPI_COUNT_KIND'), \
    ('MPI_Offset', 'MPI_OFFSET_KIND')
INTEGERS = {
    'int': (INT, INT), 'slot': (INT, INT), 'weight': (INT, INT), 'num': (INT, COUNT), 'disp': (INT, AINT),
    'extent': (AINT, COUNT), 'aint': (AINT, AINT), 'count': (COUNT, COUNT), 'offset': (OFFSET, OFFSET),
}
LARGE = {'num', 'disp', 'extent'}
# Functions instead of subroutines: their type in C and in Fortran.
FUNCTIONS = {
    'Wtime': ('double', 'double precision'), 'Wtick': ('double', 'double precision'),
    'Aint_add': ('MPI_Aint', 'integer(MPI_ADDRESS_KIND)'), 'Aint_diff': ('MPI_Aint', 'integer(MPI_ADDRESS_KIND)'),
}
# Their large-count forms cannot be told apart by the types of arguments, so they have names of their own.
NAMED_LARGE = {'Op_create', 'Register_datarep'}


class Parameter:
    """One parameter of a procedure."""

    def __init__(self, text):
        m = re.fullmatch(r'([>=]?)(\w+)(?::(\w+))?(?:\[([^\]]*)\])?(~?)(!?)', text)
        if not m:
            sys.exit(f'generate.py: cannot read the parameter "{text}"')
        self.way = {'': 'in', '>': 'out', '=': 'inout'}[m[1]]
        self.name, self.kind, self.length = m[2], m[3] or 'int', m[4]
        self.asynchronous, self.large_only = bool(m[5]), bool(m[6])
        self.array = self.length is not None and self.kind not in ('string', 'text')

    def integer(self, large):
        """Its C type and its Fortran kind, if it is a number."""
        return INTEGERS[self.kind][large]


class Procedure:
    """One line of the table."""

    def __init__(self, line, prefix):
        self.prefix = prefix
        words = line.split()
        m = re.fullmatch(r'(\w+)(\*?)(!?)(-?)', words[0])
        self.name, self.by_hand, self.old, self.returns = m[1], bool(m[2]), bool(m[3]), not m[4]
        self.all = [Parameter(word) for word in words[1:]]
        self.function = FUNCTIONS.get(self.name)
        self.returns = self.returns and not self.function
        self.has_choice = any(p.kind == 'choice' for p in self.all)
        self.has_large = any(p.kind in LARGE or p.large_only for p in self.all) or self.name in NAMED_LARGE

    def parameters(self, large):
        """The parameters of the large-count form, or of the other."""
        return [p for p in self.all if large or not p.large_only]

    def specific(self, large, module):
        """The specific name in a module: f08, mpi or mpif."""
        if module == 'mpif' or (module == 'mpi' and not self.has_choice):
            return self.prefix + self.name
        suffix = ('_fts' if module == 'mpi' else '_f08ts') if self.has_choice else '_f08'
        return self.prefix + self.name + ('_c' if large else '') + suffix


def read_table(path, prefix='MPI_'):
    """All procedures."""
    with open(path, encoding='ascii') as table:
        return [Procedure(line, prefix) for line in table if line.strip() and not line.startswith('#')]


def write(path, text):
    """Writes a file unless it has this text already, so that make sees no change."""
    if not os.path.exists(path) or open(path, encoding='utf-8').read() != text:
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text)
