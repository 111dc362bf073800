# SPDX-License-Identifier: BSD-3-Clause
"""Figures as SVG: against message size on logarithmic axes, or against a count. The plots have their own background, light
or dark."""
import math
import os
import re
import statistics

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 64, 150, 40, 48
STYLE = '''
  text { font: 13px sans-serif; fill: #222 } .title { font-size: 15px; font-weight: bold }
  .back { fill: #fff } .grid { stroke: #ddd } .line { fill: none; stroke-width: 2 } .limit { stroke-dasharray: 5 4 }
  .c0 { stroke: #0b62c4 } .c1 { stroke: #c2410c } .c2 { stroke: #15803d } .c3 { stroke: #7c3aed } .c4 { stroke: #6b7280 }
  .p0 { fill: #0b62c4 } .p1 { fill: #c2410c } .p2 { fill: #15803d } .p3 { fill: #7c3aed } .p4 { fill: #6b7280 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e5e5 } .back { fill: #16181d } .grid { stroke: #3a3f48 }
    .c0 { stroke: #6cb2ff } .c1 { stroke: #ff9e64 } .c2 { stroke: #6ee7a0 } .c3 { stroke: #c4a7ff } .c4 { stroke: #a0a7b4 }
    .p0 { fill: #6cb2ff } .p1 { fill: #ff9e64 } .p2 { fill: #6ee7a0 } .p3 { fill: #c4a7ff } .p4 { fill: #a0a7b4 }
  }
'''
UNITS = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20}


def size_text(size):
    for unit in ('MiB', 'KiB', 'B'):
        if size >= UNITS[unit]:
            return f'{size // UNITS[unit]} {unit}'
    return '0'


def series(figures, beginning, ranks, name):
    """[(bytes, median)] of the figures called `beginning SIZE`, without size 0."""
    points = []
    for (what, on), figure in figures.items():
        match = re.fullmatch(re.escape(beginning) + r' (\d+) (B|KiB|MiB)', what)
        if match and on == ranks and figure.get(name) and int(match.group(1)) > 0:
            points.append((int(match.group(1)) * UNITS[match.group(2)], statistics.median(figure[name])))
    return sorted(points)


class Axes:
    def __init__(self, curves):
        xs = [x for _, points, _ in curves for x, _ in points]
        ys = [y for _, points, _ in curves for _, y in points]
        self.left, self.right = math.log2(min(xs)), math.log2(max(xs))
        self.low, self.high = math.floor(3 * math.log10(min(ys))) / 3, math.ceil(3 * math.log10(max(ys))) / 3

    def x(self, value):
        return LEFT + (math.log2(value) - self.left) / (self.right - self.left or 1) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - (math.log10(value) - self.low) / (self.high - self.low or 1) * (HEIGHT - TOP - BOTTOM)

    def draw(self, unit):
        out = []
        for power in range(math.ceil(self.left), math.floor(self.right) + 1):
            if power % 2:
                x = self.x(2 ** power)
                out.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>')
                out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size_text(2 ** power)}</text>')
        for decade in range(math.floor(self.low), math.ceil(self.high) + 1):
            for digit in (1, 2, 5):
                value = digit * 10.0 ** decade
                if self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9:
                    y = self.y(value)
                    out.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
                    out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        out.append(f'<text x="{LEFT - 8}" y="{TOP - 10}" text-anchor="end">{unit}</text>')
        return out


class CountAxes(Axes):
    """Both axes are linear and begin at 0."""

    def __init__(self, curves):
        self.left = self.low = 0
        self.right = max(x for _, points, _ in curves for x, _ in points)
        self.high = 1.25 * max(y for _, points, _ in curves for _, y in points)

    def x(self, value):
        return LEFT + value / self.right * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - value / self.high * (HEIGHT - TOP - BOTTOM)

    def draw(self, unit):
        out = [f'<text x="{LEFT - 8}" y="{TOP - 10}" text-anchor="end">{unit}</text>']
        for part in range(6):
            x, y = self.x(self.right * part / 5), self.y(self.high * part / 5)
            out.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>')
            out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{self.right * part // 5}</text>')
            out.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
            out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{self.high * part / 5:.0f}</text>')
        return out


def labels_apart(ends):
    """Heights of labels near the wanted ones, at least 16 apart."""
    placed = []
    for wanted in sorted(ends):
        placed.append(max(wanted, placed[-1] + 16) if placed else wanted)
    return dict(zip(sorted(ends), placed))


def draw(directory, name, title, unit, curves, kind=Axes):
    """curves: [(name, [(bytes or count, value)], is a limit)]. Returns [name], [] if there is nothing to draw."""
    curves = [curve for curve in curves if curve[1]]
    if not curves:
        return []
    axes = kind(curves)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
           f'<style>{STYLE}</style>', f'<rect class="back" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
           f'<text class="title" x="{LEFT}" y="22">{title}</text>'] + axes.draw(unit)
    ends = [axes.y(points[-1][1]) + i * 1e-3 for i, (_, points, _) in enumerate(curves)]
    heights = labels_apart(ends)
    for i, (label, points, is_limit) in enumerate(curves):
        color = min(i, 4)
        way = ' '.join(f'{axes.x(x):.1f},{axes.y(y):.1f}' for x, y in points)
        out.append(f'<polyline class="line c{color}{" limit" if is_limit else ""}" points="{way}"/>')
        if not is_limit:
            out += [f'<circle class="p{color}" cx="{axes.x(x):.1f}" cy="{axes.y(y):.1f}" r="3"/>' for x, y in points]
        out.append(f'<text class="p{color}" x="{WIDTH - RIGHT + 8}" y="{heights[ends[i]] + 4:.1f}">{label}</text>')
    with open(os.path.join(directory, name + '.svg'), 'w', encoding='utf-8') as file:
        file.write('\n'.join(out + ['</svg>', '']))
    return [name]


def write_all(directory, figures, state, names):
    """Draws the figures of one state of the machine; returns the names of the files, without `.svg`."""
    os.makedirs(directory, exist_ok=True)
    drawn = []
    line = figures.get(('cache line', 1), {}).get('limits')
    latency = [(name, series(figures, 'latency', 2, name), False) for name in names]
    spread = [x for _, points, _ in latency for x, _ in points]
    if line and spread:
        value = statistics.median(line)
        latency.append(('cache line', [(min(spread), value), (max(spread), value)], True))
    drawn += draw(directory, f'latency-{state}', f'Latency, one way, {state} cores', 'µs', latency)
    for what, title, copies in (('bandwidth', 'Bandwidth', 'two copies'),
                                ('both ways', 'Bandwidth, both ways together', 'two copies both ways')):
        curves = [(name, series(figures, what, 2, name), False) for name in names]
        curves += [(limit, series(figures, limit, 1, 'limits'), True) for limit in (copies, 'kernel copy')]
        drawn += draw(directory, f'{what.replace(" ", "-")}-{state}', f'{title}, {state} cores', 'GB/s', curves)
    return drawn
