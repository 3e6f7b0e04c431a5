"""Both sides as shares of samples (boots, or builds where there are enough, as observations), and
their functions beside each other: samples, callers, neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from webapp.stats.arrays import Bools, Floats, Ints
from webapp.stats.profiles.calls import Calls, Function, summed
from webapp.stats.profiles.costs import Basis, Boot, Rates, Side
from webapp.stats.profiles.testing import TESTED, Seen, own_scatter

SAME_CALLERS = 0.5
"""The least overlap of two functions' callers, as shares of the samples that came from each."""

SIMILAR = 2.0
"""The largest ratio of costs of a function under its two names."""


class Aligned(NamedTuple):
    """``calls`` has the nodes of both sides (N); ``a`` and ``b`` (N), its two rows, are the samples
    in which a node itself ran, of all CPUs of a side together.
    """

    calls: Calls
    a: Ints
    b: Ints


@dataclass(frozen=True, slots=True)
class Counted:
    """Samples of F functions in R rows: a row is a boot, or a section (CPU) of one.

    ``boot`` (R) is the row's boot, by index. ``own`` and ``inclusive`` are (R, F), ``samples``
    (R). ``edges`` (E, 2) are pairs of a caller (F: none) and what it called, ``passed`` (2, E)
    the samples in which the callee, or what it called, ran below that caller, in the first boots
    and in the others.
    """

    functions: tuple[Function, ...]
    boot: Ints
    own: Floats
    inclusive: Floats
    samples: Floats
    edges: Ints
    passed: Floats


def counted(boots: Sequence[Boot], *, first: int, by_section: bool) -> Counted:
    """Count the functions of ``boots``, each in a row or ``by_section`` in a row each section;
    the ``first`` ones are one side. One tree is in memory at a time.
    """
    functions, same = _united([boot.calls for boot in boots])
    rows = [len(boot.calls.counts) if by_section else 1 for boot in boots]
    own, inclusive = (np.zeros((sum(rows), len(functions))) for _ in range(2))
    passed, start = [], 0
    for boot, to, count in zip(boots, same, rows, strict=True):
        tree = _Tree(boot.calls, to, len(functions), split=by_section)
        at = slice(start, start + count)
        own[at] = tree.by_function(tree.counts)
        inclusive[at] = tree.by_function(tree.totals * tree.outermost)
        passed.append((tree.edges, tree.passed))
        start += count
    keys = np.unique(np.concatenate([edges for edges, _ in passed]))
    sides = np.zeros((2, len(keys)))
    for boot_at, (edges, samples) in enumerate(passed):
        sides[int(boot_at >= first), np.searchsorted(keys, edges)] += samples
    return Counted(
        functions,
        np.repeat(np.arange(len(boots)), rows),
        own,
        inclusive,
        own.sum(axis=1),
        np.stack([keys // len(functions), keys % len(functions)], axis=1),
        sides,
    )


def _united(profiles: Sequence[Calls]) -> tuple[tuple[Function, ...], list[Ints]]:
    """The functions of all profiles, and the index among them of each one's functions."""
    known: dict[Function, int] = {}
    own = [[known.setdefault(one, len(known)) for one in calls.functions] for calls in profiles]
    functions, same = same_functions(list(known))
    return functions, [same[np.array(one, np.int64)] for one in own]


class _Tree:
    """The call tree of a boot: samples in R rows and N nodes, and what passed its E edges (E).

    ``totals`` are samples of a node and of all below it; ``outermost`` nodes have no caller of
    their own function; ``edges`` are caller × functions + callee, the caller of none `functions`.
    """

    def __init__(self, calls: Calls, to: Ints, functions: int, *, split: bool) -> None:
        """Count ``calls``, function i of which is function ``to[i]`` of ``functions``."""
        counts = calls.counts if split else calls.counts.sum(axis=0)[None]
        self.counts = counts.astype(np.float64)
        self._function, self._functions = to[calls.function], functions
        self.outermost = np.ones(len(calls.parent), np.bool_)
        self.totals = self._summed(calls.parent)
        caller = np.where(calls.parent >= 0, self._function[calls.parent], functions)
        keys = caller * functions + self._function
        self.edges, where = np.unique(keys, return_inverse=True)
        self.passed = np.bincount(where, self.totals.sum(axis=0), len(self.edges))

    def by_function(self, values: Floats) -> Floats:
        """Sums of values at nodes (R, N) over each function's (R, F)."""
        return _by_column(values, self._function, self._functions)

    def _summed(self, parent: Ints) -> Floats:
        """Totals; finds the outermost nodes on the way up."""
        depth = np.zeros(len(parent), np.int64)
        node = np.flatnonzero(parent >= 0)
        at = parent[node]
        while len(node):
            depth[node] += 1
            self.outermost[node[self._function[at] == self._function[node]]] = False
            at = parent[at]
            node, at = node[at >= 0], at[at >= 0]
        totals = self.counts.copy()
        order = np.argsort(depth, kind="stable")
        bounds = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2))
        for start, end in zip(bounds[-2::-1], bounds[:0:-1], strict=True):
            nodes = order[start:end]
            totals += _by_column(totals[:, nodes], parent[nodes], len(parent))
        return totals


