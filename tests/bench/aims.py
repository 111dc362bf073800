# SPDX-License-Identifier: BSD-3-Clause
"""The aims for the figures, and the table that compares them.

A ratio is this MPI's figure over the other's, so below 1 is good for times and memory, above 1 for speeds. It is the
median of the ratios of the rounds, in each of which every MPI ran.
"""
import collections
import re
import statistics

LESS_IS_BETTER = ('us', 'ms', 'MB', 'mean')
COLLECTIVE = r'(barrier|allreduce|reduce|bcast|allgather|alltoall|reduce_scatter|scan)( .*)?'
# Of several ranks on each core: each needs all others, and with so little data takes as long as a barrier; and those that
# move most data.
ALL_MEET, ALLTOALL = r'barrier|(?:allreduce|allgather|reduce_scatter) 8 B', r'(alltoall [^,]*)'

# states: of the machine that it holds in; what: a pattern; ranks: those that it holds for, None: all; against: a peer,
# 'peers' (the better one), 'limits' or 'own'; of: the figure there, None: the same one; {} stands for the pattern's group.
# least: what the machine needs for it without any MPI. Where that misses the bound, coming close to it is the aim.
Aim = collections.namedtuple('Aim', 'states what ranks against of bound least', defaults=(None,))
CLOSE = 0.85
NEAR, FAR, BOTH = ('near',), ('far',), ('near', 'far')
AIMS = (
    Aim(NEAR, r'latency ((?:0|8|64|512) B|[148] KiB)', None, 'peers', None, 0.65, 'message {}'),
    Aim(FAR, r'latency ((?:0|8|64|512) B|1 KiB)', None, 'peers', None, 0.6, 'message {}'),
    Aim(FAR, r'latency ((?:4|8|16|64) KiB)', None, 'peers', None, 0.75, 'message {}'),
    Aim(FAR, r'latency [14] MiB', None, 'peers', None, 0.8),
    Aim(BOTH, r'latency 8 B', None, 'limits', 'cache line', 2.5),
    Aim(BOTH, r'(?:sendrecv|exchange) (.*)', None, 'peers', None, 0.8, 'message exchange {}'),
    Aim(BOTH, r'rate (8 B)', None, 'peers', None, 1.5, 'message rate {}'),
    Aim(NEAR, r'(?:bandwidth|both ways) (?:64 KiB|256 KiB|[14] MiB)', None, 'peers', None, 1.6),
    Aim(FAR, r'bandwidth ((?:8|16|64|256) KiB|[14] MiB)', None, 'peers', None, 1.2, 'two copies {}'),
    Aim(FAR, r'both ways ((?:8|16|64|256) KiB|[14] MiB)', None, 'peers', None, 1.2, 'two copies both ways {}'),
    Aim(BOTH, r'bandwidth (64 KiB|256 KiB|[14] MiB)', None, 'limits', 'two copies {}', 0.85),
    Aim(BOTH, r'both ways (64 KiB|256 KiB|[14] MiB)', None, 'limits', 'two copies both ways {}', 0.85),
    Aim(NEAR, COLLECTIVE, (2,), 'peers', None, 0.7),
    Aim(FAR, COLLECTIVE, (2,), 'peers', None, 0.9),
    *(Aim(states, what, ranks, 'Open MPI', None, bound, least)
      for states, ranks, bound in ((NEAR, (4, 8, 16), 0.5), (FAR, (4, 16), 0.5), (FAR, (8,), 0.35))
      for what, least in ((ALL_MEET, 'barrier'), (ALLTOALL, '{}'), (rf'(?!(?:{ALL_MEET}|{ALLTOALL})$){COLLECTIVE}', None))),
    Aim(BOTH, r'.*, beside .*', None, 'peers', None, 1.1),
    Aim(BOTH, r'(pack \w+)', None, 'peers', None, 0.7, '{}, by hand'),
    Aim(BOTH, r'send \w+', None, 'peers', None, 0.7),
    Aim(BOTH, r'((?:pack|send) \w+)', None, 'own', '{}, by hand', 1 / 0.7),
    Aim(BOTH, r'start to finish', None, 'peers', None, 0.25),
    Aim(BOTH, r'session cycle, (?:first|steady)', None, 'MPICH', 'session cycle, first', 0.05),
    Aim(BOTH, r'memory, [RP]SS', None, 'peers', None, 0.5),
    Aim(BOTH, r'rate, 2 threads', (1,), 'own', 'rate, 1 thread', 1.8),
    Aim(BOTH, r'rate, 2 threads', (2,), 'own', 'rate, 1 thread', 1.0),
    Aim(('hosts',), r'(.*)', None, 'peers', None, 1.0, '{}'),
)

