# SPDX-License-Identifier: BSD-3-Clause
"""The Doxygen comments of a public header as man pages: one for the header, and one for each group of functions.

A group begins with a comment `--- title ---`. Its page has the name of its first function.
"""
import os
import re

import roff

WORDS = re.compile(r'/\*\*(?!<)\s*(.*?)\*/', re.S)


def comment_text(text):
    return re.sub(r'(?m)^\s*\* ?', '', text).replace('\\\\', '\\').strip('\n')


def prose(text):
    """Paragraphs and examples; names of functions are bold."""
    out = []
    for block in re.split(r'\n[ \t]*\n', text.strip('\n')):
        lines = block.split('\n')
        if all(line.startswith('    ') for line in lines if line.strip()):
            out.append(roff.example([line[4:] for line in lines]))
        elif block.strip():
            out.append('.PP\n%s\n' % roff.inline(re.sub(r'(?<![`\w:])(\w+\(\))', r'`\1`', block)))
    return ''.join(out)


def documented(text):
    """What a comment says: its prose, then parameters and results."""
    parts = re.split(r'(?m)(?:^|(?<=\s))@(param(?:\[\w+(?:,\w+)?\])?|retval|return|since|copydoc|file)\s', text)
    out = prose(re.sub(r'(?m)^ {1,3}(?! )', '', parts[0]))
    for kind, what in zip(parts[1::2], parts[2::2]):
        what = ' '.join(what.split())
        if kind.startswith('param') or kind == 'retval':
            name, _, words = what.partition(' ')
            out += roff.tagged('\\fI%s\\fR' % name if kind != 'retval' else '\\fB%s\\fR' % name, roff.inline(words))
        elif kind == 'return':
            out += roff.tagged('Returns', roff.inline(what))
    return out


def members(body):
    """Members of a struct or an enum, each with the comment before or behind it."""
    out = ''
    token = re.compile(r'/\*\*(<?)\s*(.*?)\*/|([^/;,{]+(?:\([^;]*\))*[^/;,{]*)([;,]|(?=/\*\*<)|$)', re.S)
    before, name = None, None
    for found in token.finditer(body):
        if found.group(2) is None:
            code = ' '.join(found.group(3).split())
            if not code:
                continue
            name = code
            if before is not None:
                out += entry(name, before)
                before = name = None
        elif found.group(1):
            out += entry(name, found.group(2))
        else:
            before = found.group(2)
    return out


def entry(name, text):
    words = documented(comment_text(text))
    if words.startswith('.PP\n'):
        words = words[4:]
    if '.TP' in words:
        at = words.index('.TP')
        words = words[:at] + '.RS\n' + words[at:] + '.RE\n'
    return roff.tagged('\\fB%s\\fR' % roff.escape(name or '', code=True), words.rstrip('\n'))


def entities(text):
    """(comment, declaration) of everything that has a comment; (None, title) where a group begins."""
    at = 0
    start = re.compile(r'/\* --- (.*?) -*-- \*/|/\*\*(?!<)(.*?)\*/\s*', re.S)
    while True:
        found = start.search(text, at)
        if not found:
            return
        at = found.end()
        if found.group(1):
            yield None, found.group(1)
            continue
        code = declaration(text[at:])
        at += len(code)
        yield comment_text(found.group(2)), code.strip()


def declaration(text):
    """Up to the semicolon that ends it, or to the end of the line of a macro."""
    if text.startswith('#'):
        return text[:text.index('\n')]
    depth = 0
    for found in re.finditer(r'/\*.*?\*/|[{};]', text, re.S):
        depth += {'{': 1, '}': -1}.get(found.group(), 0)
        if found.group() == ';' and depth == 0:
            return text[:found.end()]
    return text


def shown(code):
    """A declaration for the synopsis, in its lines."""
    lines = [re.sub(r'^PLENUM_API ', '', line) for line in code.split('\n')]
    return ''.join(roff.escape(line, code=True) + '\n' for line in lines)


def described(comment, code):
    """An entity in the description: its name, its comment, its members."""
    kind = re.match(r'(enum|struct)\s*(\w*)\s*{(.*)}', code, re.S)
    macro = re.match(r'#\w+\s+(\w+)', code)
    function = re.search(r'(\w+)\)?\s*\(', code)
    other = re.search(r'(\w+)\s*;', code)
    if kind:
        name = (kind.group(1) + ' ' + kind.group(2)).strip()
    elif macro:
        name = macro.group(1)
    else:
        name = function.group(1) + '()' if function else 'struct ' + other.group(1)
    return '.SS %s\n%s%s' % (roff.escape(name, code=True), documented(comment), members(kind.group(3)) if kind else '')


def function_name(code):
    found = re.match(r'(?:PLENUM_API )?(?:[\w\s]+?)[\s*]*(\w+)\(', code)
    return found.group(1) if found and not code.startswith(('#', 'typedef')) and '{' not in code.split('(')[0] else None


def pages(path, page, link):
    """Yields (names, purpose, body) of each page; the first has no purpose of its own."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    include = os.path.basename(path)
    intro = re.search(r'/\*\*\n \* @file \S+\n(.*?)\*/', text, re.S)
    groups = [[None, []]]
    for comment, code in entities(text[intro.end():]):
        if comment is None:
            groups.append([re.sub(r': docs/.*', '', code), []])
        elif '@copydoc' not in comment and not code.startswith('#if'):
            groups[-1][1].append((comment, code))
    groups = [g for g in groups if g[0] is None or g[1]]
    heads = [next((function_name(c) for _, c in g[1] if function_name(c)), None) for g in groups[1:]]
    for number, (title, found) in enumerate(groups):
        functions = [function_name(c) for _, c in found if function_name(c)]
        body = '.SH SYNOPSIS\n.nf\n.B #include <%s>\n' % roff.escape(include, code=True)
        body += '.PP\n' + ''.join(shown(c) for _, c in found if function_name(c))
        body += '.fi\n'
        body += '.PP\nLink with %s.\n' % ('\\fI%s\\fR' % roff.escape(link, code=True)) if link.startswith('-') else ''
        body += '.SH DESCRIPTION\n'
        if number == 0:
            body += prose(comment_text(intro.group(1)))
        body += ''.join(described(c, d) for c, d in found)
        names = functions if number else [page] + functions
        others = [page] + heads if number else heads
        body += roff.see_also(', '.join('%s(3)' % n for n in others if n and n != names[0]) + ', mpiexec(1)')
        yield names, None if number == 0 else '%s: %s' % (include, title), body