def _by_column(values: Floats, column: Ints, columns: int) -> Floats:
    """Sums of values (R, N) by the column of each (R, columns)."""
    found = np.empty((len(values), columns))
    for row, of in enumerate(values):
        found[row] = np.bincount(column, of, columns)
    return found


def same_functions(functions: Sequence[Function]) -> tuple[tuple[Function, ...], Ints]:
    """The distinct functions, and the index of each given one among them.

    A profile may name a function's module in some rows alone: a function without one is the only
    one of its name that has a module, if there is one.
    """
    modules: dict[str, set[str]] = {}
    for one in functions:
        if one.module:
            modules.setdefault(one.name, set()).add(one.module)
    known: dict[Function, int] = {}
    index = []
    for one in functions:
        named = modules.get(one.name, ())
        full = Function(one.name, *named) if not one.module and len(named) == 1 else one
        index.append(known.setdefault(full, len(known)))
    return tuple(known), np.array(index, np.int64)


def aligned(a: Calls, b: Calls) -> Aligned:
    """Lay A's call tree over B's: nodes of one path, of name and module, are one."""
    both = summed([[a], [b]])
    return Aligned(both, both.counts[0], both.counts[1])


@dataclass(frozen=True, slots=True)
class Passed:
    """Samples that passed from callers to callees on a side: ``edges`` (E, 2), ``samples`` (E)."""

    edges: Ints
    samples: Floats

    def callers(self, function: int) -> dict[int, float]:
        """The callers of a function, and the share of its samples that came from each."""
        here = (self.edges[:, 1] == function) & (self.samples > 0)
        total = float(self.samples[here].sum())
        if not total:
            return {}
        pairs = zip(self.edges[here, 0].tolist(), self.samples[here].tolist(), strict=True)
        return {caller: samples / total for caller, samples in pairs}


FEWEST_BOOTS = 3
"""With fewer boots on a side nothing is claimed; with as many builds, builds are observations."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Both sides' shares of the same F functions, own and inclusive.

    ``within`` are variances of the mean shares from the sections (CPUs) alone, own and inclusive,
    of both sides; empty where boots are enough. ``names`` maps a function to its name on side B
    where that differs; ``edges`` (E, 2) are pairs of caller (F: none) and callee, ``weights`` (E)
    the samples that passed.
    """

    functions: tuple[Function, ...]
    own: tuple[Seen, Seen]
    inclusive: tuple[Seen, Seen]
    within: tuple[tuple[Floats, Floats], ...]
    names: dict[int, int]
    edges: Ints
    weights: Floats