# A geometric mean of ratios to the better peer, of the figures that fit the pattern; that of speeds is inverted.
Mean = collections.namedtuple('Mean', 'name what ranks bound')
MEANS = (
    Mean('point to point', r'(?:latency|bandwidth|both ways|rate) \d+ \w+', 2, 0.7),
    Mean('collectives', COLLECTIVE, 2, 0.5),
    Mean('collectives', COLLECTIVE, 8, 0.35),
)

# A line of the table: what was compared with what, the ratio, and whether the aim is reached (None: there is none), or
# the machine's limit instead.
Line = collections.namedtuple('Line', 'what ranks unit own other value ratio bound reached limit', defaults=(False,))


def median_ratio(own, other):
    if len(own) == len(other):
        return statistics.median(a / b for a, b in zip(own, other))
    return statistics.median(own) / statistics.median(other)


def better(figure, peers):
    """The name of the peer with the best figure; None without peers."""
    there = [name for name in peers if figure.get(name)]
    best = min if figure['unit'] in LESS_IS_BETTER else max
    return best(there, key=lambda name: statistics.median(figure[name])) if there else None


def reference(figures, own, peers, ranks, figure, aim, match):
    """The name of the other side of the comparison, and its figures; (name, None) if they are missing."""
    if aim.of is None:
        name = better(figure, peers) if aim.against == 'peers' else aim.against
        return name or 'a peer', figure.get(name)
    what = aim.of.format(*match.groups())
    if aim.against == 'limits':
        return what, figures.get((what, 1), {}).get('limits')
    name = own if aim.against == 'own' else aim.against
    return (what if aim.against == 'own' else f'{name}, {what}'), figures.get((what, ranks), {}).get(name)


def mean_ratio(figures, name, peers, mean):
    """The geometric mean of the ratios to the better peer, and how many they are; (None, 0) for none."""
    ratios = []
    for (what, ranks), figure in figures.items():
        peer = better(figure, peers)
        if ranks == mean.ranks and name in figure and peer and re.fullmatch(mean.what, what):
            ratio = median_ratio(figure[name], figure[peer])
            ratios.append(ratio if figure['unit'] in LESS_IS_BETTER else 1 / ratio)
    return statistics.geometric_mean(ratios) if ratios else None, len(ratios)


def means_of(figures, own, peers, means=MEANS):
    """A line for each mean that something was measured for."""
    lines = []
    for mean in means:
        ratio, count = mean_ratio(figures, own, peers, mean)
        least, measured = mean_ratio(figures, 'limits', peers, mean)
        if not count:
            continue
        limit = ratio > mean.bound and measured == count and mean.bound < least <= 1 and ratio <= least / CLOSE
        lines.append(Line(f'{mean.name}, {count} figures', mean.ranks, 'mean', None, 'the better one', None, ratio, mean.bound,
                          ratio <= mean.bound or limit, limit))
        if measured == count:
            lines.append(Line(f'{mean.name}, {measured} figures', mean.ranks, 'mean', None, 'limit', least, None, None, None))
    return lines


