"""Two ranges of revisions compared by their levels: release against release.

A range is written where a side names its revision: ``tree:FROM..TO``, both included, or
``tree:NAME±K`` (also ``NAME+-K``), the revision with the K measured ones before and after it. Both
ends are revisions, releases or branch points. Hardware, mode and metric follow as in any side.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from webapp.analysis.queries.named import revisions_of
from webapp.analysis.queries.sides import Side, SideError, free_parts
from webapp.results.models import Point, Revision, Series
from webapp.stats.better import is_gain
from webapp.stats.defaults import MARGIN_PCT
from webapp.stats.ranges import FEWEST, RangeChange, compare_ranges, verdicts

WRITTEN = "tree:FROM..TO or tree:NAME±K, for example freebsd-head:11.0..r309257"
AROUND = re.compile(r"(?P<name>.+)(?:±|\+-)(?P<count>.*)", re.DOTALL)
MOST_AROUND = 1000
SIDES = 2
Key = tuple[str, str, str]  # hardware, mode, metric


@dataclass(frozen=True, slots=True)
class RevisionRange:
    """The revisions of a tree from ``first`` to ``last``, both included, as ``text`` names them."""

    text: str
    side: Side
    first: Revision
    last: Revision


@dataclass(frozen=True, slots=True)
class RangeRow:
    """One series of ``b`` against the same of ``a``; ``change`` is None where a range has too few
    of the measured revisions, ``counts`` of either side.
    """

    series: Series
    change: RangeChange | None
    counts: tuple[int, int]
    verdict: str

    @property
    def reason(self) -> str:
        """Why it cannot be told, and the remedy; empty where it is compared."""
        if self.change is not None:
            return ""
        a, b = self.counts
        return f"{a} and {b} measured revisions; {FEWEST} are needed on each side: widen the range"


@dataclass(frozen=True, slots=True)
class RangeTable:
    """Two ranges and their rows, gated together; ``unmatched`` series were measured in one only."""

    a: RevisionRange
    b: RevisionRange
    rows: Sequence[RangeRow]
    unmatched: int

    @property
    def counts(self) -> dict[str, int]:
        """How many rows came out how."""
        told = [row.verdict for row in self.rows]
        return {one: told.count(one) for one in ("worse", "better", "equivalent", "cannot tell")}


def is_range(text: str) -> bool:
    """Whether a side is written as a range of revisions."""
    kernel = text.partition(":")[2].split(":")[0]
    return ".." in kernel or AROUND.fullmatch(kernel) is not None


def compare_written_ranges(texts: Sequence[str]) -> RangeTable:
    """Compare the second range with the first, a row for each series that both have.

    Raises:
        SideError: other than two ranges, a name that is not known, an end before its beginning,
            ranges that overlap, or one in which nothing was measured.
    """
    if len(texts) != SIDES or not all(is_range(text) for text in texts):
        raise SideError(f"give two ranges, a and b, each written {WRITTEN}")
    a, b = (_range(text) for text in texts)
    free_parts([a.side, b.side])
    _refuse_overlap(a, b)
    values = [_values(one) for one in (a, b)]
    matched = sorted(values[0].keys() & values[1].keys())
    pairs = [(values[0][key][1], values[1][key][1]) for key in matched]
    named = Series.objects.named().in_bulk([values[1][key][0] for key in matched])
    series = [named[values[1][key][0]] for key in matched]
    changes = compare_ranges(pairs)
    gains = [
        one is not None and is_gain(one.pct, its.better)
        for one, its in zip(changes, series, strict=True)
    ]
    told = verdicts(changes, gains, MARGIN_PCT)
    rows = [
        RangeRow(its, change, (len(pair[0]), len(pair[1])), verdict)
        for its, change, pair, verdict in zip(series, changes, pairs, told, strict=True)
    ]
    return RangeTable(a, b, rows, len(values[0].keys() ^ values[1].keys()))


def _range(text: str) -> RevisionRange:
    tree, _, rest = text.partition(":")
    kernel, *others = rest.split(":")
    around = AROUND.fullmatch(kernel)
    names = [around["name"]] if around else kernel.split("..")
    if not all(names) or len(names) > SIDES:
        raise SideError(f"{text!r} is not a range: write {WRITTEN}")
    sides = [Side.parse(":".join([tree, name, *others])) for name in names]
    if sides[0].variant or sides[0].session or sides[0].options or sides[-1].variant:
        raise SideError(
            f"{text!r}: a range takes plain kernels of all sessions; name hardware, mode and "
            "metric behind it, or nothing"
        )
    found = revisions_of(sides)
    if around:
        first, last = _around(text, found[0], around["count"])
    else:
        first, last = found
    if first.position > last.position:
        raise SideError(
            f"{text!r}: {first} comes after {last}; write {tree}:{names[-1]}..{names[0]}"
        )
    return RevisionRange(text, replace(sides[0], revision=kernel), first, last)


def _around(text: str, at: Revision, written: str) -> tuple[Revision, Revision]:
    """The revisions that end a range of so many measured ones to either side."""
    if not written.isdecimal() or not 1 <= int(written) <= MOST_AROUND:
        raise SideError(f"{text!r}: give 1 to {MOST_AROUND} revisions behind ±")
    count = int(written)
    measured = (
        Revision.objects.filter(tree=at.tree_id, points__isnull=False)
        .distinct()
        .only("name", "position", "tree_id")
    )
    before = measured.filter(position__lt=at.position).order_by("-position")[:count]
    after = measured.filter(position__gt=at.position).order_by("position")[:count]
    return [at, *before][-1], [at, *after][-1]


def _refuse_overlap(a: RevisionRange, b: RevisionRange) -> None:
    first, last = sorted([a, b], key=lambda one: one.first.position)
    same = a.first.tree_id == b.first.tree_id and a.side.hardware == b.side.hardware
    if same and a.side.mode == b.side.mode and first.last.position >= last.first.position:
        raise SideError(
            f"{a.text} and {b.text} overlap from {last.first} to {first.last}: end the one before "
            "the other begins"
        )


def _values(one: RevisionRange) -> dict[Key, tuple[int, list[float]]]:
    """By what the sides leave open, the series (id) and its mean at each revision, in order."""
    side = one.side
    named = {
        "series__hardware__name": side.hardware,
        "series__mode__name": side.mode,
        "series__metric__name": side.metric,
    }
    rows = (
        Point.objects.that_agree()
        .plain()
        .filter(
            series__tree=one.first.tree_id,
            position__gte=one.first.position,
            position__lte=one.last.position,
            **{field: name for field, name in named.items() if name},
        )
        .order_by("series", "position")
        .values_list("series", *named, "mean")
    )
    found: dict[Key, tuple[int, list[float]]] = {}
    means: dict[int, list[float]] = defaultdict(list)
    for series, hardware, mode, metric, mean in rows:
        key = ("" if side.hardware else hardware, "" if side.mode else mode, metric)
        found[key] = series, means[series]
        means[series].append(mean)
    if not found:
        raise SideError(
            f"nothing was measured in {one.text}, {one.first} to {one.last}: widen the range, for "
            f"example {side.tree}:{one.first}±10"
        )
    return found
