# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the checks of this folder: the tracked files, a small C scanner, the bounds, and the report.

A check hands its figures and violations to Report, which prints them and compares the figures with limits.txt.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import textwrap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = 'tests/house'
LIMITS = f'{HERE}/limits.txt'
PRODUCT = ('api', 'core', 'sessions', 'world', 'plugins')
SKIP = 77 # the exit code of a test that cannot run here
WIDTH = 120

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
PREPROCESSOR = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.M)


# --- files ---------------------------------------------------------------------------------------------------------
def tracked(*patterns):
    """The existing files that git tracks, as paths from the top."""
    command = ['git', 'ls-files', '--', *patterns]
    result = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if result.returncode != 0:
        print('not a git checkout: no list of files')
        sys.exit(SKIP)
    return [path for path in result.stdout.splitlines() if os.path.isfile(os.path.join(TOP, path))]


def product(*suffixes):
    """The C files of the libraries, plugins and tools; no tests."""
    return [path for path in tracked(*PRODUCT) if path.endswith(suffixes or ('.c', '.h'))]


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8', errors='replace') as file:
        return file.read()


def line_of(text, offset):
    return text.count('\n', 0, offset) + 1


# --- C -------------------------------------------------------------------------------------------------------------
def blank(text):
    """`text` with every character but the line ends replaced by a space."""
    return re.sub(r'[^\n]', ' ', text)


def code(text, preprocessor=False):
    """C text with comments and the contents of quotes blanked; every character keeps its offset."""
    def hide(match):
        token = match.group()
        return blank(token) if token[0] == '/' else token[0] + blank(token[1:-1]) + token[-1]
    text = TOKEN.sub(hide, text)
    return text if preprocessor else PREPROCESSOR.sub(lambda match: blank(match.group()), text)


def top_level(text):
    """Declarations outside braces: [(offset, text with each body reduced to {})]. `text` comes from code()."""
    text = re.sub(r'\bextern\s+"\s*"\s*\{', lambda match: blank(match.group()), text)
    found, pieces, begin, start, depth = [], [], 0, 0, 0
    for match in re.finditer(r'[{};]', text):
        mark, end = match.group(), match.end()
        if mark == '{':
            if depth == 0:
                pieces.append(text[start:end])
            depth += 1
        elif mark == '}':
            depth -= 1
            if depth < 0: # closes an extern "C", whose opening brace is blanked
                depth, begin, start, pieces = 0, end, end, []
                continue
            if depth == 0:
                pieces.append('}')
                start = end
        elif depth == 0:
            pieces.append(text[start:end])
        if depth == 0 and (mark == ';' or mark == '}' and is_function(''.join(pieces))):
            whole = ''.join(pieces)
            found.append((begin + len(whole) - len(whole.lstrip()), whole.strip()))
            pieces, begin, start = [], end, end
    return found


def is_function(declaration):
    """Whether a declaration that ends in a body is a function, which no semicolon follows."""
    head = declaration[:declaration.find('{')].rstrip()
    return head.endswith(')') and '=' not in head


def function_of(declaration):
    """(name, text before the name) of a function that is declared or defined; None for other declarations."""
    head = re.sub(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)', '', declaration.split('{')[0]).rstrip('; \n')
    if not head.endswith(')') or '=' in head or re.match(r'typedef\b', head):
        return None
    depth = 0
    for place in range(len(head) - 1, -1, -1):
        depth += (head[place] == ')') - (head[place] == '(')
        if depth == 0:
            break
    before = re.match(r'(.*[\s*])([A-Za-z_]\w*)\s*$', head[:place], re.S)
    return (before.group(2), before.group(1)) if before and before.group(1).strip() else None


# --- limits and reports --------------------------------------------------------------------------------------------
def limits():
    """The bounds of limits.txt: {name: upper bound}."""
    found = {}
    for line in read(LIMITS).splitlines():
        word = line.split('#')[0].split()
        if len(word) == 2:
            found[word[0]] = float(word[1])
    return found


def lower(figures):
    """Writes each figure that is below its bound into limits.txt; a bound never rises."""
    def write(match):
        name, space, old = match.group(1, 2, 3)
        value = figures.get(name)
        return f'{name}{space}{value:g}' if value is not None and value < float(old) else match.group()
    text = re.sub(r'^(\w+)(\s+)([\d.]+)', write, read(LIMITS), flags=re.M)
    with open(os.path.join(TOP, LIMITS), 'w', encoding='utf-8') as file:
        file.write(text)


class Report:
    """The figures and violations of one check."""

    def __init__(self, description, build=False):
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument('--list', action='store_true', help='print the figures only')
        parser.add_argument('--lower', action='store_true', help=f'lower the bounds of {LIMITS} to the figures')
        if build:
            parser.add_argument('build', help='the build directory')
        parser.add_argument('paths', nargs='*', help='print only violations in these files and folders')
        self.args = parser.parse_args()
        self.paths = [os.path.normpath(path) for path in self.args.paths]
        self.figures = {}
        self.violations = collections.defaultdict(list)

    def violation(self, figure, path, line, text):
        """Adds a line of output. Unless figure() gives a value, the number of violations is the value."""
        self.violations[figure].append((path, line, text))

    def figure(self, name, value=None, text=None, unit=''):
        """Adds a figure. `name` is its name in limits.txt; without a value it counts its violations."""
        value = len(self.violations[name]) if value is None else value
        self.figures[name] = (value, text or name.replace('_', ' '), unit)

    def shown(self, path):
        return not self.paths or any(each in ('.', path) or path.startswith(each + '/') for each in self.paths)

    def finish(self):
        """Prints violations and figures, those above their bounds last; returns the exit code."""
        bounds = limits()
        above = [name for name, (value, *_) in self.figures.items() if value > bounds.get(name, 0)]
        if not self.args.list:
            for name in sorted(self.violations, key=lambda name: name in above):
                for path, line, text in sorted(self.violations[name]):
                    if self.shown(path):
                        print(f'{path}:{line}: {text}' if line else f'{path}: {text}')
        for name, (value, text, _) in self.figures.items():
            bound = bounds.get(name, 0)
            if name in above:
                print(f'{text} {value:g}: above the bound {name} = {bound:g} of {LIMITS}')
            elif value < bound and not self.args.lower:
                print(f'{text} {value:g}: the bound {name} = {bound:g} of {LIMITS} can be lowered, --lower does')
        summary = ', '.join(f'{text} {value:g}{unit}' for value, text, unit in self.figures.values())
        print(textwrap.fill(summary, WIDTH, break_long_words=False))
        if self.args.lower:
            lower({name: value for name, (value, *_) in self.figures.items()})
        return 1 if above else 0