def meets(ratio, unit, bound):
    return ratio <= bound if unit in LESS_IS_BETTER else ratio >= bound


def is_at_limit(figures, ranks, figure, own, others, aim, match):
    """Does the machine itself miss the bound, and is the figure close to what it can do?"""
    what = aim.least.format(*match.groups()) if aim.least else None
    name = own if what and what.endswith(', by hand') else 'limits'
    least = next((figures[what, n][name] for n in (ranks, 1) if name in figures.get((what, n), {})), None)
    if not least or not meets(median_ratio(least, others), figure['unit'], 1):
        return False  # a peer betters it
    unit, close = figure['unit'], CLOSE if figure['unit'] not in LESS_IS_BETTER else 1 / CLOSE
    return not meets(median_ratio(least, others), unit, aim.bound) and meets(median_ratio(figure[own], least), unit, close)


def lines_of(figures, state, own, peers):
    """Lines in the order of the figures: one for each aim, and one for a figure without an aim; then the means."""
    lines = []
    for (what, ranks), figure in figures.items():
        if own not in figure or what.endswith(', by hand'):
            continue
        value, unit = statistics.median(figure[own]), figure['unit']
        aims = [(aim, match) for aim in AIMS if state in aim.states and (match := re.fullmatch(aim.what, what))
                and (aim.ranks is None or ranks in aim.ranks)]
        for aim, match in aims:
            name, others = reference(figures, own, peers, ranks, figure, aim, match)
            if not others:
                lines.append(Line(what, ranks, unit, value, name, None, None, aim.bound, None))
                continue
            ratio = median_ratio(figure[own], others)
            reached = meets(ratio, unit, aim.bound)
            limit = not reached and is_at_limit(figures, ranks, figure, own, others, aim, match)
            lines.append(Line(what, ranks, unit, value, name, statistics.median(others), ratio, aim.bound, reached or limit,
                              limit))
        if not aims:
            name = better(figure, peers)
            others = figure.get(name)
            lines.append(Line(what, ranks, unit, value, name or '', statistics.median(others) if others else None,
                              median_ratio(figure[own], others) if others else None, None, None))
    lines += means_of(figures, own, peers)
    for (what, ranks), figure in figures.items():
        if 'limits' in figure:
            lines.append(Line(what, ranks, figure['unit'], None, 'limit', statistics.median(figure['limits']), None, None,
                              None))
    return lines


def short(value):
    return '' if value is None else f'{value:.3g}' if value < 100 else f'{value:.0f}'


def cells(line):
    sign = '' if line.bound is None else '≤ ' if line.unit in LESS_IS_BETTER else '≥ '
    bound = '' if line.bound is None else f'{sign}{line.bound:.2f}'
    verdict = ('' if line.bound is None else 'not measured' if line.reached is None else 'at the limit' if line.limit
               else 'reached' if line.reached else 'NOT reached')
    return [line.what, str(line.ranks), line.unit, short(line.own), line.other, short(line.value), short(line.ratio),
            bound, verdict]


HEAD = ['', 'ranks', 'unit', 'Plenum', 'beside', 'figure', 'ratio', 'aim', '']


def table(lines, markdown=False):
    rows = [HEAD] + [cells(line) for line in lines]
    if markdown:
        rows.insert(1, ['---'] + ['---:' if i in (1, 3, 5, 6, 7) else '---' for i in range(1, len(HEAD))])
        return '\n'.join('| ' + ' | '.join(row) + ' |' for row in rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    right = (1, 3, 5, 6, 7)
    return '\n'.join('  '.join(cell.rjust(width) if i in right else cell.ljust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def summary(lines):
    aimed = [line for line in lines if line.bound is not None and line.reached is not None]
    missing = sum(line.bound is not None and line.reached is None for line in lines)
    text = f'{sum(line.reached for line in aimed)} of {len(aimed)} aims reached'
    return text + (f', {missing} without anything to compare with' if missing else '')
