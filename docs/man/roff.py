# SPDX-License-Identifier: BSD-3-Clause
"""Text, Markdown as docs/ has it, and --help texts as source of man pages."""
import os
import re


def escape(text, code=False):
    """Plain text; in `code` a hyphen is the one of the keyboard."""
    text = text.replace('\\', '\\e')
    if code:
        text = text.replace('-', '\\-').replace("'", '\\(aq').replace('`', '\\(ga').replace('^', '\\(ha').replace('~', '\\(ti')
    text = re.sub(r'[^\x00-\x7f]', lambda c: '\\[u%04X]' % ord(c.group()), text)
    return re.sub(r"(?m)^([.'])", r'\\&\1', text)


def link(found):
    """A page has no links: words in parentheses give way to the place, others are followed by the document's name."""
    opening, words, file, place, closing = found.groups()
    file = os.path.normpath('docs/' + file) if file else ''
    if opening and closing:
        words = file or 'see ' + place.replace('-', ' ').upper()
    elif file:
        words = file if words == os.path.basename(file) else '%s (%s)' % (words, file)
    return opening + words + closing


def inline(text):
    """Text with `code`, **bold** and [words](link)."""
    out = []
    text = re.sub(r'(\(?)\[([^]]*)\]\(([^)#]*)#?([^)]*)\)(\)?)', link, ' '.join(text.split()))
    for word in re.split(r'(`[^`]+`|\*\*[^*]+\*\*)', text):
        if word.startswith('`'):
            out.append('\\fB' + escape(word[1:-1], code=True).replace('\\&', '') + '\\fR')
        elif word.startswith('**'):
            out.append('\\fB' + inline(word[2:-2]) + '\\fR')
        else:
            out.append(escape(word) if not out else escape('x' + word)[1:])
    return ''.join(out)


def example(lines):
    return '.PP\n.in +4n\n.EX\n' + ''.join(escape(line, code=True) + '\n' for line in lines) + '.EE\n.in\n'


def tagged(tag, text):
    """`tag` and `text` are source already."""
    return '.TP\n%s\n%s\n' % (tag, text)


def page(names, section, version, purpose, body):
    title = '.TH %s %d "" "Plenum %s" "Plenum"\n' % (escape(names[0], code=True), section, version)
    names = ', '.join(escape(n, code=True) for n in names)
    text = '%s.SH NAME\n%s \\- %s\n%s' % (title, names, escape(purpose), body)
    return re.sub(r'(?m)^(\.S[HS] .*\n)(?:\.PP\n)+', r'\1', text)


def see_also(names):
    return '.SH SEE ALSO\n%s\n' % ',\n'.join(
        '\\fB%s\\fR(%s)' % (escape(n, code=True), s) for n, s in re.findall(r'([\w-]+)\((\d)\)', names))


def table(lines):
    """A tagged paragraph for each row. Of more than two columns each value is preceded by the title."""
    rows = [[inline(value).strip() for value in re.sub(r'^\||\|$', '', line.strip()).split('|')] for line in lines]
    titles = rows[0] if len(rows[0]) > 2 else [''] * len(rows[0])
    out = []
    for row in rows[2:]:
        values = [title + ': ' + value if title else value for title, value in zip(titles[1:], row[1:]) if value]
        out.append(tagged(row[0], '\n.br\n'.join(values) or '\\&'))
    return out


def list_item(text):
    """`option`: what it does. Other items have bullets or numbers."""
    found = re.match(r'- (`[^`]*`(?:[^:`]|`[^`]*`)*): (.*)', text, re.S)
    if found:
        return tagged(inline(found.group(1)), inline(found.group(2)))
    number = re.match(r'(\d+\.) ', text)
    return '.IP %s 4\n%s\n' % (number.group(1) if number else '\\(bu', inline(text.split(' ', 1)[1]))


def markdown(text):
    """The blocks of a document. Its title is left out, because the page has one."""
    text = re.sub(r'<!--.*?-->\n', '', text, flags=re.S)
    out, first = [], True
    for block in re.split(r'\n\n+', text.strip('\n')):
        lines = block.split('\n')
        heading = re.match(r'(#+) (.*)', block)
        if heading:
            if len(heading.group(1)) > 1:
                kind = '.SH' if len(heading.group(1)) == 2 else '.SS'
                out.append('%s "%s"\n' % (kind, escape(heading.group(2).upper() if kind == '.SH' else heading.group(2))))
            continue
        if first:
            out.append('.SH %s\n' % ('SYNOPSIS' if block.startswith('    ') else 'DESCRIPTION'))
        if block.startswith('    '):
            out.append(example([line[4:] for line in lines]))
        elif block.startswith('|'):
            out += table(lines)
        elif re.match(r'- |\d+\. ', block):
            out += [list_item(item) for item in re.split(r'\n(?=- |\d+\. )', block)]
        else:
            lead, *rest = re.split(r'\n(?=- |\d+\. )', block)
            out.append('.PP\n%s\n' % inline(lead))
            out += [list_item(item) for item in rest]
        if first and block.startswith('    '):
            out.append('.SH DESCRIPTION\n')
        first = False
    return ''.join(out)


def help_text(text):
    """Lines `  OPTION   what it does`, and lines that go on with that. The others are paragraphs."""
    out, tag, what = ['.SH DESCRIPTION\n'], None, []

    def flush():
        if tag:
            out.append(tagged('\\fB%s\\fR' % escape(tag, code=True), escape(' '.join(what))))

    for line in text.split('\n'):
        entry = re.match(r'  (\S.*?)(?:  +| (?=[a-z]))(\S.*)', line) if line.startswith('  ') and line[2:3] != ' ' else None
        if re.match(r'  -\S.*[^ ]$', line) and not re.match(r'  \S.*?  +\S', line):
            entry = re.match(r'  (.*)()', line)
        if entry:
            flush()
            tag, what = entry.group(1), [entry.group(2)] if entry.group(2) else []
        elif line.startswith('   '):
            what.append(line.strip())
        elif line.strip() and not re.match('(?i)usage: |       ', line):
            flush()
            tag = None
            out.append('.PP\n%s\n' % escape(line))
    flush()
    return ''.join(out)