def is_enough(a: Side, b: Side) -> bool:
    """Whether both sides have boots enough for claims."""
    return min(len(a.boots), len(b.boots)) >= FEWEST_BOOTS


def pair(a: Side, b: Side, found: Basis) -> Pair:
    """Count the functions of two sides, and give functions that got another name one."""
    boots = [*a.boots, *b.boots]
    enough = is_enough(a, b)
    counts = counted(boots, first=len(a.boots), by_section=not enough)
    is_a = counts.boot < len(a.boots)
    names = _renames(counts, is_a)
    index = np.arange(len(counts.functions) + 1)
    for old, new in names.items():
        index[new] = old
    own, inclusive = counts.own, counts.inclusive
    for values in (own, inclusive):
        _merge(values, names)
    within = [
        (_jackknife(values, counts, is_a), _jackknife(values, counts, ~is_a))
        for values in (own, inclusive)
        if not enough
    ]
    weights = counts.passed.sum(axis=0)
    return Pair(
        counts.functions,
        _both(own, counts, a, b, found),
        _both(inclusive, counts, a, b, found),
        tuple(within),
        names,
        index[counts.edges],
        weights,
    )


def _both(values: Floats, counts: Counted, a: Side, b: Side, found: Basis) -> tuple[Seen, Seen]:
    shares = _shares(values, counts)
    first, second = shares[: len(a.boots)], shares[len(a.boots) :]
    seen = _seen(first, a, found.a), _seen(second, b, found.b)
    if not are_builds_enough(a, b):
        return seen
    return _by_build(seen[0], a), _by_build(seen[1], b)


def are_builds_enough(a: Side, b: Side) -> bool:
    """Whether builds are the observations: boots of one build do not show how builds scatter."""
    return min(len(set(a.builds)), len(set(b.builds))) >= FEWEST_BOOTS


def _by_build(seen: Seen, side: Side) -> Seen:
    """Each build as one observation: the mean of its boots."""
    names = np.array(side.builds)
    chosen = [names == name for name in sorted(set(side.builds))]
    cost = np.array([seen.rates.cost[boots].mean() for boots in chosen])
    shares = np.stack([seen.shares[boots].mean(axis=0) for boots in chosen])
    rates = Rates(cost, seen.rates.common, seen.rates.freedom)
    return Seen(shares, rates, seen.floor * len(chosen) / len(names))


def _renames(counts: Counted, is_a: Bools) -> dict[int, int]:
    shares = [
        counts.inclusive[rows].sum(axis=0) / counts.samples[rows].sum() for rows in (is_a, ~is_a)
    ]
    passed = [Passed(counts.edges, side) for side in counts.passed]
    worth = (shares[0] + shares[1]) / 2 >= TESTED / 2
    return renamed(counts.functions, (shares[0], shares[1]), (passed[0], passed[1]), worth)


def _merge(values: Floats, names: dict[int, int]) -> None:
    for old, new in names.items():
        values[:, old] += values[:, new]
        values[:, new] = 0


def _shares(values: Floats, counts: Counted) -> Floats:
    """Shares in each boot (n, F); ``values`` become them where a row is a boot, as both may be
    hundreds of megabytes.
    """
    starts = np.searchsorted(counts.boot, np.arange(int(counts.boot[-1]) + 1))
    is_boot = len(starts) == len(counts.boot)
    shares: Floats = values if is_boot else np.add.reduceat(values, starts)
    shares /= np.add.reduceat(counts.samples, starts)[:, None]
    return shares


def _seen(shares: Floats, side: Side, rates: Rates) -> Seen:
    samples = np.array([boot.calls.samples for boot in side.boots])
    floor = float((1 / (4 * samples)).mean())
    return Seen(shares, rates, floor)


