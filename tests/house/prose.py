# SPDX-License-Identifier: BSD-3-Clause
"""Extracts the English of the tracked files: comments, documents, docstrings, and strings that are messages.

A Paragraph is running text that knows the line of each of its characters. Its kind is "text", "message" or "table"; a
line of a table is a paragraph of its own. Code blocks and drawings are left out.
"""
import bisect
import io
import os
import re
import tokenize

import source

MARK = re.compile(r'\s*(?:[-*+•]|\d+[.)]|\(?[a-z]\)|@\w+|\\\w+)\s')
COLUMNS = re.compile(r'\S {3,}\S')
LEAST_WORDS = 3 # a shorter string is not a message
SENTENCE_END = re.compile(r'[.!?]["\')\]`*_]*(?=\s|$)')
ABBREVIATION = re.compile(r'(?:\b(?:e\.g|i\.e|cf|vs|etc|resp|approx|[A-Z])|\.\.)\.$')


class Paragraph:
    """Lines joined by spaces: `text`, and `plain`, in which code and quoted words are runs of x."""

    def __init__(self, kind, lines):
        self.kind, self.starts, self.lines, text = kind, [], [], ''
        for number, line in lines:
            self.starts.append(len(text))
            self.lines.append(number)
            text += line.strip() + ' '
        self.text = re.sub(r'---+', lambda match: ' ' * len(match.group()), text).rstrip()
        self.plain = re.sub(r'`+[^`]+`+|\bhttps?:\S+|"[^" ]+"', lambda match: 'x' * len(match.group()), self.text)

    def line(self, offset):
        return self.lines[bisect.bisect_right(self.starts, offset) - 1]

    def sentences(self):
        """The sentences of `plain`: [(offset, text)]."""
        start = 0
        for match in SENTENCE_END.finditer(self.plain):
            if ABBREVIATION.search(self.plain[:match.start() + 1]):
                continue
            yield start, self.plain[start:match.end()]
            start = match.end()
        if self.plain[start:].strip():
            yield start, self.plain[start:]


# --- lines to paragraphs -------------------------------------------------------------------------------------------
def flow(lines):
    """Splits numbered lines without common indentation into paragraphs."""
    kept, found = [], []

    def end():
        if kept:
            found.append(Paragraph('text', list(kept)))
            kept.clear()

    for number, line in lines:
        text = line.strip()
        if not text or not re.search(r'[A-Za-z]', text):
            end()
        elif COLUMNS.search(text) and not MARK.match(line):
            end()
            found.append(Paragraph('table', [(number, line)]))
        elif re.match(r' {4}', line) and not kept:
            continue # code or a drawing
        else:
            if MARK.match(line):
                end()
            kept.append((number, line))
    end()
    return found


def dedented(lines):
    """Numbered lines without the indentation that all of them share; the first line is not considered."""
    depths = [len(line) - len(line.lstrip()) for _, line in lines[1:] if line.strip()]
    depth = min(depths, default=0)
    return [(number, line[depth:] if line[:depth].isspace() else line.lstrip()) for number, line in lines]


# --- kinds of files ------------------------------------------------------------------------------------------------
def of_c(text):
    """Comments, and strings that are messages. Adjacent literals make one string."""
    strings, last = [], 0
    for match in source.TOKEN.finditer(text):
        token, number = match.group(), source.line_of(text, match.start())
        if strings and (token[0] != '"' or text[last:match.start()].strip()):
            yield from message(strings)
            strings = []
        last = match.end()
        if token[0] == '/':
            lines = token.strip('/').split('\n')
            lines[0] = lines[0].lstrip('*!<')
            lines[-1] = re.sub(r'\*+$', '', lines[-1])
            bare = [lines[0].strip()] + [re.sub(r'^\s*\*+(?!\w) ?', '', line) for line in lines[1:]]
            yield from flow(dedented([(number + i, line) for i, line in enumerate(bare)]))
        elif token[0] == '"':
            strings.append((number, token[1:-1]))
    yield from message(strings)


def message(strings):
    """A paragraph for each line of a string, which consists of numbered literals."""
    if len(re.findall(r"(?<!\S)[A-Za-z']{2,}\b", ' '.join(text for _, text in strings))) < LEAST_WORDS:
        return
    lines = [[]]
    for number, text in strings:
        first, *others = text.replace('\\"', '"').split('\\n')
        lines[-1].append((number, first))
        lines += [[(number, other)] for other in others]
    for line in lines:
        if any(text.strip() for _, text in line):
            yield Paragraph('table' if COLUMNS.search(line[0][1]) else 'message', line)


def of_markdown(text):
    """Paragraphs, headings, list items and table rows."""
    lines, fenced, was_code, before = [], False, False, ''
    for number, line in enumerate(text.split('\n'), 1):
        if line.lstrip().startswith('```'):
            fenced = not fenced
            lines.append((number, ''))
            continue
        in_list = any(MARK.match(each) for _, each in lines[-12:])
        is_code = fenced or line.startswith('    ') and (was_code or not before.strip()) and not in_list
        if is_code or not line.strip():
            lines.append((number, ''))
        elif line.lstrip().startswith('|'):
            lines.append((number, ''))
            yield Paragraph('table', [(number, line)])
        elif line.startswith('#'):
            lines += [(number, line.lstrip('# ')), (number, '')]
        else:
            lines.append((number, re.sub(r'^ +(?![-*\d])', '', line)))
        was_code, before = is_code and bool(line.strip()) or was_code and not line.strip(), line
    yield from flow(lines)


def of_python(text):
    """Docstrings and comments."""
    comments, docstring_may_come = [], True
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        if token.type == tokenize.COMMENT:
            if not token.string.startswith('#!'):
                comments.append((token.start[0], token.string.lstrip('#:')))
        elif token.type == tokenize.STRING and docstring_may_come:
            lines = re.sub(r'^[rRbBuU]*("""|\'\'\'|"|\')|("""|\'\'\'|"|\')$', '', token.string).split('\n')
            yield from flow(dedented([(token.start[0] + i, line) for i, line in enumerate(lines)]))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            docstring_may_come = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    yield from of_comments(comments)


def of_shell(text):
    """Comments on lines of their own."""
    yield from of_comments([(number, line.lstrip()[1:]) for number, line in enumerate(text.split('\n'), 1)
                            if re.match(r'\s*#(?!!)', line)])


def of_comments(comments):
    """Numbered comment lines; lines that follow each other are one block."""
    block = []
    for number, line in comments + [(-1, '')]:
        if block and number != block[-1][0] + 1:
            yield from flow(dedented([(block[0][0], '')] + block))
            block = []
        block.append((number, line))


def paragraphs(path):
    """The paragraphs of a file; none for a kind of file that is not checked."""
    text = source.read(path)
    suffix = os.path.splitext(path)[1]
    first = text.split('\n', 1)[0]
    if suffix in ('.c', '.h'):
        return of_c(text)
    if suffix == '.md':
        return of_markdown(text)
    if suffix == '.py' or first.startswith('#!') and 'python' in first:
        return of_python(text)
    if suffix in ('.sh', '.mk') or os.path.basename(path) == 'Makefile' or re.match(r'#!.*\bsh\b', first):
        return of_shell(text)
    return []