def _jackknife(values: Floats, counts: Counted, chosen: Bools) -> Floats:
    """Variances of the mean share of a side from its sections, each left out in turn (F); at
    least what counting gives.
    """
    boots = np.unique(counts.boot[chosen])
    total = np.zeros(values.shape[1])
    for boot in boots:
        rows = counts.boot == boot
        total += _jackknife_of_boot(values[rows], counts.samples[rows])
    mean: Floats = total / len(boots) ** 2
    return mean


def _jackknife_of_boot(values: Floats, samples: Floats) -> Floats:
    everything, count = values.sum(axis=0), len(values)
    share = everything / samples.sum()
    counting: Floats = share * (1 - share) / samples.sum()
    others = samples.sum() - samples
    if count < 2 or not others.all():
        return counting
    without = (everything - values) / others[:, None]
    spread = (count - 1) / count * ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    larger: Floats = np.maximum(spread, counting)
    return larger


def scatter_in(
    history: Sequence[Side], functions: Sequence[Function]
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]] | None:
    """How ``functions`` scattered between boots in earlier profiles: own and inclusive.

    Each is variances of arcsin √share and their degrees of freedom (F). None without a side of
    two boots.
    """
    sides = [side for side in history if len(side.boots) > 1 and not _is_cut(side)]
    if not sides:
        return None
    index = {function: at for at, function in enumerate(functions)}
    squares, freedom = np.zeros((2, len(index))), np.zeros((2, len(index)))
    for side in sides:
        counts = counted(side.boots, first=len(side.boots), by_section=False)
        known = [at for at, one in enumerate(counts.functions) if one in index]
        here = [index[counts.functions[at]] for at in known]
        for kind, values in enumerate((counts.own, counts.inclusive)):
            shares = _shares(values[:, known], counts)
            variance, degrees = own_scatter([_seen(shares, side, Rates(np.ones(len(shares))))])
            squares[kind, here] += variance * degrees
            freedom[kind, here] += degrees
    variance = np.where(freedom > 0, squares / np.maximum(freedom, 1), 0.0)
    return (variance[0], freedom[0]), (variance[1], freedom[1])


def _is_cut(side: Side) -> bool:
    return any(boot.truncated for boot in side.boots)


def renamed(
    functions: tuple[Function, ...],
    shares: tuple[Floats, Floats],
    passed: tuple[Passed, Passed],
    worth: Bools,
) -> dict[int, int]:
    """Pairs of a vanished and an appeared function that are one under two names.

    ``shares`` are inclusive shares on both sides (F); pairs are of ``worth`` functions (F). They
    have the same name in another module, or the same callers; and a similar cost.
    """
    gone = np.flatnonzero(worth & (shares[0] > 0) & (shares[1] == 0))
    new = np.flatnonzero(worth & (shares[0] == 0) & (shares[1] > 0))
    above = {int(one): passed[0].callers(int(one)) for one in gone}
    above |= {int(one): passed[1].callers(int(one)) for one in new}
    found: list[tuple[float, int, int]] = []
    for old in gone.tolist():
        for other in new.tolist():
            ratio = max(shares[0][old], shares[1][other]) / min(shares[0][old], shares[1][other])
            overlap = _overlap(above[old], above[other], {int(one) for one in gone}, set(new))
            if functions[old].name == functions[other].name:
                found.append((2.0, old, other))
            elif ratio <= SIMILAR and overlap >= SAME_CALLERS:
                found.append((overlap / ratio, old, other))
    pairs: dict[int, int] = {}
    for _, old, other in sorted(found, key=lambda one: -one[0]):
        if old not in pairs and other not in pairs.values():
            pairs[old] = other
    return pairs


def _overlap(
    one: dict[int, float], other: dict[int, float], gone: set[int], new: set[int]
) -> float:
    """The overlap of two functions' callers, of which those that got another name are one."""
    plain = sum(min(part, other.get(caller, 0.0)) for caller, part in one.items())
    lost = sum(part for caller, part in one.items() if caller in gone)
    won = sum(part for caller, part in other.items() if caller in new)
    return plain + min(lost, won)
